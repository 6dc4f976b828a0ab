"""Links on paths that go along one dimension of a grid first, as if a dead link were there.

Problem: on a grid with a dead link few sources have to deviate from one order of the dimensions.
Input:   a network of GPUs alone; no coordinates.
Output:  the links that each GPU's data may use; None if the network is not such a grid.
Cost:    links times the square of their number at a GPU.
Source:  dimension-ordered routing; the dimensions by the opposite sides of squares, as in the
         factors of products (W. Imrich and S. Klavzar, Product Graphs, 2000).

Opposite sides of a square are parallel, and its neighbouring sides cross. In a grid of two
dimensions the classes of parallel links have two colours such that all that cross differ. A line is
a set of GPUs that links of the first colour join. One that lost a link has fewer than the others.
GPUs on such a line and on the lines beside it may use all links, the others those of their own line
and all of the second colour. Nothing depends on this choice but the size of a program: whether its
optimum is one of the whole program is proved from prices.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from forestcoll.topology.model import Topology

__all__ = ["dimension_ordered"]

_Ints = npt.NDArray[np.int64]
_Edge = tuple[int, int]
_Square = tuple[int, int, int, int]


def dimension_ordered(topology: Topology) -> npt.NDArray[np.bool_] | None:
    """Return for each node (row) the links (column) on its paths.

    Returns
    -------
    bool array of shape (V, E), or None
        None unless the network is a grid of two dimensions of GPUs alone, whose links have
        reverses and are sides of squares, and in which lines of one dimension at most lost links.

    Examples
    --------
    >>> from forestcoll.topology import load_topology
    >>> slice = load_topology("tpu_v5e:dims=4x16").without("gpu0.0 - gpu0.1")
    >>> dimension_ordered(slice).sum(axis=1).tolist()[::16]
    [222, 222, 128, 128]
    """
    edges = [(link.tail, link.head) for link in topology.links]
    if len(topology.nodes) > topology.num_compute or {(v, u) for u, v in edges} != {*edges}:
        return None
    colour = _colours(edges)
    if colour is None:
        return None
    tail, head = np.array(edges).T
    unlike = [first for first in (0, 1) if _short_lines(tail, head, colour == first).any()]
    if len(unlike) > 1:
        return None
    first = colour == (unlike or [0])[0]
    line, short = _lines(tail, head, first), _short_lines(tail, head, first)
    beside = np.zeros_like(short)
    beside[line[tail][~first & short[line[head]]]] = True
    free = (short | beside)[line]
    return np.asarray(free[:, None] | ~first | (line[:, None] == line[tail]))


def _colours(edges: list[_Edge]) -> _Ints | None:
    """Return the dimension of each link, 0 or 1; None if two are not enough, or leave a choice."""
    place = {edge: i for i, edge in enumerate(edges)}
    squares = np.array(list(_squares(edges)), dtype=np.int64).reshape(-1, 4)
    if not len(squares):
        return None
    sides = [[place[u, v] for u, v in zip(a, b, strict=True)] for a, b in _sides(squares)]
    pairs = [(sides[0], sides[2]), (sides[1], sides[3])]
    back = [place[v, u] for u, v in edges]
    ends = np.concatenate(
        [*np.array(pairs).transpose(0, 2, 1), np.stack([range(len(back)), back], 1)]
    )
    count, kind = _joined(ends[:, 0], ends[:, 1], len(edges))
    crossing = kind[sides[0]], kind[sides[1]]
    # Two copies of every class: a class and what it crosses must lie in unlike ones.
    tail = np.concatenate([crossing[0], crossing[0] + count])
    head = np.concatenate([crossing[1] + count, crossing[1]])
    parts, copy = _joined(tail, head, 2 * count)
    if parts != 2 or (copy[:count] == copy[count:]).any():
        return None
    return np.asarray(copy[:count][kind])


def _sides(squares: _Ints) -> Iterator[tuple[list[int], list[int]]]:
    """Yield the four sides; the first and third are opposite, in one direction."""
    for one, other in ((0, 1), (1, 2), (3, 2), (0, 3)):
        yield squares[:, one].tolist(), squares[:, other].tolist()


def _squares(edges: list[_Edge]) -> Iterator[_Square]:
    """Yield the circles of four nodes without a chord, from each of their nodes."""
    beside: dict[int, set[int]] = defaultdict(set)
    for u, v in edges:
        beside[u].add(v)
    for u, v in edges:
        for w in sorted(beside[v] - beside[u] - {u}):
            for x in sorted((beside[u] & beside[w]) - beside[v] - {v}):
                yield u, v, w, x


def _lines(tail: _Ints, head: _Ints, first: npt.NDArray[np.bool_]) -> _Ints:
    return _joined(tail[first], head[first], int(tail.max()) + 1)[1]


def _short_lines(tail: _Ints, head: _Ints, first: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Return which lines have fewer links than the most."""
    links = np.bincount(_lines(tail, head, first)[tail[first]])
    return np.asarray(links < links.max())


def _joined(tail: _Ints, head: _Ints, size: int) -> tuple[int, _Ints]:
    """Return the number of connected parts, and that of each node, by the parts' first nodes."""
    first, before = np.arange(size), None
    while before is None or not np.array_equal(first, before):
        before = first
        least = np.minimum(before[tail], before[head])
        first = before.copy()
        np.minimum.at(first, before[tail], least)
        np.minimum.at(first, before[head], least)
        first = first[first]
    starts, part = np.unique(first, return_inverse=True)
    return len(starts), part.reshape(-1).astype(np.int64)
