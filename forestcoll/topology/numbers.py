"""Conversion of user input to exact numbers.

A bandwidth is an int, a Fraction, or text such as ``"12.5"`` or ``"25/2"``. A Python float stands
for the decimal that it prints as, if that is short, as 12.5 and 0.1 are. 0.1 + 0.2 prints as
0.30000000000000004. It is refused, because the intended number is unknown.
"""

from __future__ import annotations

import math
import re
import reprlib
from decimal import Decimal
from fractions import Fraction
from typing import TypeGuard

import numpy as np

from forestcoll.errors import InvalidTopologyError

__all__ = ["Exact", "exact", "exact_text", "in_short", "is_usual"]

Exact = int | Fraction | str
"""Input for an exact number: an int, a Fraction, or text such as "12.5" or "25/2"."""

# Bounded digits and exponents: "1e999999999" must be refused, not computed.
_NUMBER = re.compile(
    r"[+-]?(\d{1,300}/\d{1,300}|(\d{1,300}(\.\d{0,300})?|\.\d{1,300})(e[+-]?\d{1,2})?)",
    re.IGNORECASE | re.ASCII,
)


# Decimals of at most fifteen digits are distinct floats, so a float identifies its decimal.
_MOST_DIGITS = 15
_MOST_PLACES = 6

_UNPRINTABLE = 10**1000

_LARGEST = 10**100  # GB/s or us: beyond any machine, and well within the range of floats


def in_short(value: object) -> str:
    """Write a value of any size for a message; Python refuses to print integers of 5,000 digits.

    Examples
    --------
    >>> in_short(12), in_short("12"), in_short(10**5000)
    ('12', "'12'", 'a whole number of more than 1000 digits')
    """
    if isinstance(value, int) and abs(value) >= _UNPRINTABLE:
        return "a whole number of more than 1000 digits"
    return reprlib.repr(value)


def exact(value: object, what: str) -> Fraction:
    """Convert a number to a Fraction; refuse inexact numbers and sizes that no machine has.

    Parameters
    ----------
    value : int, Fraction, str or float
        The number; text may be a decimal or a fraction "p/q". A float must print as a decimal of
        at most six digits after the point and fifteen in all, which is then the number.
    what : str
        What the number is, for the error message.

    Raises
    ------
    InvalidTopologyError
        If the value is a float of more digits, a bool, or text that is not a number; if it is not
        zero and its size is below 1e-100, or 1e100 and more.

    Examples
    --------
    >>> exact("12.5", "bandwidth"), exact(0.1, "bandwidth")
    (Fraction(25, 2), Fraction(1, 10))
    """
    number = _fraction(value, what)
    if -_LARGEST < number.numerator < _LARGEST and number.denominator < _LARGEST:
        return number  # the usual case; products of Fractions are slow
    if number and not 1 <= abs(number) * _LARGEST < _LARGEST**2:
        order = math.floor(math.log10(abs(number.numerator)) - math.log10(number.denominator))
        raise InvalidTopologyError(
            f"{what} is about 1e{order:+d}, which no machine has; it must be at least 1e-100 and "
            f"below 1e100 (check the unit)"
        )
    return number


def is_usual(value: object) -> TypeGuard[Fraction]:
    """Whether :func:`exact` certainly returns a value unchanged; a fast test.

    Examples
    --------
    >>> is_usual(Fraction(25, 2)), is_usual(12.5), is_usual(Fraction(10**100))
    (True, False, False)
    """
    return (
        type(value) is Fraction
        and -_LARGEST < value.numerator < _LARGEST
        and value.denominator < _LARGEST
    )


def _fraction(value: object, what: str) -> Fraction:
    if isinstance(value, Fraction):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return Fraction(value)
    if isinstance(value, np.integer):
        return Fraction(int(value))
    if isinstance(value, float | np.floating) and math.isfinite(value):
        return _from_float(float(value), what)
    if isinstance(value, str):
        digits = value.strip().replace("_", "")
        if _NUMBER.fullmatch(digits) and not re.search("/0+$", digits):
            return Fraction(digits)
    raise InvalidTopologyError(
        f"{what} is {reprlib.repr(value)}, which is not a number; "
        f'write an integer, "12.5" or "25/2"'
    )


def _from_float(value: float, what: str) -> Fraction:
    """Return the decimal that a float prints as, if that is short."""
    printed = Decimal(repr(value)).normalize()
    _, digits, exponent = printed.as_tuple()
    short = len(digits) <= _MOST_DIGITS and printed.adjusted() < _MOST_DIGITS
    if short and int(exponent) >= -_MOST_PLACES:
        return Fraction(printed)
    raise InvalidTopologyError(
        f"{what} is the float {value!r}, which is not exact; write the decimal that you mean in "
        f'quotes, such as "{value:.6g}", or a Fraction'
    )


def exact_text(value: Fraction) -> str:
    """Write a Fraction so that :func:`exact` reads it back: a decimal if it ends, else p/q.

    Examples
    --------
    >>> exact_text(Fraction(25, 2)), exact_text(Fraction(1, 3)), exact_text(Fraction(300))
    ('12.5', '1/3', '300')
    """
    for digits in range(7):
        scaled = value * 10**digits
        if scaled.denominator == 1:
            whole = f"{abs(scaled.numerator):0{digits + 1}d}"
            sign = "-" if value < 0 else ""
            return sign + (f"{whole[:-digits]}.{whole[-digits:]}" if digits else whole)
    return str(value)
