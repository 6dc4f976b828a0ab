"""Networks of two tiers: boxes of GPUs around a switch, and ports from the boxes to hubs.

Problem: recognise a cluster of boxes, racks or leaf switches, whatever its nodes are called.
Input:   a topology without parallel planes (:func:`..symmetry.parallel_planes.merged_planes`).
Output:  the box of each GPU, its switch, and the ports between boxes and hubs; None if the network
         is another.
Cost:    a pass over the links.
Source:  ours. A hub is a switch next to GPUs, or switches, of several boxes; without the hubs each
         box is one switch with its GPUs, or a GPU alone.

A port is a GPU (with its NIC) or the switch of a box (the uplink of a leaf), with the bandwidth to
and from one hub. Hubs are not linked to each other: a box reaches another over any hub at which
both have a port.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from fractions import Fraction

from forestcoll.topology.model import NodeKind, Topology

__all__ = ["Port", "TwoTiers", "two_tiers"]

_Beside = dict[int, dict[int, list[Fraction]]]
"""For each node its neighbours, with the bandwidths to and from them."""


@dataclass(frozen=True, slots=True)
class Port:
    """A node of a box next to a hub, with its bandwidths in GB/s."""

    node: int
    hub: int
    up: Fraction
    down: Fraction


@dataclass(frozen=True, slots=True)
class TwoTiers:
    """A network of boxes and hubs.

    Parameters
    ----------
    box : tuple of int
        The number of each rank's box.
    switch : tuple of int
        The position of each box's switch; -1 for a GPU alone.
    ports : tuple of tuples of Port
        Of each box, in the order of their nodes and hubs.
    box_of_node : tuple of int
        The number of the box of each node; -1 for hubs, and where no GPU takes part.
    no_uplink, no_downlink : frozenset of int
        Ranks with a port of their own, and a link from (to) their box's switch, but none to (from)
        it.
    """

    topology: Topology = field(repr=False)
    box: tuple[int, ...]
    switch: tuple[int, ...]
    ports: tuple[tuple[Port, ...], ...] = field(repr=False)
    box_of_node: tuple[int, ...] = field(repr=False)
    no_uplink: frozenset[int] = frozenset()
    no_downlink: frozenset[int] = frozenset()

    def nodes_of(self, box: int) -> list[int]:
        """Return the positions of all nodes of a box: GPUs, its switch, NICs, idle GPUs."""
        return [v for v, number in enumerate(self.box_of_node) if number == box]


def two_tiers(topology: Topology) -> TwoTiers | None:
    """Recognise the boxes and hubs of a network; None if it has others.

    Examples
    --------
    >>> from forestcoll.topology import load_topology
    >>> found = two_tiers(load_topology("dgx_a100:boxes=2"))
    >>> found.box[7:9], len(found.ports[0]), found.ports[0][0].up
    ((0, 1), 8, Fraction(25, 1))
    >>> two_tiers(load_topology("ring:nodes=4")) is None
    True
    """
    if topology.shared:
        return None
    beside: _Beside = defaultdict(dict)
    for link in topology.links:
        for one, other, way in ((link.tail, link.head, 0), (link.head, link.tail, 1)):
            beside[one].setdefault(other, [Fraction(0), Fraction(0)])[way] = link.bandwidth_gb_s
    if any(not topology.nodes[v].is_switch for gpu in topology.compute for v in beside[gpu]):
        return None
    return _with_hubs(topology, beside, _boxes(topology, beside))


def _boxes(topology: Topology, beside: _Beside) -> dict[int, int]:
    """Return the box of each node by the node that names it: a switch, or a GPU without one.

    GPUs know their box by their fastest switch, also those outside the group. A switch without GPUs
    belongs to the only box that it is next to: it is a NIC, or a hub that no other box reaches.
    What is next to several boxes is a hub, and has none.
    """
    home: dict[int, int] = {}
    for gpu, node in enumerate(topology.nodes):
        if node.kind is not NodeKind.SWITCH:
            near = [v for v in beside[gpu] if topology.nodes[v].kind is NodeKind.SWITCH]
            home[gpu] = max(near, key=lambda v: (sum(beside[gpu][v]), -v), default=gpu)
    named = {v for v in {*home.values()} if all(home.get(u, v) == v for u in beside[v])}
    if len(named) == 1 and {*home.values()} == named:
        named = set()  # the hub of lone GPUs
    box = {gpu: at if at in named else gpu for gpu, at in home.items()} | {v: v for v in named}
    others = [v for v in topology.switches if v not in box and beside[v]]
    around = {v: {box[u] for u in beside[v] if u in box} for v in others}
    return box | {v: near.pop() for v, near in around.items() if len(near) == 1}


def _with_hubs(topology: Topology, beside: _Beside, box: dict[int, int]) -> TwoTiers | None:
    hubs = {v for v in topology.switches if v not in box and beside[v]}
    if not hubs or any(other in hubs for hub in hubs for other in beside[hub]):
        return None
    names = dict.fromkeys(box[gpu] for gpu in topology.compute)
    number = {name: place for place, name in enumerate(names)}
    ports: list[list[Port]] = [[] for _ in names]
    lacking: tuple[set[int], set[int]] = set(), set()
    for v in sorted(v for v, name in box.items() if name in number):
        name = box[v]
        if any(u not in hubs and box[u] != name for u in beside[v]):
            return None
        near = [hub for hub in sorted(beside[v]) if hub in hubs]
        # A star: GPUs and ports are next to the switch of their box, both ways; GPUs that are ports
        # themselves may lack one way.
        if (near or v in topology.rank_of) and v != name:
            ways = beside[v].get(name, [Fraction(0)] * 2)
            if not all(ways) and not (near and v in topology.rank_of and any(ways)):
                return None
            for way, ranks in zip(ways, lacking, strict=True):
                if not way:
                    ranks.add(topology.rank_of[v])
        ports[number[name]] += [Port(v, hub, *beside[v][hub]) for hub in near]
    members = {v: number[name] for v, name in box.items() if name in number}
    return TwoTiers(
        topology,
        tuple(members[gpu] for gpu in topology.compute),
        tuple(name if topology.nodes[name].is_switch else -1 for name in names),
        tuple(map(tuple, ports)),
        tuple(members.get(v, -1) for v in range(len(topology.nodes))),
        *map(frozenset, lacking),
    )
