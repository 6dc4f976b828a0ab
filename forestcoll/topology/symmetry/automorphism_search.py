"""Search for an automorphism that carries some nodes to others, by colour refinement.

Problem: find a permutation of the nodes that keeps kinds, bandwidths and shared capacities, and
         carries each of some nodes to another.
Input:   a network as a graph, with a node for each shared capacity.
Output:  a checked automorphism, of nodes and of links; None if none was found.
Cost:    a few colour refinements, each O(|E| log |E|) a round.
Source:  as :mod:`forestcoll.topology.symmetry.automorphism`, which merges orbits by these searches.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from forestcoll.topology.model import Topology
from forestcoll.topology.symmetry.line_roots import LineRoot, line_root

__all__ = ["LabelledGraph", "LineSearch", "RefinementSearch", "Search", "search_on", "spread"]

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class LabelledGraph:
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
    def of(cls, topology: Topology, marks: Sequence[int] | None = None) -> LabelledGraph:
        """Return the graph of a network whose nodes may have marks that symmetries keep."""
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
            spread(np.concatenate(labels).astype(np.uint64)),
            (np.concatenate(tails), np.concatenate(heads)),
            groups,
        )

    def root(self) -> tuple[LabelledGraph, LineRoot] | None:
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
        mark, kind = spread(label.astype(np.uint64)), np.zeros(root.vertices, dtype=np.int64)
        graph = LabelledGraph(root.vertices, kind, tail, head, label, mark, (tail, head), ())
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


def search_on(graph: LabelledGraph, budget: int, deadline: float) -> Search:
    """Return a search on the root of a line digraph, if it is one; the root may be one, too."""
    found = graph.root()
    if found is None:
        return RefinementSearch(graph, budget, deadline)
    return LineSearch(graph, found[1], search_on(found[0], budget, deadline))


class LineSearch:
    """Searches for automorphisms of a line digraph among those of its root."""

    def __init__(self, graph: LabelledGraph, root: LineRoot, search: Search) -> None:
        self._graph, self._root, self._search = graph, root, search
        colours = np.stack([search.colours[root.tail], search.colours[root.head], graph.kind])
        self.colours: Ints = np.unique(colours, axis=1, return_inverse=True)[1].astype(np.int64)

    @property
    def is_over(self) -> bool:
        """Whether the time or the budget is used up."""
        return self._search.is_over

    @property
    def has_failed(self) -> bool:
        """Whether some search found nothing."""
        return self._search.has_failed

    def signature(self, nodes: tuple[int, ...]) -> int:
        """As :meth:`RefinementSearch.signature`, with those ends told from others."""
        return self._search.signature(self._ends(nodes))

    def carrying(self, start: tuple[int, ...], end: tuple[int, ...]) -> tuple[Ints, Ints] | None:
        """As :meth:`RefinementSearch.carrying`; a node is the root's arc with the same two ends."""
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


class RefinementSearch:
    """Searches for automorphisms by colour refinement on two copies of the graph."""

    def __init__(self, graph: LabelledGraph, budget: int, deadline: float) -> None:
        self._graph = graph
        self.budget = budget
        self._deadline = deadline
        self.has_failed = False
        self.colours: Ints = self.refined(np.tile(graph.kind, (2, 1)))[0]

    @property
    def is_over(self) -> bool:
        """Whether the time or the budget is used up."""
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
        return int(spread(self._marks(colours[None])[0]).sum())

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
            hashes = spread(mark)
            mark = hashes.copy()
            for copy in range(len(mark)):
                sums = np.zeros(mark.shape[1], dtype=np.uint64)
                np.add.at(sums, tail, spread(hashes[copy, head] ^ mark_of))
                np.add.at(sums, head, spread(hashes[copy, tail] ^ ~mark_of))
                mark[copy] += spread(sums)
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


Search = RefinementSearch | LineSearch


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


def spread(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Spread 64-bit numbers over all bits (the finaliser of splitmix64)."""
    values = values + np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
