"""Minimum-cost arborescence: the cheapest spanning out-tree from a root.

Problem: minimise the sum of the prices of a tree's edges, over the out-trees from a root that span
         a complete digraph.
Output:  the parent of each node.
Cost:    O(N^3) in the worst case, as a whole matrix is looked at for every cycle; for tens of
         nodes.
Source:  Chu and Liu (1965), Edmonds (1967): every node takes its cheapest edge. A cycle is
         contracted to one node; an edge into it at v is cheaper by the price of v's cycle edge.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from forestcoll.errors import DisconnectedError

if TYPE_CHECKING:
    from forestcoll.solver.linear_program import Vector

__all__ = ["cheapest_arborescence"]


def cheapest_arborescence(price: Vector, root: int) -> list[int]:
    """Return the parents in a cheapest out-tree; -1 for the root.

    Parameters
    ----------
    price : float array of shape (N, N)
        Price of the edge from row to column; the diagonal is ignored.

    Raises
    ------
    DisconnectedError
        If the root does not reach every node over edges of finite price.

    Examples
    --------
    1 is cheap to reach from 2 only, and 2 from 1; the cheaper way into the pair is by 2.

    >>> cheapest_arborescence(np.array([[0, 9, 8], [9, 0, 1], [9, 1, 0.0]]), 0)
    [-1, 2, 0]
    """
    own = price.astype(np.float64)
    np.fill_diagonal(own, np.inf)
    own[:, root] = np.inf
    return _spanned(own, root)


def _spanned(price: Vector, root: int) -> list[int]:
    """Return parents; the diagonal and the root's column are infinite."""
    parent: list[int] = price.argmin(axis=0).tolist()
    parent[root] = -1
    for node, above in enumerate(parent):
        if node != root and price[above, node] == np.inf:
            raise DisconnectedError(f"node {node} of the priced graph has no edge into it")
    cycle = _cycle(parent, root)
    if not cycle:
        return parent
    inner = np.array(cycle)
    outer = np.setdiff1d(np.arange(len(price)), inner)
    size = len(outer)
    smaller = np.full((size + 1, size + 1), np.inf)
    smaller[:size, :size] = price[np.ix_(outer, outer)]
    own = np.array([price[parent[v], v] for v in cycle])
    into = price[np.ix_(outer, inner)] - own
    entry = into.argmin(axis=1)
    smaller[:size, size] = into.min(axis=1)
    out = price[np.ix_(inner, outer)]
    leave = out.argmin(axis=0)
    smaller[size, :size] = out.min(axis=0)
    around = _spanned(smaller, int(np.searchsorted(outer, root)))
    return _expanded(parent, around, outer.tolist(), cycle, entry.tolist(), leave.tolist())


def _expanded(
    parent: list[int],
    above: list[int],
    outer: list[int],
    cycle: list[int],
    entry: list[int],
    leave: list[int],
) -> list[int]:
    """Expand the cycle, without its edge to the node where the tree enters it."""
    size = len(outer)
    found = parent.copy()
    for node in range(size):
        if above[node] >= 0:
            found[outer[node]] = cycle[leave[node]] if above[node] == size else outer[above[node]]
    entered_from = above[size]
    found[cycle[entry[entered_from]]] = outer[entered_from]
    return found


def _cycle(parent: list[int], root: int) -> list[int]:
    """Return the nodes of a cycle; none if all lead back to the root."""
    state = [0] * len(parent)  # the walk that saw a node, from 1
    state[root] = -1
    for walk, start in enumerate(range(len(parent)), 1):
        node = start
        while state[node] == 0:
            state[node] = walk
            node = parent[node]
        if state[node] == walk:
            cycle = [node]
            while parent[cycle[-1]] != node:
                cycle.append(parent[cycle[-1]])
            return cycle
    return []
