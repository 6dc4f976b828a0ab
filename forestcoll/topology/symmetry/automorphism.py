"""Automorphisms of a network, and the orbits of its nodes and links.

Problem: find permutations of the nodes that keep kinds (GPU, switch, multicast switch),
         bandwidths and shared capacities, and which nodes and links they carry into one another.
Input:   a topology; permutations, if they are known.
Output:  verified generators and the orbits of the group that they generate.
Cost:    a few colour refinements (:mod:`forestcoll.topology.symmetry.automorphism_search`) per
         generator; fewer generators than nodes and links. Nodes with the same neighbours need no
         refinement, and two generators a set.
         Line digraphs are searched as their roots (:mod:`forestcoll.topology.symmetry.line_roots`).
Source:  colour refinement with individualisation, as in tools for graph isomorphism. Refinement
         only proposes permutations; every one is checked link by link, so a group found is a group,
         though it may be smaller than the whole one. Colours are compared by 64-bit hashes: a
         collision could only make a proposal fail. Latencies are ignored. Not pynauty (over a
         minute for two MI250 boxes) or igraph (four times as long for racks), which are also GPL
         (docs/architecture.md).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from forestcoll.errors import InvalidParameterError
from forestcoll.topology.model import Topology
from forestcoll.topology.symmetry.automorphism_search import (
    LabelledGraph,
    Search,
    search_on,
    spread,
)

__all__ = ["Orbits", "check_orbits", "find_orbits", "no_symmetry", "orbits_under"]

Ints = npt.NDArray[np.int64]

_REFINEMENTS_PER_NODE = (
    10  # budget of a search: a regular graph without symmetry might take very long
)


@dataclass(frozen=True, slots=True)
class Orbits:
    """Classes of nodes and links that a group of automorphisms carries into one another.

    Parameters
    ----------
    node : int array, one entry a node
        Orbits are numbered from 0, in the order of their first members.
    link : int array, one entry a link of ``topology.links``
    generators : tuple of int arrays
        Node v goes to ``generator[v]``.
    """

    node: Ints
    link: Ints
    generators: tuple[Ints, ...] = field(repr=False)


def no_symmetry(topology: Topology) -> Orbits:
    """Return the orbits of the group that moves nothing: each node and link by itself."""
    return Orbits(np.arange(len(topology.nodes)), np.arange(len(topology.links)), ())


def orbits_under(topology: Topology, generators: Sequence[Sequence[int] | Ints]) -> Orbits:
    """Return the orbits of the group that given automorphisms generate.

    Raises InvalidParameterError if one is no permutation of the nodes, or does not keep their
    kinds, the bandwidths and the shared capacities.
    """
    graph = LabelledGraph.of(topology)
    moves = []
    for number, given in enumerate(generators):
        permutation = np.asarray(given, dtype=np.int64)
        nodes = np.arange(graph.nodes)
        links = None
        if permutation.shape == nodes.shape and (np.sort(permutation) == nodes).all():
            links = graph.moved_links(permutation)
        if links is None:
            raise InvalidParameterError(
                f"generator {number} is not an automorphism of {topology.name}: it must "
                f"permute the "
                f"nodes and keep their kinds, every bandwidth and shared capacity"
            )
        moves.append((permutation, links))
    return _orbits(graph, moves)


def check_orbits(topology: Topology, orbits: Orbits) -> None:
    """Check that orbits are those of their generators on this network.

    Raises InvalidParameterError if a generator is not an automorphism of the network, or joins
    other nodes or links.
    """
    known = orbits_under(topology, orbits.generators)
    if not (np.array_equal(known.node, orbits.node) and np.array_equal(known.link, orbits.link)):
        raise InvalidParameterError(
            f"the orbits are not those of {topology.name}: their generators join "
            f"{_counted(known)} there, they claim {_counted(orbits)}; use find_orbits(topology)"
        )


def _counted(orbits: Orbits) -> str:
    nodes, links = len(np.unique(orbits.node)), len(np.unique(orbits.link))
    return f"{len(orbits.node)} nodes and {len(orbits.link)} links in {nodes} and {links} orbits"


def find_orbits(
    topology: Topology,
    seconds: float = math.inf,
    *,
    of_links: bool = True,
    marks: Sequence[int] | None = None,
) -> Orbits:
    """Search for automorphisms and return the orbits of those that were found.

    Parameters
    ----------
    seconds : float
        Time limit of the search.
    of_links : bool
        Whether to continue with the orbits of links once those of nodes are settled.
    marks : sequence of int, optional
        A number for each node, which automorphisms must keep, too.

    Examples
    --------
    All nodes of a ring of GPUs are symmetric, and so are all its links, of both directions.

    >>> from forestcoll.topology import load_topology
    >>> orbits = find_orbits(load_topology("ring:nodes=5"))
    >>> int(orbits.node.max()) + 1, int(orbits.link.max()) + 1
    (1, 1)
    """
    graph = LabelledGraph.of(topology, marks)
    search = search_on(graph, _REFINEMENTS_PER_NODE * graph.nodes, time.monotonic() + seconds)
    colours = search.colours
    moves = list(_twin_moves(graph))
    _merge(moves, 0, colours[: graph.nodes], colours, search, lambda node: (node,))
    if of_links:
        ends = np.stack([colours[graph.tail], colours[graph.head], graph.bandwidth])
        _, alike = np.unique(ends, axis=1, return_inverse=True)
        orbit = _joined(graph.nodes, [nodes for nodes, _ in moves])
        _merge(
            moves, 1, alike, orbit[graph.tail] * graph.nodes + orbit[graph.head], search, graph.ends
        )
    return _orbits(graph, moves)


def _twin_moves(graph: LabelledGraph) -> Iterator[tuple[Ints, Ints]]:
    """Yield a swap and a rotation of each set of twins, which together permute it in all ways.

    Twins have links of the same bandwidths from and to the same nodes, as the GPUs of a rack.
    """
    tail, head = graph.ends_of_arcs
    name = spread(np.arange(len(graph.kind), dtype=np.uint64))
    beside = np.zeros(len(name), dtype=np.uint64)
    np.add.at(beside, tail, spread(name[head] ^ graph.mark))
    np.add.at(beside, head, spread(name[tail] ^ ~graph.mark))
    twins: dict[tuple[int, int], list[int]] = {}
    for node in range(graph.nodes):
        twins.setdefault((int(graph.kind[node]), int(beside[node])), []).append(node)
    for nodes in (nodes for nodes in twins.values() if len(nodes) > 1):
        for some in (nodes[:2], nodes)[len(nodes) == 2 :]:
            permutation = np.arange(graph.nodes)
            permutation[some] = np.roll(some, -1)
            links = graph.moved_links(permutation)
            if links is not None:
                yield permutation, links


def _merge(
    moves: list[tuple[Ints, Ints]],
    kind: int,
    alike: Ints,
    orbits_of_ends: Ints,
    search: Search,
    ends: Callable[[int], tuple[int, ...]],
) -> None:
    """Add moves until no two orbits of nodes (kind 0) or links (1) that look alike are known to be.

    ``alike`` numbers the classes within which it is worth a try, and of these only members whose
    ends are in equal orbits; ``ends`` gives the nodes that must be carried to those of another
    member, in this order.
    """
    orbit = _joined(len(alike), [move[kind] for move in moves])
    for number in range(int(alike.max()) + 1):
        apart: dict[int, _Apart] = {}
        known: set[int] = set()  # the orbits of those apart
        for member in np.flatnonzero(alike == number).tolist():
            if search.is_over:
                return
            if int(orbit[member]) in known:
                continue
            there = ends(member)
            rivals = apart.setdefault(int(orbits_of_ends[member]), _Apart(search))
            tries = (search.carrying(first, there) for first in rivals.of(there))
            found = next(filter(None, tries), None)
            if found is None:
                rivals.add(there)
                known.add(int(orbit[member]))
            else:
                moves.append(found)
                before = orbit
                orbit = _joined_by(orbit, found[kind])
                is_known = np.zeros(len(before), dtype=bool)
                is_known[list(known)] = True
                known = set(orbit[is_known[before]].tolist())


class _Apart:
    """Members of a class, of which no two are known to be carried to one another.

    All pairs of a regular graph without symmetries look alike and fail. So after the first failure
    of a search only members of equal signatures are tried: one refinement a member, not a pair.
    """

    def __init__(self, search: Search) -> None:
        self._search = search
        self._unsigned: list[tuple[int, ...]] = []
        self._signed: dict[int, list[tuple[int, ...]]] = {}

    def of(self, ends: tuple[int, ...]) -> list[tuple[int, ...]]:
        """Return the ends of the members that may be carried to these."""
        if not self._search.has_failed:
            return self._unsigned
        if not (self._unsigned or self._signed):
            return []
        for one in self._unsigned:
            self._signed.setdefault(self._search.signature(one), []).append(one)
        self._unsigned = []
        return self._signed.get(self._search.signature(ends), [])

    def add(self, ends: tuple[int, ...]) -> None:
        """Add a member that none can be carried to."""
        self._unsigned.append(ends)


def _orbits(graph: LabelledGraph, moves: Sequence[tuple[Ints, Ints]]) -> Orbits:
    return Orbits(
        _joined(graph.nodes, [nodes for nodes, _ in moves]),
        _joined(len(graph.tail), [links for _, links in moves]),
        tuple(nodes for nodes, _ in moves),
    )


def _joined(size: int, permutations: Sequence[Ints]) -> Ints:
    """Number the classes that permutations of 0 to size - 1 join, by their first members."""
    orbit = np.arange(size)
    for permutation in permutations:
        orbit = _joined_by(orbit, permutation)
    return orbit


def _joined_by(orbit: Ints, permutation: Ints) -> Ints:
    """Join the classes of nodes with those of where they go; number them by their first members.

    Each class is put under the least that it meets, until all that meet are under the same one.
    """
    below = np.arange(int(orbit.max(initial=-1)) + 1)
    start, end = orbit, orbit[permutation]
    while (start != end).any():
        np.minimum.at(below, np.maximum(start, end), np.minimum(start, end))
        while (below[below] != below).any():
            below = below[below]
        start, end = below[start], below[end]
    number = np.cumsum(below == np.arange(len(below))) - 1  # of those that are under themselves
    return number[below[orbit]].astype(np.int64)
