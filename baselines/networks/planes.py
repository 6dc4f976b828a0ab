"""Parallel planes: switches side by side, which methods see as one.

Problem: a box has several NVSwitches that all its GPUs are linked to, as many links to one as to
         another or not; what one GPU sends to another goes over all of them.
Input:   a topology.
Output:  the topology with parallel switches merged, and *selections*: one switch of each merged
         set, and the share of all traffic that goes over just these.
Cost:    a few passes over the links.
Source:  NVIDIA's NVLink switches are planes of one fabric: addresses are spread over all links of a
         GPU, so traffic follows the bandwidth. Refinement as of 1-dimensional Weisfeiler-Leman.

Switches are parallel if each has the same neighbours, at bandwidths in one proportion throughout
and of the same latency, where "same" holds up to parallel switches: leaf and spine of one plane are
parallel to leaf and spine of another. They are in one box, and copy, add and store alike.

Over each link goes the share of its merged link that is its part of that one's bandwidth. So a
load that fits the merged link fits the links, and the rate of a schedule is the same before and
after. Where no selections do so exactly, switches stay as they are, and so do those of which a
shared capacity limits some links only.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from forestcoll.topology.model import Link, NodeKind, SharedCapacity, Topology

__all__ = ["Planes", "Selection", "find_planes"]

_Cut = tuple[Fraction, Fraction, int]
"""From one part of the traffic to another, and the switch that it goes over."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Part of the traffic, which goes over one switch of each set.

    Parameters
    ----------
    share : Fraction
        Of all traffic.
    node : tuple of int
        By position in the merged network: the position in the network itself.
    """

    share: Fraction
    node: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Planes:
    """A network, the same with parallel switches merged, and the way back.

    Parameters
    ----------
    topology, merged : Topology
        The same object where no switches are parallel.
    selections : tuple of Selection
        Their shares add up to one.
    """

    topology: Topology
    merged: Topology
    selections: tuple[Selection, ...] = field(repr=False)


@lru_cache(maxsize=4)  # several methods ask for those of one network, one after the other
def find_planes(topology: Topology) -> Planes:
    """Merge parallel switches.

    Examples
    --------
    >>> from forestcoll.topology import load_topology
    >>> planes = find_planes(load_topology("nvl72:gpus_per_rack=4,planes=3"))
    >>> len(planes.merged.switches), [str(each.share) for each in planes.selections]
    (1, ['1/3', '1/3', '1/3'])
    """
    apart: set[int] = set()  # switches that are like no other
    while True:
        colour = _refined(topology, apart)
        sets = _sets(topology, colour)
        if not sets:
            same = Selection(Fraction(1), tuple(range(len(topology.nodes))))
            return Planes(topology, topology, (same,))
        found = _Merging(topology, colour, sets)
        unlike = found.unlike()
        if not unlike:
            return Planes(topology, found.merged, found.selections)
        apart |= unlike


def _refined(topology: Topology, apart: set[int]) -> list[int]:
    """Colour the nodes: equal colours for switches whose neighbours are of equal colours."""
    total = [
        inwards + outwards
        for inwards, outwards in zip(topology.ingress_gb_s, topology.egress_gb_s, strict=True)
    ]
    colour = _numbered([_first_colour(topology, v, v in apart) for v in range(len(total))])
    while _sets(topology, colour):
        beside: list[dict[object, Fraction]] = [defaultdict(Fraction) for _ in total]
        for link in topology.links:
            for here, there, way in ((link.tail, link.head, 0), (link.head, link.tail, 1)):
                if topology.nodes[here].kind is NodeKind.SWITCH:
                    key = way, colour[there], link.latency_us
                    beside[here][key] += link.bandwidth_gb_s / total[here]
        finer = _numbered([(colour[v], frozenset(beside[v].items())) for v in range(len(total))])
        if max(finer) == max(colour):
            break
        colour = finer
    return colour


def _first_colour(topology: Topology, position: int, alone: bool) -> object:
    node = topology.nodes[position]
    if alone or node.kind is not NodeKind.SWITCH:
        return position
    return node.box, node.multicast, node.stores, "switch"


def _numbered(colours: Sequence[object]) -> list[int]:
    number: dict[object, int] = {}
    return [number.setdefault(colour, len(number)) for colour in colours]


def _sets(topology: Topology, colour: Sequence[int]) -> dict[int, list[int]]:
    """The sets of several parallel switches, by colour."""
    of_colour: dict[int, list[int]] = defaultdict(list)
    for switch in topology.switches:
        of_colour[colour[switch]].append(switch)
    return {one: switches for one, switches in of_colour.items() if len(switches) > 1}


class _Merging:
    """A network with the switches of each set merged; ``place`` is where a node is in that."""

    def __init__(
        self, topology: Topology, colour: Sequence[int], sets: Mapping[int, list[int]]
    ) -> None:
        gone = {v for switches in sets.values() for v in switches[1:]}
        kept = [v for v in range(len(topology.nodes)) if v not in gone]
        of_colour = {colour[v]: place for place, v in enumerate(kept)}
        place = [of_colour[one] for one in colour]
        self.topology, self.kept, self.place = topology, kept, place
        self.sets = {of_colour[one]: switches for one, switches in sets.items()}
        self.linked: dict[int, dict[int, Fraction]] = {v: {} for v in range(len(place))}
        for link in topology.links:  # both ways together
            for here, there in ((link.tail, link.head), (link.head, link.tail)):
                known = self.linked[here].get(there, Fraction(0))
                self.linked[here][there] = known + link.bandwidth_gb_s
        links = [
            Link(place[e.tail], place[e.head], e.bandwidth_gb_s, e.latency_us)
            for e in topology.links
            if place[e.tail] != place[e.head]
        ]
        nodes = tuple(topology.nodes[v] for v in kept)
        shared = tuple(
            replace(group, links=self._ends_of(group))
            for group in topology.shared
            if self._ends_of(group)
        )
        self.merged = Topology(topology.name, nodes, tuple(links), shared)
        self.selections = self._select()

    def _ends_of(self, group: SharedCapacity) -> tuple[tuple[int, int], ...]:
        """The merged links of a shared capacity."""
        ends = {(self.place[tail], self.place[head]) for tail, head in group.links}
        return tuple(sorted((tail, head) for tail, head in ends if tail != head))

    def _select(self) -> tuple[Selection, ...]:
        """Cut the traffic wherever the switch of some set changes."""
        cuts: dict[int, list[_Cut]] = {}
        for place in self.sets:
            if place not in cuts:
                self._cut_from(place, cuts)
        ends = {end for parts in cuts.values() for low, high, _ in parts for end in (low, high)}
        selections = []
        for low, high in pairwise(sorted(ends)):
            node = list(self.kept)
            for place, parts in cuts.items():
                node[place] = next(v for start, end, v in parts if start <= low < end)
            selections.append(Selection(high - low, tuple(node)))
        return tuple(selections)

    def _cut_from(self, start: int, cuts: dict[int, list[_Cut]]) -> None:
        """Divide the traffic over a set, and what goes over each of its switches over the next."""
        total = {v: sum(self.linked[v].values(), Fraction(0)) for v in self.sets[start]}
        cuts[start] = _divided([(Fraction(0), Fraction(1), total)])
        reached = [start]
        for place in reached:  # grows on the way
            for other in self._beside(place) - cuts.keys():
                cuts[other] = _divided(
                    (low, high, self._onward(switch, other)) for low, high, switch in cuts[place]
                )
                reached.append(other)

    def _beside(self, place: int) -> set[int]:
        return {self.place[v] for one in self.sets[place] for v in self.linked[one]} & {*self.sets}

    def _onward(self, switch: int, place: int) -> dict[int, Fraction]:
        linked = self.linked[switch]
        return {v: linked[v] for v in self.sets[place] if v in linked}

    def unlike(self) -> set[int]:
        """Switches that are not to be merged, lest some link get another share than its part."""
        carried: dict[tuple[int, int], Fraction] = defaultdict(Fraction)
        for one in self.selections:
            for link in self.merged.links:
                carried[one.node[link.tail], one.node[link.head]] += one.share
        wrong: set[int] = set()
        for link in self.topology.links:
            ends = self.place[link.tail], self.place[link.head]
            merged = self.merged.link_between.get(ends)  # none between parallel switches
            part = merged and link.bandwidth_gb_s / merged.bandwidth_gb_s
            if not (
                merged
                and carried[link.tail, link.head] == part
                and merged.latency_us == link.latency_us
            ):
                wrong.update(*(self.sets.get(end, ()) for end in ends))
        return wrong | self._limited_in_part()

    def _limited_in_part(self) -> set[int]:
        """Switches of merged links of which a shared capacity holds some and not all."""
        wrong: set[int] = set()
        for group in self.topology.shared:
            members, merged = set(group.links), set(self._ends_of(group))
            for link in self.topology.links:
                ends = self.place[link.tail], self.place[link.head]
                if ends in merged and (link.tail, link.head) not in members:
                    wrong.update(*(self.sets.get(end, ()) for end in ends))
        return wrong


def _divided(parts: Iterable[tuple[Fraction, Fraction, Mapping[int, Fraction]]]) -> list[_Cut]:
    """Divide each part of the traffic over switches in proportion to their weights."""
    found = []
    for low, high, weights in parts:
        each = (high - low) / sum(weights.values(), Fraction(0))
        for switch, weight in weights.items():
            found.append((low, low + each * weight, switch))
            low += each * weight
    return found
