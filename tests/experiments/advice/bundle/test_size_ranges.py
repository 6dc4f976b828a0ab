"""Ranges of bytes: no gap, no overlap."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.advice.bundle.size_ranges import Part, adjacent, faults_of

A, B = Path("a.npz"), Path("b.npz")


@given(st.lists(st.integers(1, 2**40), min_size=2, max_size=20, unique=True), st.randoms())
def test_every_size_is_in_one_range(ends: list[int], chance: object) -> None:
    """Whatever gaps tuning left: each range goes on until the next begins."""
    ends = sorted(ends)[: len(ends) // 2 * 2]
    pairs = list(zip(ends[::2], ends[1::2], strict=True))
    parts = [
        Part(low, high, name, A, "m") for (low, high), name in zip(pairs, "ab" * 9, strict=False)
    ]
    found = [(part.first_bytes, part.last_bytes) for part in adjacent(parts)]
    assert list(faults_of(found, ends[0], ends[-1])) == []
    assert [first for first, _ in found] == [low for low, _ in pairs]
    for size in ends:
        assert sum(first <= size <= last for first, last in found) == 1


def test_neighbours_of_one_schedule_are_one_range() -> None:
    """With the greater loss; not if one of them is there for another reason, or is open."""
    parts = [Part(1, 2, "a", A, "m", 0.1), Part(4, 5, "a", A, "m", 0.2), Part(7, 8, "b", B, "m")]
    assert adjacent(parts) == [Part(1, 6, "a", A, "m", 0.2), Part(7, 8, "b", B, "m")]
    second = Part(4, 5, "a", A, "m", instead_of="b", why="large")
    assert len(adjacent([parts[0], second])) == 2
    assert len(adjacent([parts[0], Part(4, 5, "a", None, "m")])) == 2


@pytest.mark.parametrize(
    ("ranges", "message"),
    [
        ([(1, 4), (6, 9)], "no range has 5 to 5 bytes"),
        ([(1, 6), (6, 9)], "two ranges have 6 to 6 bytes"),
        ([(1, 9), (4, 6)], "two ranges have 4 to 9 bytes"),
        ([(1, 4), (5, 3)], "the range of 5 to 3 bytes ends before it begins"),
        ([(2, 9)], "the ranges do not begin at 1 and end at 9 bytes"),
        ([(1, 8)], "the ranges do not begin at 1 and end at 9 bytes"),
        ([], "the ranges do not begin at 1 and end at 9 bytes"),
    ],
)
def test_gaps_and_overlaps_are_reported(ranges: list[tuple[int, int]], message: str) -> None:
    assert any(fault.startswith(message) for fault in faults_of(ranges, 1, 9))
