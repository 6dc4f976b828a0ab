"""Distances between nodes, without a library for the small networks of most commands.

Problem: the length of a shortest path from each of some nodes to every node.
Input:   links by their ends, and a length of at least 0 for each.
Output:  floats, infinite where no path leads: sums from the start on, so the same by both ways.
Cost:    for small networks passes over all starts and links, at most one for each hop of the
         longest such path; for others Dijkstra's algorithm, by scipy, whose import takes 0.2 s.
Source:  R. Bellman, On a Routing Problem (1958); E. W. Dijkstra, A Note on Two Problems in
         Connexion with Graphs (1959).

Rounded sums grow with both of their terms, so the least sum to a node is that over a neighbour's
least sum. Both ways end with these, in whatever order they look at the links.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["distances"]

Ints = npt.NDArray[np.integer[Any]]
Floats = npt.NDArray[np.float64]

_MANY = 100_000
"""Starts times links from which on the passes of some twenty calls take longer than the import."""

_MOST_PASSES = 50
"""Passes after which scipy is faster, too: the network has long paths, as rings have."""

_MANY_ONCE = 4_000_000
"""The same for the passes of one or two calls, if there are few passes."""

_FEW_PASSES = 6
"""Passes over larger networks: enough for paths through a switch or two."""


def distances(
    size: int, tail: Ints, head: Ints, length: Floats, starts: Ints, *, once: bool = False
) -> Floats:
    """Return the distance from each start (row) to each node (column).

    Parameters
    ----------
    size : int
        Number of nodes.
    tail, head : int arrays, one entry a link
        At most one link leads from a node to another.
    length : float array, one entry a link
        At least 0; 0 is a link, too.
    starts : int array
    once : bool
        Whether the caller asks once or twice, so that the import of scipy counts for more.

    Examples
    --------
    >>> tail, head = np.array([0, 1, 0]), np.array([1, 2, 2])
    >>> distances(4, tail, head, np.array([1.0, 2.0, 4.0]), np.array([0, 2])).tolist()
    [[0.0, 1.0, 3.0, inf], [inf, inf, 0.0, inf]]
    """
    found, work = None, len(starts) * len(tail)
    if work < _MANY:
        found = _by_passes(size, tail, head, length, starts, _MOST_PASSES)
    elif once and work < _MANY_ONCE:
        found = _by_passes(size, tail, head, length, starts, _FEW_PASSES)
    return _by_scipy(size, tail, head, length, starts) if found is None else found


def _by_passes(
    size: int, tail: Ints, head: Ints, length: Floats, starts: Ints, most: int
) -> Floats | None:
    """Shorten paths by one link after another; None if that does not end after so many passes."""
    away = np.full((size, len(starts)), np.inf)
    away[starts, np.arange(len(starts))] = 0
    rounds = list(_one_link_a_head(tail, head, length))
    for _ in range(most):
        before = away.copy()
        for begin, end, more in rounds:
            longer = away[begin]
            longer += more
            away[end] = np.minimum(away[end], longer)
        if np.array_equal(before, away):
            return np.ascontiguousarray(away.T)
    return None


def _one_link_a_head(tail: Ints, head: Ints, length: Floats) -> Iterator[tuple[Ints, Ints, Floats]]:
    """Divide the links so that no two of a part enter one node."""
    order = np.argsort(head, kind="stable")
    tail, head, length = tail[order], head[order], length[order, None]
    rank = np.arange(len(head)) - np.searchsorted(head, head)
    for one in range(rank.max(initial=-1) + 1):
        kept = rank == one
        yield tail[kept], head[kept], length[kept]


def _by_scipy(size: int, tail: Ints, head: Ints, length: Floats, starts: Ints) -> Floats:
    import scipy.sparse as sp
    from scipy.sparse.csgraph import dijkstra

    # An entry that is stored as 0 is a link of length 0, not none.
    graph = sp.csr_array((length, (tail, head)), shape=(size, size))
    return np.asarray(dijkstra(graph, indices=starts))
