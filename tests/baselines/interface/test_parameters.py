"""Whatever is given as a parameter, a method runs or says in one of our errors what is wrong."""

import math
from collections.abc import Mapping
from fractions import Fraction

import pytest

from baselines import METHODS
from baselines.interface.parameters import as_taken, check_choice, complaint, exact_parameter
from baselines.libraries.ring import lay_rings
from forestcoll.errors import ForestCollError, InvalidParameterError
from forestcoll.problem.limits import Limits
from forestcoll.schedule import verify
from forestcoll.topology import load_topology

PARAMETERS = [(name, parameter) for name in METHODS for parameter in METHODS[name].parameters]

NEVER = [[], [2], (1,), {}, {"a": 1}, b"1", 1j, object(), math.nan, math.inf, 7 / 3]
"""Of no kind that a parameter of a baseline has, but for the last."""

FRACTIONAL = (("teccl", "gap"), ("teccl", "work"), ("taccl", "gap"), ("syccl", "work"))
"""Which may be floats."""

SOMETIMES = [
    *(None, True, False, -1, 0, 1, 2, Fraction(1, 2), "", "x", "2", "-1", "nan", "inf"),
    *("1/0", "1e400", "true", "gpu0", "ring", "a b", "\0", "tree", "at-once", "near-first"),
    *("fastest", "through", "nodes", "kept", "epochs", "cp-sat", "auto", "any", "highs"),
    *("maximum", "mwu", "paper", "inside-first", "next-box", "nearest", "rails"),
    *("bandwidth", "latency"),
]
"""What some parameter takes."""

NETWORKS = {
    **dict.fromkeys(
        ("nccl-nvls", "nccl-nvls-tree", "hierarchical", "fast-reading", "syccl"), "dgx_h100:boxes=2"
    ),
    **dict.fromkeys(("nccl-collnet-direct", "nccl-collnet-chain"), "dgx_h100:boxes=2,sharp=true"),
    "swing": "torus:dims=4x4",
    "sum-exchange": "torus:dims=4x4",
    "trivance": "torus:dims=3x3",
}
"""Where a method runs that does not on four GPUs all linked."""


def hints(wide: object, part: float = 0.5, table: Mapping[str, int] | None = None) -> None:
    """Take parameters of kinds that the baselines do not have."""


@pytest.mark.parametrize(("method", "parameter"), PARAMETERS)
def test_invalid_values_are_refused_with_the_parameter_name(method: str, parameter: str) -> None:
    """The method, the parameter, the value and what is allowed."""
    ring = load_topology("ring:nodes=4")
    for value in NEVER[:-1] if (method, parameter) in FRACTIONAL else NEVER:
        with pytest.raises(
            InvalidParameterError, match=f"^{method}: {parameter} is .*; it must be "
        ):
            METHODS[method].run(ring, parameters={parameter: value})


@pytest.mark.parametrize(("method", "parameter"), PARAMETERS)
def test_any_value_runs_or_is_refused(method: str, parameter: str) -> None:
    """No other exception, and no schedule that is wrong."""
    network = load_topology(NETWORKS.get(method, "complete:nodes=4"))
    outcomes = {"ran": 0, "refused": 0}
    for value in SOMETIMES:
        try:
            made = METHODS[method].run(network, parameters={parameter: value})
        except ForestCollError:
            outcomes["refused"] += 1
        else:
            verify(made)
            outcomes["ran"] += 1
    assert outcomes["refused"] > 3
    assert outcomes["ran"] > 0 or method == "blueconnect"  # there are no boxes


@pytest.mark.parametrize(
    ("method", "parameter", "value", "allowed"),
    [
        ("ring", "rings", "x", "a whole number"),
        ("ring", "rings", True, "a whole number"),
        ("ring", "both_ways", 1, "true or false"),
        ("ring", "both_ways", None, "true or false"),
        ("ring", "both_ways", "yes", "true or false"),
        ("nccl-tree", "rails", "x", "a whole number"),
        ("nccl-tree", "double", "no", "true or false"),
        ("nccl-tree", "pattern", 3, "text"),
        ("multitree", "unit", "x", "a number"),
        ("multitree", "unit", False, "a number"),
        ("multitree", "unit", math.nan, "a finite number"),
        ("blink", "epsilon", 1 / 30, "a number: a whole one, or text as '12.5' or '25/2'"),
        ("blink", "root", True, "a whole number or text"),
        ("blink", "epsilon", None, "a number"),
        ("tacos", "seed", None, "a whole number"),
        ("tacos", "chunks", "2", "a whole number"),
        ("sccl", "rounds", "x", "a whole number"),
        ("sccl", "chunks", False, "a whole number"),
        ("sccl", "steps", "", "a whole number"),
    ],
)
def test_values_of_another_type_are_refused_with_the_allowed_ones(
    method: str, parameter: str, value: object, allowed: str
) -> None:
    with pytest.raises(InvalidParameterError) as refused:
        METHODS[method].run(load_topology("torus:dims=3x3"), parameters={parameter: value})
    found = f"{method}: {parameter} is {value!r}; it must be {allowed}"
    assert str(refused.value).startswith(found)


def test_values_of_the_right_kind_pass() -> None:
    """What is optional may be None; exact numbers may be text; anything passes without a hint."""
    for parameter, value in (("unit", None), ("unit", "25/2"), ("unit", Fraction(1, 3))):
        assert complaint(METHODS["multitree"].generate, parameter, value) == ""
    for parameter, value in (("wide", []), ("part", 1), ("part", 0.1), ("table", {}), ("no", {})):
        assert complaint(hints, parameter, value) == ""


def test_other_numbers_are_finite_and_no_truth_values() -> None:
    for value in (math.nan, -math.inf):
        assert complaint(hints, "part", value) == f"is {value}; it must be a finite number"
    assert complaint(hints, "part", True) == "is True; it must be a number"


def test_choices_and_exact_numbers() -> None:
    assert exact_parameter("unit", "0.1") == Fraction(1, 10)
    with pytest.raises(InvalidParameterError, match=r"^unit is the float 0\.3\d+, which is not"):
        exact_parameter("unit", 1 / 3)
    check_choice("order", "b", ("a", "b"))
    with pytest.raises(InvalidParameterError, match=r"^order is 'c'; it must be one of a, b$"):
        check_choice("order", "c", ("a", "b"))


@pytest.mark.parametrize("rings", [0, -1])
def test_rings_are_one_or_more(rings: int) -> None:
    with pytest.raises(InvalidParameterError, match=f"^rings is {rings}; it takes at least one"):
        lay_rings(load_topology("ring:nodes=4"), rings)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"seconds": -1}, "seconds is -1; it must be from 0 to 10000000"),
        ({"seconds": math.nan}, "seconds is nan; it must be from 0 to 10000000"),
        ({"seconds": math.inf}, "seconds is inf; it must be from 0 to 10000000"),
        ({"seconds": "10"}, "seconds is '10'; it must be a number"),
        ({"threads": 0}, "threads is 0; it must be from 1 to 1024"),
        ({"threads": 1.5}, "threads is 1.5; it must be a whole number"),
        ({"threads": True}, "threads is True; it must be a whole number"),
        ({"threads": None}, "threads is None; it must be a whole number"),
    ],
)
def test_limits_are_checked(given: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidParameterError, match=f"^{message}$"):
        Limits(**given)  # type: ignore[arg-type]


def test_no_time_and_all_time_are_limits() -> None:
    """With no seconds left a search returns what it has; None is no limit."""
    assert Limits(seconds=0).seconds == 0
    assert Limits().seconds is None


def test_float_parameters_convert_decimal_text() -> None:
    """As experiment files and command lines have it; text, exact numbers and the rest stay."""

    def search(gap: float = 0.0, unit: int | Fraction | str = 1, name: str = "") -> None: ...

    assert as_taken(search, "gap", "0.3") == 0.3
    assert not complaint(search, "gap", "0.3")
    for parameter, value in (("gap", "third"), ("gap", 1), ("unit", "0.3"), ("name", "0.3")):
        assert as_taken(search, parameter, value) is value
    assert complaint(search, "gap", "1e400")
    assert complaint(search, "gap", "third")
