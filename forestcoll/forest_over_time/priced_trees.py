"""Trees of low price whose paths are within a latency.

Problem: given the price and latency of every hop, a spanning tree of small total price in which
         every GPU is reached within a latency; the least price is as hard as set cover.
Input:   hops, a root, a limit.
Output:  the parent of each GPU.
Cost:    some sweeps over all GPUs, each of which looks at all possible parents.
Source:  ours: local search from the tree of fastest paths. A GPU, with all below it, moves to the
         cheapest parent that keeps them within the limit. So every tree on the way is within it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from forestcoll.forest_over_time.priced_hops import Floats, Hops, Ints

__all__ = ["arrivals", "cheaper_tree", "fastest_tree"]

_SWEEPS = 20


def fastest_tree(hops: Hops, root: int) -> Ints:
    """Return the tree of fastest paths; among equally fast parents the one of the cheapest hop."""
    size = len(hops.cost)
    arrive = np.full(size, np.iinfo(np.int64).max // 2)
    arrive[root] = 0
    parent = np.full(size, -1, dtype=np.int64)
    dear = np.full(size, np.inf)
    done = np.zeros(size, dtype=np.bool_)
    reachable = np.isfinite(hops.cost)
    for _ in range(size):
        node = int(np.argmin(np.where(done, np.iinfo(np.int64).max, arrive)))
        done[node] = True
        through = arrive[node] + hops.latency[node]
        better = through < arrive
        better |= (through == arrive) & (hops.cost[node] < dear)
        better &= reachable[node] & ~done
        arrive[better], parent[better] = through[better], node
        dear[better] = hops.cost[node, better]
    return parent


def arrivals(hops: Hops, parent: Ints) -> Ints:
    """Return when each GPU is reached, in ticks."""
    arrive = np.zeros(len(parent), dtype=np.int64)
    at = np.arange(len(parent))
    while (going := parent[at] >= 0).any():
        above = np.where(going, parent[at], at)
        arrive += np.where(going, hops.latency[above, at], 0)
        at = above
    return arrive


def cheaper_tree(hops: Hops, start: Ints, limit: int) -> Ints:
    """Improve a tree of low latency by moves within a limit.

    Parameters
    ----------
    start : int array
        Parents of a tree within the limit.
    limit : int
        Latency in ticks from the root to every GPU.
    """
    return _Moves(hops, start, limit).improved()


class _Moves:
    """A tree that changes parent by parent."""

    def __init__(self, hops: Hops, start: Ints, limit: int) -> None:
        self._cost, self._latency, self._limit = hops.cost, hops.latency, limit
        self._parent = start.copy()
        self._arrive = arrivals(hops, start)
        self._children: list[set[int]] = [set() for _ in start]
        for node, above in enumerate(start.tolist()):
            if above >= 0:
                self._children[above].add(node)

    def improved(self) -> Ints:
        nodes = np.flatnonzero(self._parent >= 0)
        for _ in range(_SWEEPS):
            dear: Floats = self._cost[self._parent[nodes], nodes]
            order = nodes[np.argsort(-dear, kind="stable")].tolist()
            if not sum(self._moved(node) for node in order):
                break
        return self._parent

    def _moved(self, node: int) -> bool:
        below = self._below(node)
        height = int((self._arrive[below] - self._arrive[node]).max())
        late: npt.NDArray[np.bool_] = self._arrive + self._latency[:, node] + height > self._limit
        cost = np.where(late, np.inf, self._cost[:, node])
        cost[below] = np.inf
        above = int(np.argmin(cost))
        before = int(self._parent[node])
        if not cost[above] < self._cost[before, node]:
            return False
        self._children[before].discard(node)
        self._children[above].add(node)
        self._parent[node] = above
        self._arrive[below] += self._arrive[above] + self._latency[above, node] - self._arrive[node]
        return True

    def _below(self, node: int) -> list[int]:
        """Return a node and all that it leads to."""
        found = [node]
        for one in found:
            found.extend(self._children[one])
        return found
