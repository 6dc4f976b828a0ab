"""Proof that the trees of a reduction count every contribution exactly once.

Part of :func:`forestcoll.schedule.verify`. In a reduction a GPU adds what it receives to what it
has, and sends the sum to its parent once. So each contribution has a single path, and the root
counts it exactly once if the path reaches the root. The path fails only at a GPU without a parent,
or in a cycle. The sum stays at the root because the root sends to nobody.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from forestcoll.schedule.exact_sums import Ints, first
from forestcoll.schedule.verification.naming import arrows, fail

__all__ = ["Rings", "check_summing", "cycles_of", "rows_together"]

_BLOCK_ENTRIES = 2**18  # parents processed together: few enough to stay in the cache

_Name = Callable[[int], str]


class Rings(NamedTuple):
    """Runs of so many rows each, from a row on: each leads around a cycle through all nodes."""

    start: int
    rows: int
    cycles: Ints


def check_summing(
    parent: Ints, root: Ints, *, tree: _Name, node: _Name, rings: list[Rings] | None = None
) -> int:
    """Check that all contributions of every row reach the root; return the greatest depth.

    ``tree`` and ``node`` name a row and a column for the counter-example; ``rings`` is filled.
    """
    depth, ranks = 0, parent.shape[1]
    step = rows_together(ranks, _BLOCK_ENTRIES)
    for start in range(0, len(parent), step):
        rows, roots = parent[start : start + step], root[start : start + step]

        def named(row: int, start: int = start) -> str:
            return tree(start + row)

        if (around := cycles_of(rows, roots)) is None:
            _check_receivers(rows, roots, named, node)
            depth = max(depth, _follow(rows, roots, named, node))
            continue
        depth = ranks - 1  # no tree is deeper
        if rings is not None:
            rings.append(Rings(start, len(rows) // len(around), around))
    return depth


def rows_together(ranks: int, entries: int) -> int:
    """Return how many rows to process together: all roots of a ring, if not too many."""
    rows = max(1, entries // ranks)
    if rows >= ranks:
        return rows - rows % ranks
    return ranks if 4 * rows >= ranks else rows


def cycles_of(parent: Ints, root: Ints) -> Ints | None:
    """Return the cycles if runs of rows, one for each node, are a cycle each, cut at their roots.

    A shortcut for rings, whose long paths take many passes otherwise: they are read once. A run has
    fewer rows if there are no more.

    Returns
    -------
    int array, one row a run
        The parent of each node in the cycle. None if some run is no cycle through all nodes, or
        some root has a parent.
    """
    rows, ranks = parent.shape
    size = min(rows, ranks)
    if rows % size:
        return None
    runs = parent.reshape(-1, size, ranks)
    cycle: Ints = np.maximum(runs[:, 0], runs[:, -1])  # of different roots, or else below 0 there
    # Each row differs from its cycle at its root, and must not differ elsewhere.
    if cycle.min() < 0 or np.count_nonzero(runs == cycle[:, None]) < rows * (ranks - 1):
        return None
    if (parent[np.arange(rows), root] >= 0).any():  # last, as the rows are in the cache by now
        return None
    return cycle if all(map(_leads_around, cycle.tolist())) else None


def _leads_around(onward: list[int]) -> bool:
    """Whether the way from node 0 returns to it after all nodes, and not before."""
    at = 0
    for _ in range(len(onward) - 1):
        at = onward[at]
        if at == 0:
            return False
    return onward[at] == 0


def _check_receivers(parent: Ints, root: Ints, tree: _Name, node: _Name) -> None:
    """Check that every node but the root sends its sum to another, and the root keeps its own."""
    onward = parent[np.arange(len(root)), root]
    if (row := first(onward >= 0)) is not None:
        to = node(int(onward[row]))
        fail(f"{tree(row)}: the root sends its sum on to {to}, so the sum does not end there")
    if np.count_nonzero(parent < 0) == len(root):
        return  # these are the roots
    silent = (parent < 0) & (np.arange(parent.shape[1]) != root[:, None])
    if (at := first(silent)) is not None:
        row, rank = divmod(at, parent.shape[1])
        fail(f"{tree(row)}: {node(rank)} sends its sum to no GPU, so its contribution is lost")


def _follow(parent: Ints, root: Ints, tree: _Name, node: _Name) -> int:
    """Follow all contributions by pointer doubling; return the hops of the longest path."""
    rows, ranks = parent.shape
    first_of_row = np.arange(rows, dtype=np.intp)[:, None] * ranks  # in the block, laid out flat
    goal = np.broadcast_to(first_of_row + root[:, None], parent.shape)
    at = np.where(parent < 0, goal, first_of_row + parent)
    hops = (parent >= 0).astype(np.int32)
    for _ in range(ranks.bit_length()):
        if (at == goal).all():
            break
        hops += hops.take(at)
        at = at.take(at)
    if (lost := first(at != goal)) is not None:
        row, rank = divmod(lost, ranks)
        ring = arrows(map(node, _ring(parent[row].tolist(), rank)))
        fail(f"{tree(row)}: {ring} is a cycle, whose contributions never reach the root")
    return int(hops.max()) if rows else 0


def _ring(parent: list[int], rank: int) -> list[int]:
    """Return the cycle that the contribution of a rank runs into, as the data runs."""
    for _ in parent:
        rank = parent[rank]
    ring = [rank]
    while (rank := parent[rank]) != ring[0]:
        ring.append(rank)
    return [*ring, ring[0]]
