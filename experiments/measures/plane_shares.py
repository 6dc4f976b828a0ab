"""Check that a schedule for merged planes runs at the same rate on the separate planes.

Problem: a peer's schedule is measured on the network whose parallel planes are merged; prove that
         its rate is that on the network itself.
Input:   what :func:`baselines.networks.planes.find_planes` found: nothing in it is believed.
Output:  a verdict, or the first fault by name.
Cost:    linear in the merged links and the selections.
Source:  ours. Each selection takes its share of the data over the nodes that it names. So a merged
         link's load goes over the links that selections take for it, in their shares. If these
         shares of the merged bandwidths add up to no more than the bandwidth of each link, no link
         is busier for its bandwidth than the merged links are.
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
        If the shares are not positive parts of one; a selection takes two nodes for one, or one of
        another kind; a GPU changes its rank; some link would carry more than its bandwidth; or
        links share a capacity, of which nothing is proved here.
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
    """A selection takes each GPU for itself and each switch for one that does the same."""
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
    """Return what each link carries if all merged links carry all that they can, and its unit.

    So many units are 1 GB/s.
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
    """There is a link wherever something runs, and it is wide enough."""
    under, widths = topology.whole_bandwidths
    ends = ((link.tail, link.head) for link in topology.links)
    room = dict(zip(ends, widths, strict=True))
    for (tail, head), amount in carried.items():
        width = room.get((tail, head), 0)
        if width * unit < amount * under:
            names = f"{topology.nodes[tail].name} -> {topology.nodes[head].name}"
            has, need = Fraction(width, under), Fraction(amount, unit)
            raise VerificationError(f"{names} has {has} GB/s; merged planes need {need}")
