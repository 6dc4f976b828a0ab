"""The rank at each place of a torus grid.

Problem: recognise a network of GPUs as a torus, a product of rings and of single links.
Output:  the grid, one dimension per ring or link, and the directions of its links.
Cost:    N d^3 looks at neighbours of neighbours, for N GPUs with d links; fewer with names.
Source:  names first: "gpu1.0" has the coordinates (1, 0), as in the families. Otherwise the
         unique-square property of Cartesian products (Feder, J. Graph Theory 1992): two links of a
         GPU are of different factors only if exactly one square without diagonals has both.

A ring of four is also the product of two single links. Names decide; without them it counts as the
product. Each proposal is compared with all links between GPUs; links to switches are ignored.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from baselines.networks.boxes import Ranks
from forestcoll.errors import UnsupportedError
from forestcoll.topology.model import Topology

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["TorusGrid", "alternating_dimensions", "find_grid", "grid_of_powers", "moved_along"]

Pair = tuple[int, int]

_WORDS = {2: "two", 3: "three"}


@dataclass(frozen=True)
class TorusGrid:
    """A torus of GPUs.

    Parameters
    ----------
    ranks : int32 array
        The rank at each place; no dimension has length 1.
    ways : tuple of int
        1 if every GPU has links to the next along each dimension, -1 if to the one before. Where
        all dimensions have length 2 these are the same, and only 1 is given.
    """

    ranks: Ranks
    ways: tuple[int, ...]


def find_grid(topology: Topology) -> TorusGrid:
    """Recognise a torus of at least two GPUs.

    Raises
    ------
    UnsupportedError
        If the links between the GPUs are not those of a torus.
    """
    rank_of = topology.rank_of
    links = {
        (rank_of[link.tail], rank_of[link.head])
        for link in topology.links
        if link.tail in rank_of and link.head in rank_of
    }
    grid = _checked(_by_names(topology), links)
    grid = grid or _checked(_by_squares(links, topology.num_compute), links)
    if grid is None:
        raise UnsupportedError(
            f"unsupported: {topology.name} is not a torus: the links between its GPUs are "
            f"not those "
            f"of a product of rings"
        )
    return grid


def _checked(ranks: Ranks | None, links: set[Pair]) -> TorusGrid | None:
    """Return a grid whose links are these, all of them and no others."""
    ways = () if ranks is None else _ways(ranks, links)
    return TorusGrid(ranks, ways) if ranks is not None and ways else None


def _ways(ranks: Ranks, links: set[Pair]) -> tuple[int, ...]:
    """The ways in which links run along all dimensions; none if there are other links, too."""
    hops = {way: _hops(ranks, way) for way in (1, -1)}
    ways = tuple(way for way in hops if hops[way] <= links)
    if set().union(*(hops[way] for way in ways)) != links:
        return ()
    return ways[:1] if hops[1] == hops[-1] else ways


def _hops(ranks: Ranks, way: int) -> set[Pair]:
    """From every place to its neighbour along each dimension."""
    hops: set[Pair] = set()
    for axis in range(ranks.ndim):
        onward = np.roll(ranks, -way, axis)
        hops.update(zip(ranks.ravel().tolist(), onward.ravel().tolist(), strict=True))
    return hops


def _by_names(topology: Topology) -> Ranks | None:
    """Place GPUs by the coordinates at the end of their names, if all have some."""
    places = []
    for gpu in topology.compute:
        found = re.search(r"\d+(\.\d+)*$", topology.nodes[gpu].name)
        places.append(tuple(map(int, found[0].split("."))) if found else ())
    if len({len(place) for place in places}) != 1 or not places[0]:
        return None
    return _filled(np.array(places, dtype=np.int64).T)


def _filled(coordinates: npt.NDArray[np.int64]) -> Ranks | None:
    """Return the grid in which rank r sits at ``coordinates[:, r]``, if each place has one rank."""
    dims, size = tuple((coordinates.max(axis=1) + 1).tolist()), coordinates.shape[1]
    if np.prod(dims, dtype=object) != size:
        return None
    ranks = np.full(dims, -1, dtype=np.int32)
    ranks[tuple(coordinates)] = np.arange(size)
    return None if (ranks < 0).any() else ranks.squeeze()


def _by_squares(links: set[Pair], size: int) -> Ranks | None:
    """Find the factors of a graph whose links run both ways, and the place of each rank in each."""
    import networkx as nx

    graph: nx.Graph[int] = nx.Graph()
    graph.add_edges_from(links)
    degree = max((degree for _, degree in graph.degree), default=0)
    both = all((head, tail) in links for tail, head in links)
    if not both or len(graph) < size or 2**degree > size**2 or not nx.is_connected(graph):
        return None
    rows = []
    for factor in _factors(graph):
        row = _places(graph, factor)
        if row is None:
            return None
        rows.append(row)
    return _filled(np.array(rows, dtype=np.int64))


def _factors(graph: nx.Graph[int]) -> list[set[Pair]]:
    """Split the links, as sorted pairs, into those of each factor."""
    import networkx as nx

    same: nx.Graph[Pair] = nx.Graph()
    same.add_nodes_from(_sorted(edge) for edge in sorted(graph.edges))
    for corner in sorted(graph):
        for a, b in itertools.combinations(sorted(graph[corner]), 2):
            one, other = _sorted((corner, a)), _sorted((corner, b))
            across = [v for v in graph[a] if v in graph[b] and v != corner]
            if len(across) == 1 and b not in graph[a] and across[0] not in graph[corner]:
                same.add_edge(one, _sorted((b, across[0])))  # opposite sides of a square
                same.add_edge(other, _sorted((a, across[0])))
            else:
                same.add_edge(one, other)
    return [set(factor) for factor in nx.connected_components(same)]


def _places(graph: nx.Graph[int], factor: set[Pair]) -> list[int] | None:
    """Number each GPU's place along a factor that is a ring or a single link; None if it is not."""
    import networkx as nx

    others: nx.Graph[int] = nx.Graph()
    others.add_nodes_from(sorted(graph))
    others.add_edges_from(edge for edge in graph.edges if _sorted(edge) not in factor)
    layer = {v: i for i, part in enumerate(nx.connected_components(others)) for v in part}
    ring: nx.Graph[int] = nx.Graph()
    ring.add_edges_from((layer[a], layer[b]) for a, b in factor)
    if any(degree > 2 for _, degree in ring.degree):
        return None
    place = {layer: i for i, layer in enumerate(nx.dfs_preorder_nodes(ring, source=layer[0]))}
    return [place.get(layer[v], 0) for v in sorted(graph)]


def _sorted(pair: Iterable[int]) -> Pair:
    a, b = sorted(pair)
    return a, b


def grid_of_powers(topology: Topology, base: int, method: str) -> Ranks:
    """Return the ranks of a torus whose dimensions are powers of a number.

    Raises UnsupportedError if the network is not a torus, or its dimensions are none.
    """
    ranks = find_grid(topology).ranks
    if any(base ** _turns(length, base) != length for length in ranks.shape):
        dims = " x ".join(map(str, ranks.shape))
        raise UnsupportedError(
            f"unsupported: {topology.name} is a {dims} torus; {method} takes dimensions that are "
            f"powers of {_WORDS[base]}"
        )
    return ranks


def grid_of_evens(topology: Topology, method: str) -> Ranks:
    """Return the ranks of a torus whose dimensions are even.

    Raises UnsupportedError if the network is no torus, or one of its dimensions is odd.
    """
    ranks = find_grid(topology).ranks
    if any(length % 2 for length in ranks.shape):
        dims = " x ".join(map(str, ranks.shape))
        raise UnsupportedError(
            f"unsupported: {topology.name} is a {dims} torus; {method} takes even dimensions"
        )
    return ranks


def alternating_dimensions(dims: Sequence[int], first: int, base: int) -> list[tuple[int, int]]:
    """Return the dimension of each step, and how often it had its turn before.

    A dimension longer than base^(n - 1), and no longer than base^n, has n turns.

    Examples
    --------
    >>> alternating_dimensions((2, 8), 1, 2)
    [(1, 0), (0, 0), (1, 1), (1, 2)]
    """
    turns = [_turns(length - 1, base) + 1 if length > 1 else 0 for length in dims]
    axes = [*range(first, len(dims)), *range(first)]
    return [(axis, turn) for turn in range(max(turns)) for axis in axes if turn < turns[axis]]


def _turns(length: int, base: int) -> int:
    """Return the exponent of the largest power that is no longer."""
    turns = 0
    while base ** (turns + 1) <= length:
        turns += 1
    return turns


def moved_along(dims: tuple[int, ...], axis: int, even: int, odd: int) -> Ranks:
    """Return for each place the one so far along an axis, for even and for odd places.

    Examples
    --------
    >>> moved_along((4,), 0, 1, -1).tolist()
    [1, 0, 3, 2]
    """
    at = np.indices(dims)
    at[axis] = (at[axis] + np.where(at[axis] % 2 == 0, even, odd)) % dims[axis]
    return np.asarray(np.ravel_multi_index(tuple(at), dims), dtype=np.int32).ravel()
