"""Options: each named, typed and checked in one place."""

import inspect
from dataclasses import FrozenInstanceError, fields
from fractions import Fraction
from typing import Any

import pytest

from forestcoll.errors import InvalidParameterError, UnknownMethodError, UnsupportedError
from forestcoll.problem.options import MOST_TREES, Options, check_k


def test_options_are_frozen_and_each_is_described() -> None:
    """A keyword of the constructor, and a line of its docstring."""
    with pytest.raises(FrozenInstanceError):
        Options().k = 2  # type: ignore[misc]
    described = inspect.getdoc(Options) or ""
    for field in fields(Options):
        assert f"\n{field.name} : " in described, field.name


def test_keywords_override_the_options_object() -> None:
    """K = 2 of both; the root is that of the object."""
    given = Options(collective="broadcast", root=1, k=5)
    assert Options.of(given, {"k": 2}) == Options(collective="broadcast", root=1, k=2)
    assert Options.of(None, {"k": 2}) == Options(k=2)
    assert Options.of(given, {}) == given


def test_the_first_unknown_option_by_name_is_reported() -> None:
    unknown = {"zeta": 1, "beta": 1, "omega": 1, "k": 1, "alpha": 1}
    message = r"^there is no option 'alpha'; options are collective, root, weights, k, "
    for options in (None, Options()):
        with pytest.raises(TypeError, match=message):
            Options.of(options, unknown)


@pytest.mark.parametrize(
    "number", [0, -1, True, 1.0, "2", MOST_TREES + 1, pytest.param(10**5000, id="huge")]
)
def test_trees_and_hops_are_whole_numbers_from_one(number: Any) -> None:
    """Of k and of the greatest depth alike; 1 is the least of both."""
    for option, name in (("k", "k"), ("max_depth", "the greatest depth")):
        message = rf"^{name} is .* a whole number from 1 to {MOST_TREES}$"
        with pytest.raises(InvalidParameterError, match=message):
            Options(**{option: number})
        least: Any = Options(**{option: 1})
        assert getattr(least, option) == 1
    with pytest.raises(InvalidParameterError, match=r"^the most trees is 0;"):
        check_k(0, "the most trees")


@pytest.mark.parametrize(
    ("asked", "error", "message"),
    [
        ({"method": "magic"}, UnknownMethodError, "no method 'magic'; known: forestcoll, paper"),
        ({"threads": 0}, InvalidParameterError, "threads is 0; it must be from 1"),
        (
            {"lp_time_limit_s": -1.0},
            InvalidParameterError,
            "the allreduce program is -1.0; it must be",
        ),
        (
            {"method": "paper", "sparse_exchange": True},
            UnsupportedError,
            "for few links take the method forestcoll",
        ),
        (
            {"max_depth": 2, "multicast": True},
            UnsupportedError,
            "leave out max_depth or multicast",
        ),
        (
            {"factored": True, "multicast": True},
            UnsupportedError,
            "multicast trees are written out; leave factored or multicast away",
        ),
        ({"size": "4 boxes"}, InvalidParameterError, "the size has '4 boxes'"),
        ({"alpha_us": 3}, InvalidParameterError, "alpha is for a size"),
        ({"time_limit_s": 3.0}, InvalidParameterError, "the time limit is for a size"),
        ({"size": 1, "k": 2}, UnsupportedError, "leave out k, or the size"),
    ],
)
def test_bad_requests(asked: dict[str, Any], error: type[Exception], message: str) -> None:
    """What is no value of an option, and two that exclude each other; one of them alone is taken.

    Whether there is such a collective, root or weight depends on the network: a request checks it.
    """
    with pytest.raises(error, match=message):
        Options(**asked)
    if len(asked) > 1:
        for name, value in asked.items():
            assert getattr(Options(**{name: value}), name) == value


def test_sizes_and_alpha_are_read() -> None:
    """4MB is 4 x 2^20 bytes; alpha is 10 us if not given."""
    asked = Options(size="4MB", alpha_us="2500ns")
    assert (asked.size_bytes, asked.alpha) == (2**22, Fraction(5, 2))
    assert (Options().size_bytes, Options(size=3).alpha) == (None, 10)


def test_a_time_limit_is_not_negative() -> None:
    with pytest.raises(InvalidParameterError, match=r"^the time limit is -1; it must be from 0"):
        Options(size=1, time_limit_s=-1)
