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

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from fractions import Fraction

from forestcoll.topology.model import Topology

__all__ = ["Port", "TwoTiers", "two_tiers"]


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
    """

    topology: Topology = field(repr=False)
    box: tuple[int, ...]
    switch: tuple[int, ...]
    ports: tuple[tuple[Port, ...], ...] = field(repr=False)

    def nodes_of(self, box: int) -> list[int]:
        """Return the positions of a box's GPUs and of its switch."""
        gpus = self.topology.compute
        inside = [gpus[rank] for rank, number in enumerate(self.box) if number == box]
        return inside if self.switch[box] < 0 else [*inside, self.switch[box]]


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
    switches = set(topology.switches)
    beside: dict[int, dict[int, list[Fraction]]] = defaultdict(dict)
    for link in topology.links:
        for one, other, way in ((link.tail, link.head, 0), (link.head, link.tail, 1)):
            beside[one].setdefault(other, [Fraction(0), Fraction(0)])[way] = link.bandwidth_gb_s
    if any(not topology.nodes[v].is_switch for gpu in topology.compute for v in beside[gpu]):
        return None
    return _with_hubs(topology, beside, _hubs(topology, beside, switches))


def _hubs(
    topology: Topology, beside: dict[int, dict[int, list[Fraction]]], switches: set[int]
) -> set[int]:
    """Return the switches that are next to nodes of several boxes.

    GPUs know their box by their fastest switch; a GPU with one switch belongs to it.
    """
    home = {}
    for gpu in topology.compute:
        near = [v for v in beside[gpu] if v in switches]
        if near:
            home[gpu] = max(near, key=lambda v: (beside[gpu][v][0], -v))
    residents = Counter(home.values())
    hubs = {
        v
        for v in switches
        if any(u in home and home[u] != v for u in beside[v])
        or (residents[v] == 0 and any(u in switches for u in beside[v]))
    }
    # Where every GPU has one switch only, and that switch no other, it is the hub of lone GPUs.
    if not hubs and len(residents) == 1:
        hubs = set(residents)
    return hubs


def _with_hubs(
    topology: Topology, beside: dict[int, dict[int, list[Fraction]]], hubs: set[int]
) -> TwoTiers | None:
    if not hubs or any(other in hubs for hub in hubs for other in beside[hub]):
        return None
    number: dict[int, int] = {}
    box, switch = [], []
    for gpu in topology.compute:
        inner = [v for v in beside[gpu] if v not in hubs]
        if len(inner) > 1:
            return None
        key = inner[0] if inner else gpu
        if key not in number:
            number[key] = len(number)
            switch.append(inner[0] if inner else -1)
        box.append(number[key])
    ports: list[list[Port]] = [[] for _ in number]
    for v, node in enumerate(topology.nodes):
        if v in hubs:
            continue
        inner = [u for u in beside[v] if u not in hubs]
        if not node.is_switch:
            place = box[topology.rank_of[v]]
        elif v in number:
            place = number[v]
        elif len(inner) == 1 and inner[0] in number:
            place = number[inner[0]]  # a NIC, or a GPU outside the group
        else:
            return None
        ports[place] += [Port(v, hub, *beside[v][hub]) for hub in sorted(beside[v]) if hub in hubs]
    return TwoTiers(topology, tuple(box), tuple(switch), tuple(map(tuple, ports)))
