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
from math import lcm
from typing import Any

import numpy as np
import numpy.typing as npt

from forestcoll.schedule.exact_sums import exact
from forestcoll.topology.link_columns import LinkColumns
from forestcoll.topology.model import Link, NodeKind, SharedCapacity, Topology

__all__ = ["Planes", "Selection", "find_planes"]

_Ints = npt.NDArray[Any]

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
    colour = _numbered([_first_colour(topology, v, v in apart) for v in range(len(topology.nodes))])
    ports = _Ports.of(topology) if _sets(topology, colour) else None
    while ports and _sets(topology, colour):
        beside = ports.beside(np.array(colour))
        finer = _numbered([(colour[v], beside.get(v)) for v in range(len(colour))])
        if max(finer) == max(colour):
            break
        colour = finer
    return colour


@dataclass(frozen=True, slots=True)
class _Ports:
    """Links at switches, each at both of its ends that are one.

    Parameters
    ----------
    here, there : int arrays
        The switch and its neighbour.
    kind : int64 array
        A number for the direction and the latency.
    whole : int64 or object array
        The bandwidth.
    """

    here: _Ints
    there: _Ints
    kind: _Ints
    whole: _Ints

    @classmethod
    def of(cls, topology: Topology) -> _Ports:
        columns = topology.columns
        is_plane = np.array([node.kind is NodeKind.SWITCH for node in topology.nodes])
        here = np.append(columns.tail, columns.head)
        at = np.flatnonzero(is_plane[here])
        late = _latencies(columns)[columns.kind]
        return cls(
            here[at],
            np.append(columns.head, columns.tail)[at],
            np.append(2 * late, 2 * late + 1)[at],
            np.tile(_wholes(topology), 2)[at],
        )

    def beside(self, colour: _Ints) -> dict[int, object]:
        """Return the neighbours of each switch by colour and kind, with their bandwidths.

        These are least whole numbers: equal for all proportional bandwidths.
        """
        kinds = int(self.kind.max(initial=0)) + 1
        most = kinds * (int(colour.max()) + 1)
        key = self.here.astype(np.int64) * most + colour[self.there] * kinds + self.kind
        found, which = np.unique(key, return_inverse=True)
        width = _added(which, self.whole, len(found))
        switch, first, count = np.unique(found // most, return_index=True, return_counts=True)
        if not len(switch):
            return {}
        width = width // np.repeat(np.gcd.reduceat(width, first), count)
        rows = np.split(np.stack([found % most, width], axis=1), first[1:])
        return {
            v: tuple(row.ravel().tolist()) for v, row in zip(switch.tolist(), rows, strict=True)
        }


def _wholes(topology: Topology) -> _Ints:
    """Return the bandwidths in whole numbers, in a type in which they add up exactly."""
    columns = topology.columns
    wholes = np.array(columns.whole_bandwidths()[1], dtype=object)
    return exact(wholes, 2 * len(columns))[columns.kind]


def _latencies(columns: LinkColumns) -> _Ints:
    """Return the place of the latency of each kind of link, in ascending order."""
    place = {late: i for i, late in enumerate(sorted({late for _, late in columns.kinds}))}
    return np.array([place[late] for _, late in columns.kinds], dtype=np.int64)


def _added(which: _Ints, amounts: _Ints, size: int) -> _Ints:
    total = np.zeros(size, dtype=amounts.dtype)
    np.add.at(total, which, amounts)
    return total


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
        self.whole = _wholes(topology)
        shared = tuple(
            replace(group, links=self._ends_of(group))
            for group in topology.shared
            if self._ends_of(group)
        )
        self._merge_links()
        nodes = tuple(topology.nodes[v] for v in kept)
        self.merged = topology.like(topology.name, nodes, self._links(), shared=shared)
        self.linked = self._linked()
        self.selections = self._select()

    def _merge_links(self) -> None:
        """Sum the bandwidths, as whole numbers, and take the greatest latencies.

        ``link`` is the merged link of each real link, or their number for a link between parallel
        switches.
        """
        columns, size = self.topology.columns, len(self.kept)
        place = np.array(self.place)
        near, far = place[columns.tail], place[columns.head]
        across = np.flatnonzero(near != far)
        key, which = np.unique(near[across] * size + far[across], return_inverse=True)
        self.link = np.full(len(columns), len(key))
        self.link[across] = which
        self.near, self.far = key // size, key % size
        self.width = _added(which, self.whole[across], len(key))
        self.late = _latencies(columns)[columns.kind]
        self.latest = np.zeros(len(key), dtype=np.int64)
        np.maximum.at(self.latest, which, self.late[across])

    def _links(self) -> tuple[Link, ...]:
        columns = self.topology.columns
        under = columns.whole_bandwidths()[0]
        bandwidth = {whole: Fraction(whole, under) for whole in set(self.width.tolist())}
        latency = sorted({late for _, late in columns.kinds})
        return tuple(
            Link(near, far, bandwidth[whole], latency[late])
            for near, far, whole, late in zip(
                *(each.tolist() for each in (self.near, self.far, self.width, self.latest)),
                strict=True,
            )
        )

    def _linked(self) -> dict[int, dict[int, int]]:
        """Return the bandwidths between switches of sets, both ways together."""
        columns = self.topology.columns
        linked: dict[int, dict[int, int]] = {v: {} for row in self.sets.values() for v in row}
        in_sets = np.zeros(len(self.place), dtype=np.bool_)
        in_sets[list(linked)] = True
        for link in np.flatnonzero(in_sets[columns.tail] & in_sets[columns.head]).tolist():
            ends, whole = (int(columns.tail[link]), int(columns.head[link])), int(self.whole[link])
            for here, there in (ends, ends[::-1]):
                linked[here][there] = linked[here].get(there, 0) + whole
        return linked

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
        columns = self.topology.columns
        ends = np.append(columns.tail, columns.head)
        at = _added(ends, np.tile(self.whole, 2), len(self.place))
        total = {v: int(at[v]) for v in self.sets[start]}
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
        columns = self.topology.columns
        # A real link carries at most all traffic.
        exact_type = exact(np.append(self.width, self.whole), all_).dtype
        width = np.append(self.width, 0).astype(exact_type)
        carried = self._carried(all_).astype(exact_type)
        # A link between parallel switches is of no merged link, and so of width 0.
        wide = carried * width[self.link] == self.whole.astype(exact_type) * all_
        wrong = np.flatnonzero(~(wide & (np.append(self.latest, 0)[self.link] == self.late)))
        ends = {*columns.tail[wrong].tolist(), *columns.head[wrong].tolist()}
        merged = {self.place[end] for end in ends} & self.sets.keys()
        return {v for place in merged for v in self.sets[place]} | self._limited_in_part()

    def _carried(self, all_: int) -> _Ints:
        """Return the parts of all traffic over each real link, of so many in all."""
        columns, size = self.topology.columns, len(self.place)
        known = columns.tail.astype(np.int64) * size + columns.head  # sorted, as the links are
        carried = np.zeros(len(known), dtype=np.int64 if all_ < 2**63 else object)
        for one in self.selections:
            node = np.array(one.node)
            key = node[self.near] * size + node[self.far]
            at = np.minimum(np.searchsorted(known, key), len(known) - 1)
            carried[at[known[at] == key]] += int(one.share * all_)
        return carried

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


def _divided(parts: Iterable[tuple[Fraction, Fraction, Mapping[int, int]]]) -> list[_Cut]:
    """Divide each part of the traffic over switches in proportion to their weights."""
    found = []
    for low, high, weights in parts:
        each = (high - low) / sum(weights.values())
        for switch, weight in weights.items():
            found.append((low, low + each * weight, switch))
            low += each * weight
    return found
