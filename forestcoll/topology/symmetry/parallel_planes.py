"""Merge parallel planes: switches with proportional links to the same neighbours become one.

Problem: a rack of 18 equal NVSwitches is, for throughput, one switch of 18 times the bandwidth;
         work on the small network and split the result over the planes exactly.
Input:   a topology.
Output:  the merged topology; the share of each plane, and of each real link in its merged link.
Cost:    linear in the links.
Source:  ours. Switches P_1..P_m are parallel if shares s_i > 0 of sum 1 and numbers c, d exist with
         b(u, P_i) = s_i c(u) and b(P_i, u) = s_i d(u) for every node u.

Why it is exact: traffic of the planes fits the merged switch, whose links have the sums of their
bandwidths. Conversely, traffic of the merged switch is split, s_i of it over plane i. Every real
link then gets its share of the load and has the same share of the bandwidth. This holds for every
node that forwards, and for multicast switches. Latencies do not matter: a merged link has the
largest.

Merging once is enough. The links between two merged switches have shares s_i t_j, so that merging
one of them makes no two others parallel that were not so before.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from forestcoll.topology.model import Link, NodeKind, Topology
from forestcoll.topology.shared_capacity import moved

__all__ = ["Planes", "merged_capacities", "merged_planes", "unmerged"]

_ODD = np.uint64(0x9E3779B97F4A7C15)  # 2^64 by the golden ratio


@dataclass(frozen=True, slots=True)
class Planes:
    """A network, and the same with its parallel planes merged.

    Parameters
    ----------
    topology : Topology
        The real network.
    merged : Topology
        GPUs keep their ranks. A merged switch has the name of the first of its planes.
    members : tuple of tuples of int
        For each node of ``merged``, the positions in ``topology`` that it stands for: one, or the
        planes in order.
    node : tuple of int
        For each node of ``topology``, its position in ``merged``.
    share : tuple of Fraction
        For each node of ``topology``, its share of its merged node; those of a node's members add
        up to 1.
    """

    topology: Topology
    merged: Topology
    members: tuple[tuple[int, ...], ...] = field(repr=False)
    node: tuple[int, ...] = field(repr=False)
    share: tuple[Fraction, ...] = field(repr=False)

    @property
    def merged_switches(self) -> tuple[int, ...]:
        """Positions in ``merged`` of the switches that stand for several."""
        return tuple(v for v, members in enumerate(self.members) if len(members) > 1)

    @property
    def is_trivial(self) -> bool:
        """Whether no planes are parallel: both networks are one and the same."""
        return self.merged is self.topology

    def layers(self, kind: Callable[[int], object] = lambda _: None) -> list[list[int]]:
        """Group merged switches of one kind without links to one another.

        Each joins the first such group. So planes are chosen in a group at once, and in one group
        after the other.
        """
        beside: dict[int, set[int]] = {v: set() for v in self.merged_switches}
        for link in self.merged.links:
            if link.tail in beside and link.head in beside:
                beside[link.tail].add(link.head)
                beside[link.head].add(link.tail)
        layers: list[tuple[object, list[int]]] = []
        for v, around in beside.items():
            fits = (row for of, row in layers if of == kind(v) and around.isdisjoint(row))
            if (row := next(fits, None)) is None:
                layers.append((kind(v), [v]))
            else:
                row.append(v)
        return [row for _, row in layers]

    def link_shares(self) -> tuple[tuple[tuple[int, Fraction], ...], ...]:
        """Return for each link of ``merged`` its real links, by place, with their shares.

        The shares of a merged link add up to 1, and each times the merged bandwidth is the real
        one.
        """
        place = {(link.tail, link.head): i for i, link in enumerate(self.merged.links)}
        found: list[list[tuple[int, Fraction]]] = [[] for _ in self.merged.links]
        for i, link in enumerate(self.topology.links):
            merged = place[self.node[link.tail], self.node[link.head]]
            found[merged].append((i, self.share[link.tail] * self.share[link.head]))
        return tuple(map(tuple, found))


def merged_planes(topology: Topology) -> Planes:
    """Merge the switches that have the same neighbours in proportion.

    Only switches of one kind are merged: all of a class multicast or none, and store or none.
    Switches whose links share a capacity with others are not merged.

    Examples
    --------
    >>> from forestcoll.topology import load_topology
    >>> planes = merged_planes(load_topology("nvl72:racks=2"))
    >>> planes.topology.in_a_line(), planes.merged.in_a_line()
    ('nvl72:racks=2: 144 GPUs, 37 switches, 5472 links', \
'nvl72:racks=2: 144 GPUs, 3 switches, 576 links')
    >>> planes.share[planes.members[-2][0]]
    Fraction(1, 18)
    """
    return _merged(_Same(topology))


@dataclass(frozen=True, slots=True, eq=False)
class _Same:
    """A network as a key that equals that very object only: comparing all links is slow."""

    topology: Topology

    def __hash__(self) -> int:
        return id(self.topology)  # the cache keeps the network, so no other has this number

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.topology is other.topology


@lru_cache(maxsize=4)  # a schedule and its bounds use those of the same network
def _merged(same: _Same) -> Planes:
    topology = same.topology
    looks_alike = _candidates(topology)
    classes, unit = _classes(topology, looks_alike) if looks_alike else ([], [])
    if not any(len(planes) > 1 for planes in classes):
        return unmerged(topology)
    node = [0] * len(topology.nodes)
    share = [Fraction(1)] * len(topology.nodes)
    for number, planes in enumerate(classes):
        for plane in planes:
            node[plane] = number
            if len(planes) > 1:
                share[plane] = Fraction(unit[plane], sum(unit[other] for other in planes))
    merged = topology.like(
        topology.name,
        tuple(topology.nodes[planes[0]] for planes in classes),
        _merged_links(topology, node),
        shared=moved(topology.shared, dict(enumerate(node))),
    )
    return Planes(topology, merged, tuple(classes), tuple(node), tuple(share))


def unmerged(topology: Topology) -> Planes:
    """Return the trivial result: every switch is its own class."""
    size = len(topology.nodes)
    members = tuple(zip(range(size), strict=True))
    return Planes(topology, topology, members, tuple(range(size)), (Fraction(1),) * size)


def _candidates(topology: Topology) -> set[int]:
    """Return the switches that may have the same neighbours as another: mostly none, found fast.

    Neighbours are compared by the sums of numbers that look random, modulo 2^64.
    """
    if sum(topology.nodes[v].kind is NodeKind.SWITCH for v in topology.switches) < 2:
        return set()
    tail, head = topology.link_ends
    drawn = np.arange(1, len(topology.nodes) + 1, dtype=np.uint64) * _ODD
    drawn = (drawn ^ drawn >> np.uint64(32)) * _ODD  # of products alone, too many sums are equal
    sums = np.zeros((2, len(topology.nodes)), dtype=np.uint64)
    np.add.at(sums[0], head, drawn[tail])
    np.add.at(sums[1], tail, drawn[head])
    into, out = sums.tolist()
    held = {v for group in topology.shared for ends in group.links for v in ends}
    alike: dict[tuple[int, int], list[int]] = {}
    for v in topology.switches:
        if v not in held and topology.nodes[v].kind is NodeKind.SWITCH and (into[v] or out[v]):
            alike.setdefault((into[v], out[v]), []).append(v)
    return {v for switches in alike.values() if len(switches) > 1 for v in switches}


def _classes(
    topology: Topology, candidates: set[int]
) -> tuple[list[tuple[int, ...]], dict[int, int]]:
    """Return the nodes in classes, by their first members, and the width of candidates in units.

    The unit of a switch is the greatest bandwidth of which all its links are whole multiples:
    parallel planes have the same multiples, each of its own unit.
    """
    around: dict[int, list[tuple[int, bool, int]]] = {v: [] for v in candidates}
    for link, whole in zip(topology.links, topology.whole_bandwidths[1], strict=True):
        if link.tail in around:
            around[link.tail].append((link.head, True, whole))
        if link.head in around:
            around[link.head].append((link.tail, False, whole))
    unit: dict[int, int] = {}
    classes: dict[object, list[int]] = {}
    for v, node in enumerate(topology.nodes):
        key: object = v
        if v in around:
            unit[v] = math.gcd(*(whole for _, _, whole in around[v]))
            links = tuple(sorted((u, out, whole // unit[v]) for u, out, whole in around[v]))
            key = node.multicast, node.stores, links
        classes.setdefault(key, []).append(v)
    return [tuple(planes) for planes in classes.values()], unit


def _merged_links(topology: Topology, node: list[int]) -> tuple[Link, ...]:
    under, widths = topology.whole_bandwidths
    width: dict[tuple[int, int], int] = {}
    latency: dict[tuple[int, int], Fraction] = {}
    for link, whole in zip(topology.links, widths, strict=True):
        ends = node[link.tail], node[link.head]
        width[ends] = width.get(ends, 0) + whole
        known = latency.setdefault(ends, link.latency_us)
        if link.latency_us and link.latency_us > known:
            latency[ends] = link.latency_us
    exact = {whole: Fraction(whole, under) for whole in set(width.values())}
    return tuple(Link(*ends, exact[width[ends]], latency[ends]) for ends in sorted(width))


def merged_capacities(
    planes: Planes, capacity: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64] | None:
    """Return what merged links may carry, the sums over their real links.

    None if some real link may not carry its share, as where floor(U b) is not U b.
    """
    held, found = capacity.tolist(), []
    for parts in planes.link_shares():
        total = sum(held[i] for i, _ in parts)
        if any(held[i] * share.denominator != total * share.numerator for i, share in parts):
            return None
        found.append(total)
    return np.array(found, dtype=np.int64)
