"""The cheapest spanning out-tree.

Problem: parents for all nodes but the root, so that all hang from it, at the least total price.
Input:   the links of a directed network with their prices; the root.
Output:  the parent of every node.
Cost:    O(N E) for N nodes and E links: at most N contractions.
Source:  Chu and Liu (1965); Edmonds (1967).
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["cheapest_tree"]

_Arc = tuple[int, int, float, int]
"""Tail, head, price, and its place among the arcs of the network before the contraction."""


def cheapest_tree(
    size: int, root: int, links: Sequence[tuple[int, int]], price: Sequence[float]
) -> list[int]:
    """Find a cheapest spanning out-tree.

    Parameters
    ----------
    size : int
        Number of nodes, which are 0 to ``size - 1``; the root must reach all of them.
    root : int
    links : sequence of (tail, head)
    price : sequence of float
        Of each link.

    Returns
    -------
    list of int
        The parent of each node, -1 for the root. Of equally cheap links the first is taken.

    Examples
    --------
    >>> cheapest_tree(3, 0, [(0, 1), (1, 2), (2, 1), (0, 2)], [5, 1, 1, 4])
    [-1, 2, 0]
    """
    arcs = [(u, v, cost, i) for i, ((u, v), cost) in enumerate(zip(links, price, strict=True))]
    parent = [-1] * size
    for arc in _tree(size, root, arcs):
        tail, head = links[arc]
        parent[head] = tail
    return parent


def _tree(size: int, root: int, arcs: list[_Arc]) -> list[int]:
    """Return the arcs of a cheapest tree, as places in ``arcs``."""
    best = _cheapest_into_each(size, root, arcs)
    group, groups = _contracted(size, root, [-1 if i < 0 else arcs[i][0] for i in best])
    if groups == size:
        return [i for i in best if i >= 0]
    inner = [
        (group[u], group[v], price - (arcs[best[v]][2] if v != root else 0.0), i)
        for i, (u, v, price, _) in enumerate(arcs)
        if group[u] != group[v]
    ]
    chosen = [inner[i][3] for i in _tree(groups, group[root], inner)]
    entered = {arcs[i][1] for i in chosen}
    opened = {group[v] for v in entered}
    # A cycle keeps all its links but the one into the node at which it is entered.
    members = [v for v in range(size) if v != root and v not in entered and group[v] in opened]
    return chosen + [best[v] for v in members]


def _cheapest_into_each(size: int, root: int, arcs: list[_Arc]) -> list[int]:
    best = [-1] * size
    for i, (_, head, price, _) in enumerate(arcs):
        if head != root and (best[head] < 0 or price < arcs[best[head]][2]):
            best[head] = i
    return best


def _contracted(size: int, root: int, parent: list[int]) -> tuple[list[int], int]:
    """Number the nodes anew, all of a cycle alike."""
    group, seen, groups = [-1] * size, [-1] * size, 0
    for start in range(size):
        walk, node = [], start
        while node != -1 and seen[node] < 0:
            seen[node] = start
            walk.append(node)
            node = parent[node]
        cycle = walk[walk.index(node) :] if node != -1 and seen[node] == start else []
        for member in cycle:
            group[member] = groups
        groups += bool(cycle)
        for member in walk[: len(walk) - len(cycle)]:
            group[member] = groups
            groups += 1
    return group, groups
