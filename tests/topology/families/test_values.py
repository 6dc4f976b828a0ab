"""What parameters may be: read from text or values, shown so that they read back."""

from fractions import Fraction

import pytest

from forestcoll.topology.families.values import (
    Amount,
    Choice,
    Count,
    Either,
    Flag,
    Flags,
    Kind,
    Latency,
    Offsets,
    Sizes,
)

COUNT = Count("boxes", minimum=2, maximum=9)
SIZES = Sizes("dimensions", maximum=30)
OFFSETS = Offsets("jumps", maximum=7)
AMOUNT = Amount("GB/s")
LATENCY = Latency("microseconds")
FLAG = Flag("wrap")
FLAGS = Flags("wrap", maximum=3)
CHOICE = Choice("switches", (1, 2, "none"))
EITHER = Either("nearest", OFFSETS)


@pytest.mark.parametrize(
    ("kind", "written", "value", "shown"),
    [
        (COUNT, "2", 2, "2"),
        (COUNT, 9, 9, "9"),
        (SIZES, "5x6", (5, 6), "5x6"),
        (SIZES, 4, (4,), "4"),
        (SIZES, [2, 3, 5], (2, 3, 5), "2x3x5"),
        (OFFSETS, "7+1", (7, 1), "7+1"),
        (OFFSETS, 3, (3,), "3"),
        (AMOUNT, "25/2", Fraction(25, 2), "12.5"),
        (AMOUNT, Fraction(1, 3), Fraction(1, 3), "1/3"),
        (AMOUNT, 12.5, Fraction(25, 2), "12.5"),
        (LATENCY, "0.7", Fraction(7, 10), "0.7"),
        (LATENCY, 0, Fraction(0), "0"),
        (FLAG, "True", True, "true"),
        (FLAG, False, False, "false"),
        (FLAGS, "True", True, "true"),
        (FLAGS, "true,false", (True, False), "true,false"),
        (FLAGS, "(false, true)", (False, True), "false,true"),
        (FLAGS, [True, "false", True], (True, False, True), "true,false,true"),
        (CHOICE, "2", 2, "2"),
        (CHOICE, "none", "none", "none"),
        (EITHER, "nearest", "nearest", "nearest"),
        (EITHER, "7+1", (7, 1), "7+1"),
    ],
)
def test_text_and_values_read_alike(kind: Kind, written: object, value: object, shown: str) -> None:
    """The value is of its own type, whatever it was read from."""
    read = kind.read(written)
    assert (read, type(read)) == (value, type(value))
    assert kind.show(written) == shown
    assert kind.read(shown) == value


@pytest.mark.parametrize(
    ("kind", "refused"),
    [
        (COUNT, ["1", 10, "2.0", "+2", "", True, None, Fraction(2), "9" * 10]),
        (SIZES, ["", "5x7", "0x4", "4x", "4 x 4", [], [True], 2.0]),
        (OFFSETS, ["", "0", "8", "1++2", "-1", (), [1.0]]),
        (AMOUNT, ["0", -1, 1 / 3, "fast", True, None]),
        (LATENCY, [-1, "-0.1", 1 / 3, "fast", True, None]),
        (FLAG, ["yes", "1", 1, 0, "", None]),
        (FLAGS, ["yes", "true,", "true,1", [], (1, 0), "true,true,true,true", None]),
        (CHOICE, ["3", 3, True, "", None]),
        (EITHER, ["farthest", "", "8", None]),
    ],
)
def test_everything_else_is_refused(kind: Kind, refused: list[object]) -> None:
    """30 nodes at most, jumps of 7, boxes from 2 to 9; true is not a number."""
    for value in refused:
        with pytest.raises(ValueError, match=r"^$"):
            kind.read(value)


def test_allowed_values_are_described_with_their_bounds() -> None:
    """To complete "it must be"."""
    assert COUNT.allowed == "a whole number from 2 to 9"
    assert Count("boxes").allowed == "a whole number from 1 to 100000"
    assert SIZES.allowed.endswith("such as 4x4, of at most 30 nodes")
    assert OFFSETS.allowed == "whole numbers from 1 to 7 joined by +, such as 3+4"
    assert CHOICE.allowed == "1 or 2 or none"
    assert EITHER.allowed == "whole numbers from 1 to 7 joined by +, such as 3+4, or nearest"
    assert FLAG.allowed == "true or false"
    assert FLAGS.allowed.startswith("true or false, or one of them for each dimension")
    assert AMOUNT.allowed == "a positive exact number, such as 25, 12.5 or 25/2"
