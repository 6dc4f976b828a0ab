"""Parallel planes: switches side by side, which methods see as one.

Problem: all GPUs of a box link to several NVSwitches, perhaps with unequal bandwidths. The traffic
         between two GPUs divides over all of them.
Output:  the topology with parallel switches merged, and *selections*: one switch of each merged
         set, and the share of all traffic over exactly these.
Source:  NVIDIA's NVLink switches are planes of one fabric: addresses spread over all links of a
         GPU, so traffic follows the bandwidth. Colour refinement as in 1-dimensional
         Weisfeiler-Leman.

Switches are parallel if they have the same neighbours, with proportional bandwidths and equal
latencies. Here "same" means up to parallel switches: leaf and spine of one plane are parallel to
leaf and spine of another. They are in one box, and multicast, reduce and store in the same way.

Each real link carries a share of its merged link in proportion to its bandwidth. So a load within
the merged bandwidth is within the real ones, and the rate of a schedule is the same on both. Where
no selections achieve this exactly, switches are not merged. The same holds for switches of which a
shared capacity limits only some links.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import gcd, lcm

from forestcoll.topology.model import Link, NodeKind, SharedCapacity, Topology

__all__ = ["Planes", "Selection", "find_planes"]

_Cut = tuple[Fraction, Fraction, int]
"""An interval of the traffic, and the switch that carries it."""


@dataclass(frozen=True, slots=True)
class Selection:
    """A part of the traffic, over one switch of each set.

    Parameters
    ----------
    share : Fraction
        Share of all traffic.
    node : tuple of int
        Position in the real network, by position in the merged network.
    """

    share: Fraction
    node: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Planes:
    """A network, its version with merged parallel switches, and the map back.

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


@lru_cache(maxsize=4)  # several methods in a row use the same network
def find_planes(topology: Topology) -> Planes:
    """Merge parallel switches.

    Examples
    --------
    >>> from forestcoll.topology import load_topology
    >>> planes = find_planes(load_topology("nvl72:gpus_per_rack=4,planes=3"))
    >>> len(planes.merged.switches), [str(each.share) for each in planes.selections]
    (1, ['1/3', '1/3', '1/3'])
    """
    apart: set[int] = set()  # switches that must not be merged
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
    """Colour the nodes: switches with equally coloured neighbours get equal colours."""
    nodes, number = topology.nodes, dict[Fraction, int]()
    wholes = topology.whole_bandwidths[1]
    latency = [number.setdefault(link.latency_us, len(number)) for link in topology.links]
    is_plane = [node.kind is NodeKind.SWITCH for node in nodes]
    colour = _numbered([_first_colour(topology, v, v in apart) for v in range(len(nodes))])
    while _sets(topology, colour):
        beside: list[dict[tuple[int, int, int], int]] = [{} for _ in nodes]
        for link, whole, late in zip(topology.links, wholes, latency, strict=True):
            for here, there, way in ((link.tail, link.head, 0), (link.head, link.tail, 1)):
                if is_plane[here]:
                    key = way, colour[there], late
                    beside[here][key] = beside[here].get(key, 0) + whole
        finer = _numbered([(colour[v], _in_proportion(beside[v])) for v in range(len(nodes))])
        if max(finer) == max(colour):
            break
        colour = finer
    return colour


def _in_proportion(beside: Mapping[tuple[int, int, int], int]) -> frozenset[object]:
    """Return the bandwidths as least whole numbers: equal for all proportional bandwidths."""
    unit = gcd(*beside.values())
    return frozenset((key, whole // unit) for key, whole in beside.items())


def _first_colour(topology: Topology, position: int, alone: bool) -> object:
    node = topology.nodes[position]
    if alone or node.kind is not NodeKind.SWITCH:
        return position
    return node.box, node.multicast, node.stores, "switch"


def _numbered(colours: Sequence[object]) -> list[int]:
    number: dict[object, int] = {}
    return [number.setdefault(colour, len(number)) for colour in colours]


def _sets(topology: Topology, colour: Sequence[int]) -> dict[int, list[int]]:
    of_colour: dict[int, list[int]] = defaultdict(list)
    for switch in topology.switches:
        of_colour[colour[switch]].append(switch)
    return {one: switches for one, switches in of_colour.items() if len(switches) > 1}


class _Merging:
    """A network with the switches of each set merged; ``place`` maps a node to its merged node."""

    def __init__(
        self, topology: Topology, colour: Sequence[int], sets: Mapping[int, list[int]]
    ) -> None:
        gone = {v for switches in sets.values() for v in switches[1:]}
        kept = [v for v in range(len(topology.nodes)) if v not in gone]
        of_colour = {colour[v]: place for place, v in enumerate(kept)}
        place = [of_colour[one] for one in colour]
        self.topology, self.kept, self.place = topology, kept, place
        self.sets = {of_colour[one]: switches for one, switches in sets.items()}
        self.linked: dict[int, dict[int, int]] = {v: {} for v in range(len(place))}
        for link, whole in zip(topology.links, topology.whole_bandwidths[1], strict=True):
            for here, there in ((link.tail, link.head), (link.head, link.tail)):  # both together
                self.linked[here][there] = self.linked[here].get(there, 0) + whole
        nodes = tuple(topology.nodes[v] for v in kept)
        shared = tuple(
            replace(group, links=self._ends_of(group))
            for group in topology.shared
            if self._ends_of(group)
        )
        self.width: dict[tuple[int, int], int] = {}
        self.merged = topology.like(topology.name, nodes, self._merged_links(), shared=shared)
        self.selections = self._select()

    def _merged_links(self) -> tuple[Link, ...]:
        """Sum the bandwidths, as whole numbers in ``width``, and take the greatest latencies."""
        under, wholes = self.topology.whole_bandwidths
        latency: dict[tuple[int, int], Fraction] = {}
        for link, whole in zip(self.topology.links, wholes, strict=True):
            ends = self.place[link.tail], self.place[link.head]
            if ends[0] != ends[1]:
                self.width[ends] = self.width.get(ends, 0) + whole
                known = latency.setdefault(ends, link.latency_us)
                if link.latency_us is not known and link.latency_us > known:
                    latency[ends] = link.latency_us
        exact = {whole: Fraction(whole, under) for whole in set(self.width.values())}
        return tuple(
            Link(*ends, exact[self.width[ends]], latency[ends]) for ends in sorted(self.width)
        )

    def _ends_of(self, group: SharedCapacity) -> tuple[tuple[int, int], ...]:
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
        """Divide the traffic over a set, then the part of each switch over the next set."""
        total = {v: sum(self.linked[v].values()) for v in self.sets[start]}
        cuts[start] = _divided([(Fraction(0), Fraction(1), total)])
        reached = [start]
        for place in reached:  # the loop body appends to it
            for other in self._beside(place) - cuts.keys():
                cuts[other] = _divided(
                    (low, high, self._onward(switch, other)) for low, high, switch in cuts[place]
                )
                reached.append(other)

    def _beside(self, place: int) -> set[int]:
        return {self.place[v] for one in self.sets[place] for v in self.linked[one]} & {*self.sets}

    def _onward(self, switch: int, place: int) -> dict[int, int]:
        linked = self.linked[switch]
        return {v: linked[v] for v in self.sets[place] if v in linked}

    def unlike(self) -> set[int]:
        """Switches whose merging would give some link a share out of proportion."""
        all_ = lcm(*(one.share.denominator for one in self.selections))
        carried = _carried(self.merged, self.selections, all_)
        between, place = self.merged.link_between, self.place
        wrong: set[int] = set()
        for link, whole in zip(self.topology.links, self.topology.whole_bandwidths[1], strict=True):
            real = link.tail, link.head
            ends = place[link.tail], place[link.head]
            merged = between.get(ends)  # none between parallel switches
            if not (
                merged
                and carried.get(real, 0) * self.width[ends] == whole * all_
                and (merged.latency_us is link.latency_us or merged.latency_us == link.latency_us)
            ):
                wrong.update(*(self.sets.get(end, ()) for end in ends))
        return wrong | self._limited_in_part()

    def _limited_in_part(self) -> set[int]:
        """Switches of merged links with some, but not all, real links in a shared capacity."""
        wrong: set[int] = set()
        for group in self.topology.shared:
            members, merged = set(group.links), set(self._ends_of(group))
            for link in self.topology.links:
                ends = self.place[link.tail], self.place[link.head]
                if ends in merged and (link.tail, link.head) not in members:
                    wrong.update(*(self.sets.get(end, ()) for end in ends))
        return wrong


def _carried(
    merged: Topology, selections: Sequence[Selection], all_: int
) -> dict[tuple[int, int], int]:
    """Return the parts of all traffic over each real link, of so many in all."""
    ends = [(link.tail, link.head) for link in merged.links]
    carried: dict[tuple[int, int], int] = {}
    for one in selections:
        share, node = int(one.share * all_), one.node
        for tail, head in ends:
            real = node[tail], node[head]
            carried[real] = carried.get(real, 0) + share
    return carried


def _divided(parts: Iterable[tuple[Fraction, Fraction, Mapping[int, int]]]) -> list[_Cut]:
    """Divide each part of the traffic over switches in proportion to their weights."""
    found = []
    for low, high, weights in parts:
        each = (high - low) / sum(weights.values())
        for switch, weight in weights.items():
            found.append((low, low + each * weight, switch))
            low += each * weight
    return found
