"""Intervals on lines: how often each place is covered, against counting place by place."""

import random

import numpy as np
import pytest

from forestcoll.schedule.verification.steps import pieces as module
from forestcoll.schedule.verification.steps.pieces import Pieces, extreme

SPAN = 12
CELLS = 3


def drawn(seed: int) -> list[tuple[int, int, int]]:
    """Some intervals (cell, first, end), none of them empty."""
    chance = random.Random(seed)
    rows = []
    for _ in range(chance.randint(1, 8)):
        first = chance.randrange(SPAN - 1)
        rows.append((chance.randrange(CELLS), first, chance.randint(first + 1, SPAN - 1)))
    return rows


def cut(rows: list[tuple[int, int, int]]) -> Pieces:
    cell, first, end = np.array(rows, dtype=np.int64).T
    return Pieces.of(cell, first, end, SPAN)


def at(pieces: Pieces, cell: int, place: int) -> int:
    """The one segment that holds a place."""
    low, high = pieces.met(np.array([cell]), np.array([place]), np.array([place + 1]))
    assert high - low == 1
    return int(low[0])


def test_two_intervals_by_hand() -> None:
    """0 to 4 and 2 to 6 of cell 1: once, twice, once; nothing before and behind."""
    pieces = cut([(1, 0, 4), (1, 2, 6)])
    assert pieces.start.tolist()[1:] == [12, 14, 16, 18]
    assert pieces.depth.tolist() == [0, 1, 2, 1, 0]
    assert (pieces.low.tolist(), pieces.high.tolist()) == ([1, 2], [3, 4])


@pytest.mark.parametrize("seed", range(20))
def test_every_place_is_covered_as_often_as_intervals_hold_it(seed: int) -> None:
    """And a range is covered if all its places are."""
    rows = drawn(seed)
    pieces = cut(rows)
    for cell in range(CELLS):
        over = [sum(c == cell and a <= p < b for c, a, b in rows) for p in range(SPAN - 1)]
        assert [int(pieces.depth[at(pieces, cell, p)]) for p in range(SPAN - 1)] == over
        for low in range(SPAN - 1):
            for high in range(low + 1, SPAN):
                met = pieces.met(np.array([cell]), np.array([low]), np.array([high]))
                assert bool(pieces.covered(*met)[0]) == all(over[low:high])


@pytest.mark.parametrize("at_once", [1, 2**22])
@pytest.mark.parametrize("kind", ["least", "most"])
@pytest.mark.parametrize("seed", range(6))
def test_value_ranges(seed: int, kind: str, at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The least or most of the intervals over a place, however many are looked at together."""
    monkeypatch.setattr(module, "_AT_ONCE", at_once)
    rows = drawn(seed)
    pieces = cut(rows)
    value = np.array([random.Random(seed + i).randrange(100) for i in range(len(rows))])
    held = pieces.spread(value, kind, -7)
    best = min if kind == "least" else max
    for cell in range(CELLS):
        for place in range(SPAN - 1):
            over = [
                int(v)
                for v, (c, a, b) in zip(value, rows, strict=True)
                if c == cell and a <= place < b
            ]
            assert held[at(pieces, cell, place)] == (best(over) if over else -7)


@pytest.mark.parametrize("kind", ["least", "most"])
def test_the_extreme_of_every_range_is_found_by_doubling(kind: str) -> None:
    """All ranges of 13 numbers, against the built-in."""
    chance = random.Random(1)
    held = np.array([chance.randrange(-50, 50) for _ in range(13)])
    ranges = [(low, high) for low in range(13) for high in range(low + 1, 14)]
    low, high = np.array(ranges).T
    best = min if kind == "least" else max
    found = extreme(held, low, high, kind)
    assert found.tolist() == [best(held[a:b].tolist()) for a, b in ranges]
