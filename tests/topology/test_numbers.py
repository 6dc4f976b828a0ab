"""Exact numbers, from text and back."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology import exact, exact_text
from forestcoll.topology.numbers import is_usual


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12.5", Fraction(25, 2)),
        ("25/2", Fraction(25, 2)),
        ("1e3", Fraction(1000)),
        (".5", Fraction(1, 2)),
        ("1_000", Fraction(1000)),
        (" 7 ", Fraction(7)),
        (7, Fraction(7)),
    ],
)
def test_exact_reads_decimals_and_fractions(text, value):
    assert exact(text, "bandwidth") == value


@pytest.mark.parametrize(
    "value",
    [
        *("", "fast", "1/0", "1:30", "nan", "inf", "1e999999999", "9" * 5000, "1/2/3"),
        *(True, None, [1], math.nan, math.inf, -math.inf),
    ],
)
def test_exact_refuses_non_numbers(value):
    """Among them numbers so long that computing them would never end."""
    with pytest.raises(InvalidTopologyError, match=r"bandwidth is .* which is not a number"):
        exact(value, "bandwidth")


@settings(derandomize=True, deadline=None)
@given(st.fractions(-(10**50), 10**50, max_denominator=10**6))
def test_exact_text_is_the_inverse_of_exact(value):
    assert exact(exact_text(value), "x") == value


def test_a_float_that_prints_as_a_short_decimal_is_that_decimal():
    """0.1 is a tenth, though the float is not; numpy's floats are floats, its integers are not."""
    for value in (0.1, np.float64(0.1), 1e-1):
        assert exact(value, "latency") == Fraction(1, 10)
    for value in (12.5, np.float32(12.5)):
        assert exact(value, "latency") == Fraction(25, 2)
    assert exact(-33.333333, "x") == Fraction(-33333333, 10**6)
    assert exact(np.int32(7), "latency") == 7


@settings(derandomize=True, deadline=None)
@given(st.integers(-(10**15) + 1, 10**15 - 1), st.integers(1, 6))
def test_every_decimal_of_fifteen_digits_has_a_float_of_its_own(digits, places):
    """So a float that prints as one is taken for the decimal that somebody wrote."""
    text = f"{digits / 10**places:.{places}f}"
    value = exact(float(text), "x")
    assert value == Fraction(text)
    assert float(value) == float(text)


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        (0.1 + 0.2, '"0.3"'),
        (1 / 3, '"0.333333"'),
        (np.float32(0.1), '"0.1"'),
        (1e-7, '"1e-07"'),
        (1e16, '"1e+16"'),
        (12345678901.123456, '"1.23457e+10"'),
    ],
)
def test_a_float_of_more_digits_is_refused_with_a_short_decimal(value, hint):
    """What was computed, not written: nobody knows which number it is to be."""
    with pytest.raises(
        InvalidTopologyError, match=r"latency is the float .*, which is not exact"
    ) as e:
        exact(value, "latency")
    assert f"in quotes, such as {hint}, or a Fraction" in str(e.value)


def test_numbers_of_no_machine_are_refused_by_their_order():
    """From 1e-100 to below 1e100, either sign, and zero."""
    for value in (0, Fraction(1, 10**100), 10**100 - 1, -(10**99)):
        assert exact(value, "x") == value
    for value, order in (
        (10**100, r"1e\+100"),
        (Fraction(-1, 10**101), "1e-101"),
        ("7" * 200, r"1e\+199"),
    ):
        with pytest.raises(InvalidTopologyError, match=rf"x is about {order}.*check the unit"):
            exact(value, "x")


def test_terminating_decimals_are_written_as_decimals():
    """Six digits at most: 1/64 has six, 1/128 has seven."""
    assert exact_text(Fraction(1, 64)) == "0.015625"
    assert exact_text(Fraction(1, 128)) == "1/128"
    assert exact_text(Fraction(-5, 4)) == "-1.25"
    assert exact_text(Fraction(-3)) == "-3"


def test_whole_floats_of_fifteen_digits_are_exact() -> None:
    assert exact(1e14, "x") == 10**14
    assert exact(123456789012345.0, "x") == 123456789012345


@pytest.mark.parametrize(
    ("value", "usual"),
    [
        (Fraction(3, 7), True),
        (Fraction(-3, 7), True),
        (Fraction(10**100 - 1), True),
        (Fraction(10**100), False),
        (Fraction(-(10**100)), False),
        (Fraction(1, 10**100), False),
        (3, False),
        (True, False),
        ("3", False),
    ],
)
def test_usual_numbers_need_no_closer_look(value: object, usual: bool) -> None:
    """Those below 1e100 in size, over less than 1e100; each is what it is turned into."""
    assert is_usual(value) is usual
    if usual:
        assert exact(value, "width") is value
