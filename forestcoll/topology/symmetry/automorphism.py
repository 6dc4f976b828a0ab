"""Automorphisms of a network, and the orbits of its nodes and links.

Problem: find permutations of the nodes that keep kinds (GPU, switch, multicast switch),
         bandwidths and shared capacities, and which nodes and links they carry into one another.
Input:   a topology; permutations, if they are known.
Output:  verified generators and the orbits of the group that they generate.
Cost:    a few colour refinements, each O(|E| log |E|) a round, per generator; fewer
         generators than nodes and links. Nodes with the same neighbours need no refinement, and
         two generators a set.
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
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from forestcoll.errors import InvalidParameterError
from forestcoll.topology.model import Topology
from forestcoll.topology.symmetry.line_roots import LineRoot, line_root

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
    graph = _Graph.of(topology)
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
    graph = _Graph.of(topology, marks)
    search = _search(graph, _REFINEMENTS_PER_NODE * graph.nodes, time.monotonic() + seconds)
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


def _twin_moves(graph: _Graph) -> Iterator[tuple[Ints, Ints]]:
    """Yield a swap and a rotation of each set of twins, which together permute it in all ways.

    Twins have links of the same bandwidths from and to the same nodes, as the GPUs of a rack.
    """
    tail, head = graph.ends_of_arcs
    name = _mixed(np.arange(len(graph.kind), dtype=np.uint64))
    beside = np.zeros(len(name), dtype=np.uint64)
    np.add.at(beside, tail, _mixed(name[head] ^ graph.mark))
    np.add.at(beside, head, _mixed(name[tail] ^ ~graph.mark))
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
    search: _Search | _LineSearch,
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

    def __init__(self, search: _Search | _LineSearch) -> None:
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


@dataclass(frozen=True, slots=True)
class _Graph:
    """A network, and for each shared capacity one more node joined to the ends of its links.

    The additional nodes and arcs only guide the refinement. Whether a permutation keeps the
    shared capacities is checked on the sets of links themselves.
    """

    nodes: int
    kind: Ints  # kinds of the nodes, then of the shared capacities
    tail: Ints
    head: Ints
    bandwidth: Ints  # number of its value
    mark: npt.NDArray[np.uint64]  # marks of the arcs: links, then ends of shared links
    ends_of_arcs: tuple[Ints, Ints]
    groups: tuple[tuple[Ints, Fraction], ...]  # places of the links, capacity

    @classmethod
    def of(cls, topology: Topology, marks: Sequence[int] | None = None) -> _Graph:
        number = {(link.tail, link.head): i for i, link in enumerate(topology.links)}
        groups = tuple(
            (np.array([number[ends] for ends in group.links]), group.bandwidth_gb_s)
            for group in topology.shared
        )
        bandwidth = _numbered([link.bandwidth_gb_s for link in topology.links])
        kind = np.array([n.is_switch + n.multicast for n in topology.nodes], dtype=np.int64)
        if marks is not None:
            kind = np.unique(np.stack([kind, marks]), axis=1, return_inverse=True)[1]
        limits = _numbered([limit for _, limit in groups]) + kind.max(initial=0) + 1
        tail = np.array([link.tail for link in topology.links], dtype=np.int64)
        head = np.array([link.head for link in topology.links], dtype=np.int64)
        tails, heads, labels = [tail], [head], [bandwidth]
        for vertex, (places, _) in enumerate(groups, start=len(topology.nodes)):
            there = np.full(len(places), vertex)
            tails += [tail[places], there]
            heads += [there, head[places]]
            labels += [np.full(2 * len(places), len(topology.links))]
        return cls(
            len(topology.nodes),
            np.concatenate([kind, limits]),
            tail,
            head,
            bandwidth,
            _mixed(np.concatenate(labels).astype(np.uint64)),
            (np.concatenate(tails), np.concatenate(heads)),
            groups,
        )

    def root(self) -> tuple[_Graph, LineRoot] | None:
        """Return the root of a line digraph, its arcs labelled by the kinds of the nodes here.

        The root knows no bandwidths of the arcs here, so these must be equal.
        """
        if self.groups or not len(self.tail) or self.bandwidth.any():
            return None
        root = line_root(self.nodes, self.tail, self.head)
        if root is None:
            return None
        tail, head, label = root.tail[root.order], root.head[root.order], self.kind[root.order]
        label = np.unique(label, return_inverse=True)[1].astype(np.int64)
        mark, kind = _mixed(label.astype(np.uint64)), np.zeros(root.vertices, dtype=np.int64)
        graph = _Graph(root.vertices, kind, tail, head, label, mark, (tail, head), ())
        return graph, root

    def ends(self, link: int) -> tuple[int, int]:
        """Return tail and head of a link."""
        return int(self.tail[link]), int(self.head[link])

    def moved_links(self, permutation: Ints) -> Ints | None:
        """Return where each link goes; None if the permutation is not an automorphism."""
        if (self.kind[permutation] != self.kind[: self.nodes]).any():
            return None
        keys = self.tail * self.nodes + self.head  # ascending: links are sorted
        wanted = permutation[self.tail] * self.nodes + permutation[self.head]
        place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        same = (keys[place] == wanted) & (self.bandwidth[place] == self.bandwidth)
        return place if same.all() and self._keeps_groups(place) else None

    def _keeps_groups(self, place: Ints) -> bool:
        """Whether links that go to these places carry shared capacities into equal ones."""
        before = Counter((frozenset(links.tolist()), limit) for links, limit in self.groups)
        after = Counter((frozenset(place[links].tolist()), limit) for links, limit in self.groups)
        return before == after


def _search(graph: _Graph, budget: int, deadline: float) -> _Search | _LineSearch:
    """Return a search on the root of a line digraph, if it is one; the root may be one, too."""
    found = graph.root()
    if found is None:
        return _Search(graph, budget, deadline)
    return _LineSearch(graph, found[1], _search(found[0], budget, deadline))


class _LineSearch:
    """Searches for automorphisms of a line digraph among those of its root."""

    def __init__(self, graph: _Graph, root: LineRoot, search: _Search | _LineSearch) -> None:
        self._graph, self._root, self._search = graph, root, search
        colours = np.stack([search.colours[root.tail], search.colours[root.head], graph.kind])
        self.colours: Ints = np.unique(colours, axis=1, return_inverse=True)[1].astype(np.int64)

    @property
    def is_over(self) -> bool:
        return self._search.is_over

    @property
    def has_failed(self) -> bool:
        return self._search.has_failed

    def signature(self, nodes: tuple[int, ...]) -> int:
        """As :meth:`_Search.signature`, with those ends told from others."""
        return self._search.signature(self._ends(nodes))

    def carrying(self, start: tuple[int, ...], end: tuple[int, ...]) -> tuple[Ints, Ints] | None:
        """As :meth:`_Search.carrying`; a node is the arc of the root with the same two ends."""
        found = self._search.carrying(self._ends(start), self._ends(end))
        if found is None:
            return None
        order = self._root.order
        moved = np.empty_like(order)
        moved[order] = order[found[1]]
        links = self._graph.moved_links(moved)
        return None if links is None else (moved, links)

    def _ends(self, nodes: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(int(of[node]) for node in nodes for of in (self._root.tail, self._root.head))


class _Search:
    """Searches for automorphisms by colour refinement on two copies of the graph."""

    def __init__(self, graph: _Graph, budget: int, deadline: float) -> None:
        self._graph = graph
        self.budget = budget
        self._deadline = deadline
        self.has_failed = False
        self.colours: Ints = self.refined(np.tile(graph.kind, (2, 1)))[0]

    @property
    def is_over(self) -> bool:
        return self.budget <= 0 or time.monotonic() > self._deadline

    def carrying(self, start: tuple[int, ...], end: tuple[int, ...]) -> tuple[Ints, Ints] | None:
        """Return an automorphism of nodes, and of links, that carries each start to its end."""
        fixed = np.tile(self.colours, (2, 1))
        if self.is_over:
            return None
        for one, other in dict.fromkeys(zip(start, end, strict=True)):
            fixed = self._fixed(fixed, one, other)
        found = self._extended(fixed)
        self.has_failed |= found is None
        return found

    def signature(self, nodes: tuple[int, ...]) -> int:
        """Return what every symmetry keeps: all colours, after some nodes were told from others.

        The sum of hashes of all marks; equal sums of others would only cost a search.
        """
        colours = self.colours.copy()
        for place, node in enumerate(nodes):
            colours[node] = len(colours) + place
        return int(_mixed(self._marks(colours[None])[0]).sum())

    def refined(self, colours: Ints) -> Ints:
        """Split colours by those of the neighbours, until they stay; both copies alike."""
        marks = self._marks(colours)
        return np.unique(marks, return_inverse=True)[1].reshape(colours.shape).astype(np.int64)

    def _marks(self, colours: Ints) -> npt.NDArray[np.uint64]:
        """Return refined colours of some copies as hashes, which no order of the nodes changes."""
        self.budget -= 1
        (tail, head), mark_of, count = self._graph.ends_of_arcs, self._graph.mark, 0
        mark = np.ascontiguousarray(colours).view(np.uint64)
        while (found := _distinct(mark)) > count:
            count = found
            mixed = _mixed(mark)
            mark = mixed.copy()
            for copy in range(len(mark)):
                sums = np.zeros(mark.shape[1], dtype=np.uint64)
                np.add.at(sums, tail, _mixed(mixed[copy, head] ^ mark_of))
                np.add.at(sums, head, _mixed(mixed[copy, tail] ^ ~mark_of))
                mark[copy] += _mixed(sums)
        return mark

    def _fixed(self, colours: Ints, one: int, other: int) -> Ints:
        """Colour a node of the first copy and one of the second anew, and refine."""
        colours = colours.copy()
        colours[0, one] = colours[1, other] = colours.max() + 1
        return self.refined(colours)

    def _extended(self, colours: Ints) -> tuple[Ints, Ints] | None:
        proposal = _proposal(colours)
        if proposal is None:
            return None
        moved = proposal[: self._graph.nodes]
        links = self._graph.moved_links(moved)
        if links is not None:
            return moved, links
        counts = np.bincount(colours[0])
        if counts.max() == 1:
            return None
        cell = int(np.argmax(counts > 1))
        one = int(np.flatnonzero(colours[0] == cell)[0])
        others = np.flatnonzero(colours[1] == cell).tolist()
        for other in sorted(others, key=lambda node: node != one):
            if self.is_over:
                return None
            found = self._extended(self._fixed(colours, one, other))
            if found is not None:
                return found
        return None


def _proposal(colours: Ints) -> Ints | None:
    """Map the first copy to the second: nodes of one colour to themselves, the others in order."""
    first, second = colours
    permutation = np.arange(len(first))
    free = np.flatnonzero(first != second)
    sources = free[np.argsort(first[free], kind="stable")]
    targets = free[np.argsort(second[free], kind="stable")]
    if (first[sources] != second[targets]).any():
        return None
    permutation[sources] = targets
    return permutation


def _numbered(values: Sequence[Fraction]) -> Ints:
    """Number values in ascending order; equal ones have equal numbers."""
    pairs = [value.as_integer_ratio() for value in values]
    number = {pair: i for i, pair in enumerate(sorted(set(pairs)))}
    return np.array([number[pair] for pair in pairs], dtype=np.int64)


def _distinct(values: npt.NDArray[np.uint64]) -> int:
    ordered = np.sort(values, axis=None)
    return int((ordered[1:] != ordered[:-1]).sum()) + 1


def _mixed(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Spread 64-bit numbers over all bits (the finaliser of splitmix64)."""
    values = values + np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def _orbits(graph: _Graph, moves: Sequence[tuple[Ints, Ints]]) -> Orbits:
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
