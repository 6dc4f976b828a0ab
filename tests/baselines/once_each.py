"""Tests of a whole product, of which most are left to ``make test-all``."""

from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any

import pytest

from tests.baselines.claims import sort_of

Row = tuple[str, str, str]
"""A method, a collective, a network."""


def once_each(rows: Sequence[Row]) -> set[Row]:
    """Choose rows so that each method has each sort of network and each of its collectives once.

    Networks of a sort take turns from method to method, and its collectives from sort to sort.
    """
    chosen: set[Row] = set()
    for number, method in enumerate(dict.fromkeys(row[0] for row in rows)):
        own = [row for row in rows if row[0] == method]
        for turn, sort in enumerate(dict.fromkeys(sort_of(row[2]) for row in own)):
            there = [row for row in own if sort_of(row[2]) == sort]
            names = list(dict.fromkeys(row[2] for row in there))
            there = [row for row in there if row[2] == names[number % len(names)]]
            chosen.add(there[turn % len(there)])
        for collective in dict.fromkeys(row[1] for row in own):
            first, *_ = (row for row in own if row[1] == collective)
            if not any(row[:2] == first[:2] for row in chosen):
                chosen.add(first)
    return chosen


def others_slow(rows: Sequence[Row]) -> list[Any]:
    """Return all rows as parameters of a test; those not chosen above are slow."""
    chosen = once_each(rows)
    return [row if row in chosen else pytest.param(*row, marks=pytest.mark.slow) for row in rows]


def every(step: int, values: Iterable[Any]) -> list[Any]:
    """Return all values as parameters of a test; all but every ``step``-th are slow."""
    return [
        value if place % step == 0 else pytest.param(value, marks=pytest.mark.slow)
        for place, value in enumerate(values)
    ]


def every_row(step: int, rows: Iterable[Row]) -> list[Any]:
    """As :func:`every`, of rows with several parameters."""
    return [
        row if place % step == 0 else pytest.param(*row, marks=pytest.mark.slow)
        for place, row in enumerate(rows)
    ]


def in_turn(*axes: Sequence[Any]) -> list[Any]:
    """Return the product of several values as parameters; every other one is slow.

    As on a chessboard: each value meets every second one of the other axis, or, if there are more
    axes, each one of theirs.
    """
    return [
        tuple(value for _, value in row)
        if sum(place for place, _ in row) % 2 == 0
        else pytest.param(*(value for _, value in row), marks=pytest.mark.slow)
        for row in product(*map(enumerate, axes))
    ]
