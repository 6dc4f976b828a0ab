"""Broadcast trees of one hop: a switch beside the root multicasts to all other GPUs.

Problem: trees that were packed for forwarding switches pass GPUs, even where a switch that has the
         data reaches all of them at once. That costs a hop.
Input:   a topology, a root.
Output:  a tree for each multicast switch with a link from the root and links to all other GPUs;
         none if there is no such switch.
Cost:    linear in the links.
Source:  ours; what NVLink SHARP's multicast does in one rack.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from forestcoll.schedule.multicast import MulticastForest, Walks
from forestcoll.topology.model import Topology

__all__ = ["star_trees"]


def star_trees(topology: Topology, root: int) -> MulticastForest | None:
    """Return trees of one hop, each of as much data as its switch carries; None without a switch.

    Parameters
    ----------
    root : int
        Rank.
    """
    sender = topology.compute[root]
    others = [gpu for gpu in topology.compute if gpu != sender]
    width = {(link.tail, link.head): link.bandwidth_gb_s for link in topology.links}
    rates = {
        v: min(
            width.get(ends, Fraction(0)) for ends in [(sender, v), *((v, gpu) for gpu in others)]
        )
        for v, node in enumerate(topology.nodes)
        if node.multicast
    }
    rates = {v: rate for v, rate in rates.items() if rate}
    if not rates:
        return None
    unit = Fraction(
        math.gcd(*(rate.numerator for rate in rates.values())),
        math.lcm(*(rate.denominator for rate in rates.values())),
    )
    trees = [int(rate / unit) for rate in rates.values()]
    walks = [ends for v in rates for ends in [(sender, v), *((v, gpu) for gpu in others)]]
    return MulticastForest(
        topology=topology,
        method="forestcoll",
        k=sum(trees),
        congestion=Fraction(0),
        root=np.full(len(rates), root, dtype=np.int32),
        multiplicity=np.array(trees, dtype=np.int64),
        first_walk=np.arange(0, len(walks) + 1, len(topology.compute), dtype=np.int64),
        walk=np.arange(len(walks), dtype=np.int32),
        walks=Walks(
            np.arange(0, 2 * len(walks) + 1, 2, dtype=np.int64),
            np.array(walks, dtype=np.int32).reshape(-1),
        ),
        weights=tuple(int(rank == root) for rank in range(topology.num_compute)),
    ).measured()
