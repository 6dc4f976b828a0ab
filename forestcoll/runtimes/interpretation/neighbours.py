"""The pairs of accesses that decide whether a program has a data race.

Problem: which accesses of one cell must be ordered, so that all are
Input: accesses with their cells, in the order of one run
Output: a read with the writes before and after it, a write with the write before it
Cost: a few array operations
Source: if all of these pairs are ordered, so are all others of which one writes
"""

from __future__ import annotations

import numpy as np

from forestcoll.runtimes.interpretation.cells import Bools, Ints

__all__ = ["neighbours"]


def neighbours(cell: Ints, writes: Bools) -> tuple[Ints, Ints]:
    """Return the pairs of accesses to test: the earlier one and the later one.

    Parameters
    ----------
    cell, writes : ndarray (accesses,)
        Sorted by cell, then as in the run.
    """
    size = cell.size
    here = np.arange(size)
    starts = np.searchsorted(cell, cell)
    last = np.maximum.accumulate(np.where(writes, here, -1))
    next_ = np.minimum.accumulate(np.where(writes, here, size)[::-1])[::-1]
    before = np.r_[-1, last][:size]
    following = np.r_[next_, size][1:]
    ends = np.searchsorted(cell, cell, side="right")
    after_write = np.flatnonzero(before >= starts)
    reads = np.flatnonzero(~writes & (following < ends))
    return (
        np.concatenate([before[after_write], reads]),
        np.concatenate([after_write, following[reads]]),
    )
