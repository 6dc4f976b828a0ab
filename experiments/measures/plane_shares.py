"""Check that a schedule for merged planes runs at the same rate on the separate planes.

Each selection of :func:`baselines.networks.planes.find_planes`, which is not trusted, carries its
share of the data over its nodes. So the load of a merged link divides over the real links in these
shares. If the shares of the merged bandwidths add up to at most the bandwidth of each real link, no
real link has a higher utilisation than the merged links.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import lcm

from baselines.networks.planes import Planes, Selection
from forestcoll.errors import VerificationError
from forestcoll.topology import Topology

__all__ = ["check_planes"]


def check_planes(planes: Planes) -> None:
    """Prove that any schedule on the merged network has a copy of the same rate on the real one.

    Raises
    ------
    VerificationError
        If the shares are not positive or do not add up to 1; a selection maps two nodes to one, or
        to one of another kind; a GPU changes its rank; a link would exceed its bandwidth; or links
        share a capacity, which this proof does not cover.
    """
    topology, merged = planes.topology, planes.merged
    if merged is topology:
        return
    if topology.shared:
        raise VerificationError(f"{topology.name}: links share a capacity, so planes are not one")
    shares = [one.share for one in planes.selections]
    if not shares or min(shares) <= 0 or sum(shares, Fraction(0)) != 1:
        raise VerificationError(f"{topology.name}: the shares of its planes are not parts of one")
    for one in planes.selections:
        _check_nodes(topology, merged, one)
    _check_links(topology, *_carried(planes))


def _check_nodes(topology: Topology, merged: Topology, selection: Selection) -> None:
    """Check that a selection maps each GPU to itself and each switch to one of the same kind."""
    taken = selection.node
    if len(taken) != len(merged.nodes) or len(set(taken)) != len(taken):
        raise VerificationError(f"{topology.name}: a selection takes one node twice, or not all")
    if tuple(taken[v] for v in merged.compute) != topology.compute:
        raise VerificationError(f"{topology.name}: a selection takes a GPU for another")
    for v, node in zip(taken, merged.nodes, strict=True):
        real = topology.nodes[v]
        if (real.kind, real.multicast, real.stores) != (node.kind, node.multicast, node.stores):
            raise VerificationError(f"{topology.name}: {real.name} is not what {node.name} is")


def _carried(planes: Planes) -> tuple[Mapping[tuple[int, int], int], int]:
    """Return the load of each link when all merged links are full, and the unit of the loads.

    The unit is a number: that many units are 1 GB/s.
    """
    whole = lcm(*(one.share.denominator for one in planes.selections))
    under, bandwidths = planes.merged.whole_bandwidths
    links = [
        (link.tail, link.head, bandwidth)
        for link, bandwidth in zip(planes.merged.links, bandwidths, strict=True)
    ]
    carried: dict[tuple[int, int], int] = {}
    for one in planes.selections:
        part, node = int(one.share * whole), one.node
        for tail, head, bandwidth in links:
            ends = node[tail], node[head]
            carried[ends] = carried.get(ends, 0) + part * bandwidth
    return carried, whole * under


def _check_links(topology: Topology, carried: Mapping[tuple[int, int], int], unit: int) -> None:
    under, widths = topology.whole_bandwidths
    ends = ((link.tail, link.head) for link in topology.links)
    room = dict(zip(ends, widths, strict=True))
    for (tail, head), amount in carried.items():
        width = room.get((tail, head), 0)
        if width * unit < amount * under:
            names = f"{topology.nodes[tail].name} -> {topology.nodes[head].name}"
            has, need = Fraction(width, under), Fraction(amount, unit)
            raise VerificationError(f"{names} has {has} GB/s; merged planes need {need}")
