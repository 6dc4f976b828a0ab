"""Roots of line digraphs: networks whose nodes are the arcs of a smaller digraph.

Problem: recognise a line digraph L(R) and find its root R.
Input:   arcs of a digraph without parallel arcs; a label for each node.
Output:  the root's arcs, labelled as the nodes that they are; None if there is no such root.
Cost:    sorting the arcs.
Source:  Heuchenne 1964: a digraph is a line digraph of a multigraph if and only if any two nodes
         have equal or disjoint sets of out-neighbours. Harary and Norman 1960: where every node
         has arcs in and out, automorphisms of R, acting on its arcs, are those of L(R).
Deviation: roots with parallel arcs are left out. Their nodes in L(R) are twins, which symmetries
         exchange without moving anything in R.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["LineRoot", "line_root"]

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class LineRoot:
    """A digraph whose arcs are the nodes of another.

    Parameters
    ----------
    vertices : int
    tail, head : int arrays, one entry a node of the line digraph
        Vertices that this arc of the root leaves and enters.
    order : int array
        The arcs by tail, and then by head.
    """

    vertices: int
    tail: Ints
    head: Ints
    order: Ints


def line_root(nodes: int, tail: Ints, head: Ints) -> LineRoot | None:
    """Return the root of a line digraph; None if it has none that is smaller and simple.

    Every node must have an arc in and an arc out, or an end of its arc in the root is not
    determined.

    Parameters
    ----------
    nodes : int
    tail, head : int arrays, one entry an arc
        Sorted by tail, and then by head; no two arcs are alike.

    Examples
    --------
    The complete digraph of three nodes has six arcs; each is followed by two.

    >>> import numpy as np
    >>> arcs = [(u, v) for u in range(3) for v in range(3) if u != v]
    >>> pairs = [(i, j) for i in range(6) for j in range(6) if arcs[i][1] == arcs[j][0]]
    >>> found = line_root(6, *np.array(pairs).T)
    >>> found.vertices, found.tail.tolist(), found.head.tolist()
    (3, [2, 2, 0, 0, 1, 1], [0, 1, 2, 1, 2, 0])
    """
    out = np.bincount(tail, minlength=nodes)
    if not nodes or not out.all() or not np.bincount(head, minlength=nodes).all():
        return None
    first = np.concatenate([[0], np.cumsum(out)])
    vertex: dict[bytes, int] = {}  # by the arcs that leave it
    enters = np.empty(nodes, dtype=np.int64)
    leaves = np.full(nodes, -1)
    for node in range(nodes):
        after = head[first[node] : first[node + 1]]
        known = len(vertex)
        enters[node] = number = vertex.setdefault(after.tobytes(), known)
        if number == known:
            if (leaves[after] >= 0).any():
                return None  # two sets of out-neighbours overlap and differ
            leaves[after] = number
    pairs = leaves * len(vertex) + enters
    if len(vertex) >= nodes or len(np.unique(pairs)) < nodes:
        return None
    return LineRoot(len(vertex), leaves, enters, np.argsort(pairs))
