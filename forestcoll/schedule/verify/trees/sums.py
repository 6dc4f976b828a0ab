"""Whether the trees of a reduction sum up everything exactly once.

Part of :func:`forestcoll.schedule.verify`. In a reduction a GPU adds what it receives to what it
has, and sends the sum to its parent once. So a contribution is counted exactly once at the root if
it gets there at all: it has one way to go. It gets there unless a GPU on its way sends to nobody
or the way runs into a cycle, and the sum stays there if the root sends to nobody.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from forestcoll.schedule.exact_sums import Ints, first
from forestcoll.schedule.verify.naming import arrows, fail

__all__ = ["check_summing"]

_BLOCK_ENTRIES = 2**18  # parents looked at together: few enough to stay in the cache

_Name = Callable[[int], str]


def check_summing(parent: Ints, root: Ints, *, tree: _Name, node: _Name) -> int:
    """In every row the contributions of all nodes reach the root; return the greatest height.

    ``tree`` and ``node`` name a row and a column for the counter-example.
    """
    height, ranks = 0, parent.shape[1]
    step = max(1, _BLOCK_ENTRIES // ranks)
    for start in range(0, len(parent), step):
        rows, roots = parent[start : start + step], root[start : start + step]

        def named(row: int, start: int = start) -> str:
            return tree(start + row)

        _check_receivers(rows, roots, named, node)
        height = max(height, _follow(rows, roots, named, node))
    return height


def _check_receivers(parent: Ints, root: Ints, tree: _Name, node: _Name) -> None:
    """Every node but the root sends its sum to another; the root keeps its own."""
    onward = parent[np.arange(len(root)), root]
    if (row := first(onward >= 0)) is not None:
        to = node(int(onward[row]))
        fail(f"{tree(row)}: the root sends its sum on to {to}, so the sum does not end there")
    silent = (parent < 0) & (np.arange(parent.shape[1]) != root[:, None])
    if (at := first(silent)) is not None:
        row, rank = divmod(at, parent.shape[1])
        fail(f"{tree(row)}: {node(rank)} sends its sum to nobody, so its contribution is lost")


def _follow(parent: Ints, root: Ints, tree: _Name, node: _Name) -> int:
    """Follow all contributions, twice as far each time; return the hops of the longest way."""
    rows, ranks = parent.shape
    goal = np.broadcast_to(root[:, None], parent.shape)
    at = np.where(parent < 0, goal, parent)
    hops = (parent >= 0).astype(np.int32)
    for _ in range(ranks.bit_length()):
        if (at == goal).all():
            break
        hops = hops + np.take_along_axis(hops, at, axis=1)
        at = np.take_along_axis(at, at, axis=1)
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
