"""Exact numbers, from text and back."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology import exact, exact_text


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
    ["", "fast", "1/0", "1:30", "nan", "inf", "1e999999999", "9" * 5000, "1/2/3", True, None, [1]],
)
def test_exact_refuses_what_is_no_number(value):
    """Among them numbers so long that computing them would never end."""
    with pytest.raises(InvalidTopologyError, match=r"bandwidth is .* which is not a number"):
        exact(value, "bandwidth")


@settings(derandomize=True, deadline=None)
@given(st.fractions(-(10**50), 10**50, max_denominator=10**6))
def test_exact_text_is_the_inverse_of_exact(value):
    assert exact(exact_text(value), "x") == value


def test_a_float_is_refused_with_what_to_write():
    """0.1 is not a tenth; numpy's floats are floats, its integers are not."""
    for value in (0.1, np.float64(0.1)):
        with pytest.raises(InvalidTopologyError, match=r'latency is the float .*write "0\.1"'):
            exact(value, "latency")
    assert exact(np.int32(7), "latency") == 7


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


def test_a_decimal_is_written_where_it_ends():
    """Six digits at most: 1/64 has six, 1/128 has seven."""
    assert exact_text(Fraction(1, 64)) == "0.015625"
    assert exact_text(Fraction(1, 128)) == "1/128"
    assert exact_text(Fraction(-5, 4)) == "-1.25"
    assert exact_text(Fraction(-3)) == "-3"
