"""Interval arithmetic on many lines at once: coverage, depth and range queries.

Part of :func:`forestcoll.schedule.verify`. A *cell* is a line of its own, such as a chunk at a GPU.
The given intervals cut the lines into segments, and nothing changes within a segment. A query about
an interval is a query about the segments that it meets.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from forestcoll.schedule.exact_sums import Ints

__all__ = ["EARLIEST", "LATEST", "Pieces", "extreme"]

LATEST = np.iinfo(np.int64).max
"""A time after all others: the time of data that never arrives."""

EARLIEST = np.iinfo(np.int64).min
"""A time before all others."""

_AT_ONCE = 2**22  # pairs of interval and segment processed together

_Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Pieces:
    """Segments of all lines, one behind the other.

    Parameters
    ----------
    span : int
        Every line has positions 0 to span - 1; position p of cell c is at ``c * span + p``.
    start : int64 array of length S
        Where each segment begins, in order; it ends where the next one begins.
    depth : int64 array of length S
        How many intervals cover it.
    low, high : int64 arrays, one entry an interval
        Interval i is made up of segments ``low[i]`` to ``high[i]``, end excluded.
    """

    span: int
    start: npt.NDArray[np.int64]
    depth: npt.NDArray[np.int64]
    low: npt.NDArray[np.int64]
    high: npt.NDArray[np.int64]

    @classmethod
    def of(cls, cell: Ints, first: Ints, end: Ints, span: int) -> Pieces:
        """Cut the lines at the ends of these intervals, none of which is empty."""
        base = np.asarray(cell, dtype=np.int64) * span
        points, place = np.unique(np.concatenate([base + first, base + end]), return_inverse=True)
        low, high = np.split(place.reshape(-1) + 1, 2)  # a segment of nothing comes first
        start = np.concatenate([np.array([EARLIEST]), points])
        change = np.bincount(low, minlength=len(start)) - np.bincount(high, minlength=len(start))
        return cls(span, start, np.cumsum(change), low, high)

    def met(self, cell: Ints, first: Ints, end: Ints) -> tuple[Ints, Ints]:
        """Return the segments that intervals meet, as first and last + 1."""
        base = np.asarray(cell, dtype=np.int64) * self.span
        low = np.searchsorted(self.start, base + first, side="right") - 1
        return low, np.searchsorted(self.start, base + end, side="left")

    def covered(self, low: Ints, high: Ints) -> _Flags:
        """Tell of ranges of segments whether all of them are covered."""
        bare = np.concatenate([[0], np.cumsum(self.depth == 0)])
        return np.asarray(bare[low] == bare[high])

    def spread(self, value: Ints, kind: Literal["least", "most"], empty: int) -> Ints:
        """Give every segment the least or most of the values of the intervals that cover it."""
        held = np.full(len(self.start), empty, dtype=np.int64)
        if self.depth.max(initial=0) <= 1:
            held[self.low] = value  # an interval is a segment
            return held
        worst = np.iinfo(np.int64).max if kind == "least" else np.iinfo(np.int64).min
        held[self.depth > 0] = worst
        better = np.minimum if kind == "least" else np.maximum
        many = self.high - self.low
        upto = np.cumsum(many)
        at = 0
        while at < len(many):
            before = int(upto[at - 1]) if at else 0
            stop = max(at + 1, int(np.searchsorted(upto, before + _AT_ONCE, side="right")))
            count = many[at:stop]
            offset = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
            segments = np.repeat(self.low[at:stop], count) + offset
            better.at(held, segments, np.repeat(value[at:stop], count))
            at = stop
        return held


def extreme(held: Ints, low: Ints, high: Ints, kind: Literal["least", "most"]) -> Ints:
    """Return the least or most of ``held[low:high]`` for many ranges, none of them empty.

    By doubling: where a range has 2^l to 2^(l + 1) entries, two runs of 2^l cover it.
    """
    better = np.minimum if kind == "least" else np.maximum
    found = held[low]
    level = np.frexp((high - low).astype(np.float64))[1] - 1
    runs, long = held, 1
    for step in range(int(level.max(initial=0)) + 1):
        mine = np.flatnonzero(level == step)
        found[mine] = better(runs[low[mine]], runs[high[mine] - long])
        runs = better(runs[:-long], runs[long:]) if len(runs) > long else runs
        long *= 2
    return found
