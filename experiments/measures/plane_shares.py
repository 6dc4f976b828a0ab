"""Check that a schedule for merged planes runs at the same rate on the separate planes.

Each selection of :func:`baselines.networks.planes.find_planes`, which is not trusted, carries its
share of the data over its nodes. So the load of a merged link divides over the real links in these
shares. If the shares of the merged bandwidths add up to at most the bandwidth of each real link, no
real link has a higher utilisation than the merged links.
"""

from __future__ import annotations

from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
import numpy.typing as npt

from baselines.networks.planes import Planes
from forestcoll.errors import VerificationError
from forestcoll.schedule.exact_sums import first
from forestcoll.topology import Node, Topology
from forestcoll.topology.link_columns import LinkColumns

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
    _check_nodes(planes)
    _check_links(planes)


def _check_nodes(planes: Planes) -> None:
    """Check that a selection maps each GPU to itself and each switch to one of the same kind."""
    topology, merged = planes.topology, planes.merged
    number: dict[object, int] = {}
    real, due = (
        np.array([number.setdefault(_kind(node), len(number)) for node in network.nodes])
        for network in (topology, merged)
    )
    gpus = list(merged.compute)
    for one in planes.selections:
        taken = np.array(one.node)
        if len(taken) != len(merged.nodes) or len({*one.node}) != len(taken):
            raise VerificationError(
                f"{topology.name}: a selection takes one node twice, or not all"
            )
        if taken[gpus].tolist() != list(topology.compute):
            raise VerificationError(f"{topology.name}: a selection takes a GPU for another")
        if (at := first(real[taken] != due)) is not None:
            name, other = topology.nodes[taken[at]].name, merged.nodes[at].name
            raise VerificationError(f"{topology.name}: {name} is not what {other} is")


def _kind(node: Node) -> object:
    return node.kind, node.multicast, node.stores


def _check_links(planes: Planes) -> None:
    """Check the loads of the real links when all merged links are full."""
    topology, merged = planes.topology, planes.merged.columns
    real, parts = topology.columns, lcm(*(one.share.denominator for one in planes.selections))
    room, full, unit = _in_whole_units(real, merged, parts)
    load = np.zeros_like(room)
    for one in planes.selections:
        node = np.array(one.node)
        tail, head = node[merged.tail], node[merged.head]
        place, more = real.places_of(tail, head), full * int(one.share * parts)
        if (at := first(place == len(real))) is not None:
            need = Fraction(int(more[at]), unit)
            raise _overload(topology, (tail[at], head[at]), Fraction(0), need)
        np.add.at(load, place, more)
    if (at := first(load > room)) is not None:
        has, need = (Fraction(int(one[at]), unit) for one in (room, load))
        raise _overload(topology, (real.tail[at], real.head[at]), has, need)


def _in_whole_units(
    real: LinkColumns, merged: LinkColumns, parts: int
) -> tuple[npt.NDArray[Any], npt.NDArray[Any], int]:
    """Return the bandwidths of real links, ``1 / parts`` of those of merged links, and the unit.

    The unit is a number: that many units are 1 GB/s. No sum of loads overflows: each selection has
    one merged link over a real link at most, so a real link carries ``parts`` entries at most.
    """
    (under, widths), (over, loads) = real.whole_bandwidths(), merged.whole_bandwidths()
    widths, loads = [one * over * parts for one in widths], [one * under for one in loads]
    fits = max([*widths, *(one * parts for one in loads)], default=0) < 2**63
    kind = np.dtype(np.int64 if fits else object)
    room, full = np.array(widths, dtype=kind)[real.kind], np.array(loads, dtype=kind)[merged.kind]
    return room, full, under * over * parts


def _overload(
    topology: Topology, ends: tuple[int, int], has: Fraction, need: Fraction
) -> VerificationError:
    tail, head = (topology.nodes[end].name for end in ends)
    return VerificationError(f"{tail} -> {head} has {has} GB/s; merged planes need {need}")
