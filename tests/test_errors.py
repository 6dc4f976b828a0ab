"""Everything that can go wrong: one family, and a code for each on the command line."""

from collections.abc import Callable

import pytest

from forestcoll import errors
from forestcoll.errors import ForestCollError, TimeLimitError, did_you_mean

FAMILY = {name: getattr(errors, name) for name in errors.__all__ if name.endswith("Error")}


def test_all_are_caught_by_the_root() -> None:
    """And all are listed; those of topologies are one branch."""
    found = {
        name
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and issubclass(kind, Exception)
    }
    assert found == {*errors.__all__} - {"did_you_mean"}
    assert all(issubclass(kind, ForestCollError) for kind in FAMILY.values())
    branch = {n for n, kind in FAMILY.items() if issubclass(kind, errors.InvalidTopologyError)}
    assert branch == {"InvalidTopologyError", "DisconnectedError", "UnbalancedError"}


@pytest.mark.parametrize("name", FAMILY)
def test_codes_are_those_that_the_command_line_explains(name: str) -> None:
    """1 a check failed, 3 a limit or nothing possible, 2 whatever was put in wrong."""
    codes = {"VerificationError": 1, "InfeasibleError": 3, "SolverError": 3, "TimeLimitError": 3}
    codes |= {"ExecutionError": 3, "RuntimeLimitError": 3}
    assert FAMILY[name]("what, where, remedy").exit_code == codes.get(name, 2)


def test_time_limit_errors_hold_the_incumbent_bound_and_proof() -> None:
    """The best answer, a bound and its proof; none of them is needed."""
    error = TimeLimitError("out of time", incumbent="tree", bound=3, proof=("cut",))
    assert (str(error), error.incumbent, error.bound, error.proof) == (
        "out of time",
        "tree",
        3,
        ("cut",),
    )
    plain = TimeLimitError("out of time")
    assert (plain.incumbent, plain.bound, plain.proof) == (None, None, None)


@pytest.mark.parametrize(
    ("word", "form", "remedy"),
    [("rnig", str, "did you mean ring?"), ("tours", repr, "did you mean 'torus'?")],
)
def test_the_nearest_known_word_is_the_remedy(
    word: str, form: Callable[[str], str], remedy: str
) -> None:
    assert did_you_mean(word, ["ring", "torus"], "take ring", form) == remedy
    assert did_you_mean("xyz", ["ring", "torus"], "take ring", form) == "take ring"
