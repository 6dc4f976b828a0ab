"""Networks whose switches are split into parallel planes."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from forestcoll.topology import Link, Topology
from forestcoll.topology.model import NodeKind


def split(topology: Topology, parts: Sequence[int], *names: str) -> Topology:
    """Split switches (all, if none is named) into planes of these parts of every link.

    Planes of switches that are linked to each other are linked plane by plane.
    """
    nodes, place = [], {}
    for position, node in enumerate(topology.nodes):
        cut = node.kind is NodeKind.SWITCH and (not names or node.name in names)
        copies = [replace(node, name=f"{node.name}.{i}") for i in range(len(parts))]
        place[position] = range(len(nodes), len(nodes) + (len(parts) if cut else 1))
        nodes += copies if cut else [node]
    links = [
        Link(
            place[link.tail][i % len(place[link.tail])],
            place[link.head][i % len(place[link.head])],
            link.bandwidth_gb_s * Fraction(part, sum(parts)),
            link.latency_us,
        )
        for link in topology.links
        for i, part in enumerate(parts)
    ]
    shared = [
        replace(
            group,
            links=tuple(
                (place[tail][i % len(place[tail])], place[head][i % len(place[head])])
                for tail, head in group.links
                for i in range(len(parts))
            ),
        )
        for group in topology.shared
    ]
    name = f"{topology.name} in {len(parts)} planes"
    return Topology(name, tuple(nodes), tuple(links), tuple(shared))
