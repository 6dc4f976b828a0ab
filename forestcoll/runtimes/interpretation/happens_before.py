"""Happens-before queries by vector clocks, and the pairs of accesses that need them.

Problem: is one action over before another begins; and which accesses of a cell must be ordered?
Input:   edges and levels of the actions; pairs of actions, or accesses in the order of one run.
Output:  for each pair, whether a path leads from its first action to its second.
Cost:    a clock for each action, with an entry for each threadblock of a pair's first action, in
         parts that fit memory. Pairs of one GPU are first tried within that GPU, with short clocks;
         this decides most of them.
Source:  vector clocks: an action's entry for a threadblock is that threadblock's known progress.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from forestcoll.errors import InvalidScheduleError
from forestcoll.runtimes.interpretation.cells import Bools, Ints
from forestcoll.runtimes.interpretation.precedence import Edges

__all__ = ["happens_before", "neighbours"]


# Clocks held at once.
_BYTES = 2**28
_MOST_WORK = 2 * 10**10  # entries of clocks; some twenty seconds

Clock = npt.NDArray[np.int32]


def happens_before(
    edges: Edges, levels: Ints, block: Ints, gpu: Ints, first: Ints, second: Ints
) -> Bools:
    """Return, for each pair, whether its first action comes before its second.

    Raises InvalidScheduleError if there are too many pairs to test.

    Parameters
    ----------
    edges : Edges
        Edges among actions that run.
    levels : ndarray (actions,)
        -1 for actions that never run.
    block, gpu : ndarray (actions,)
        The threadblock and the GPU of each.
    first, second : ndarray (pairs,)
        Actions, most of them of one GPU.
    """
    # Most pairs are decided within one GPU, whose clocks are short.
    within = gpu[edges.tail] == gpu[edges.head]
    number = _within_gpu(block, gpu)
    found = np.zeros(first.size, dtype=np.bool_)
    same = np.flatnonzero(gpu[first] == gpu[second])
    found[same] = _reached(edges.kept(within), levels, block, number, first[same], second[same])
    left = np.flatnonzero(~found)
    if left.size:
        sources = np.unique(block[first[left]])
        columns = np.full(int(block.max()) + 1, -1, dtype=np.int64)
        columns[sources] = np.arange(sources.size)
        found[left] = _reached(edges, levels, block, columns[block], first[left], second[left])
    return found


def _within_gpu(block: Ints, gpu: Ints) -> Ints:
    """Number the threadblocks of each GPU from 0 up, for each action."""
    blocks, at = np.unique(block, return_index=True)
    gpus = gpu[at]
    starts = np.searchsorted(gpus, gpus)
    return (np.arange(blocks.size) - starts)[np.searchsorted(blocks, block)]


def _reached(
    edges: Edges, levels: Ints, block: Ints, column: Ints, first: Ints, second: Ints
) -> Bools:
    """Compare clocks; ``column`` is the clock entry of each action's threadblock, or -1."""
    place = _place_in_block(block)
    rounds = list(_rounds(edges, levels))
    found = np.zeros(first.size, dtype=np.bool_)
    width = int(column.max(initial=-1)) + 1
    if width * block.size > _MOST_WORK:
        raise InvalidScheduleError(
            f"{block.size} transfers and copies, and {width} threadblocks whose order is to be "
            "found: too many to check; check an algorithm of fewer GPUs or instances"
        )
    at_once = max(1, _BYTES // (4 * max(1, block.size)))
    for low in range(0, width, at_once):
        high = min(low + at_once, width)
        inside = (column >= low) & (column < high)
        mine = np.flatnonzero(inside[first])
        if mine.size:
            clocks = _clocks(rounds, np.where(inside, column - low, -1), place, high - low)
            entries = clocks[second[mine], column[first[mine]] - low]
            found[mine] = entries > place[first[mine]]
    return found


def _place_in_block(block: Ints) -> Ints:
    """Return the number of earlier actions of the same threadblock, for each action."""
    order = np.argsort(block, kind="stable")
    ranked = block[order]
    place = np.empty_like(block)
    place[order] = np.arange(block.size) - np.searchsorted(ranked, ranked)
    return place


def _rounds(edges: Edges, levels: Ints) -> Iterator[tuple[Ints, list[tuple[Ints, Ints]]]]:
    """Return the actions of each level, and the edges into them in rounds of one per action."""
    nth = np.arange(edges.head.size) - np.searchsorted(edges.head, edges.head)
    of_edge = levels[edges.head]
    order = np.lexsort((nth, of_edge))
    by_level = np.argsort(levels, kind="stable")
    ends = np.searchsorted(levels[by_level], np.arange(int(levels.max(initial=-1)) + 2))
    edge_ends = np.searchsorted(of_edge[order], np.arange(ends.size))
    for level in range(ends.size - 1):
        some = order[edge_ends[level] : edge_ends[level + 1]]
        cuts = np.flatnonzero(np.diff(nth[some])) + 1
        groups = np.split(some, cuts) if some.size else []
        yield (
            by_level[ends[level] : ends[level + 1]],
            [(edges.tail[group], edges.head[group]) for group in groups],
        )


def _clocks(
    rounds: list[tuple[Ints, list[tuple[Ints, Ints]]]], column: Ints, place: Ints, width: int
) -> Clock:
    clocks = np.zeros((column.size, width), dtype=np.int32)
    for actions, groups in rounds:
        for tails, heads in groups:
            clocks[heads] = np.maximum(clocks[heads], clocks[tails])
        own = actions[column[actions] >= 0]
        clocks[own, column[own]] = place[own] + 1
    return clocks


def neighbours(cell: Ints, writes: Bools) -> tuple[Ints, Ints]:
    """Return the pairs of accesses to test: the earlier one and the later one.

    A read is paired with the writes before and after it, a write with the write before it. If all
    of these pairs are ordered, so are all others of which one writes.

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
