"""Reverse-symmetric networks, and the reversal of their schedules.

Problem: an allgather of a network gives a reduce-scatter of the same network if the network is like
         its reverse; have the reduce-scatter, or an allgather of the reverse, without computing it.
Output:  for each GPU the one of the reverse that is like it; the schedule carried over.
Cost:    a search for symmetries of two networks side by side; linear in the transfers.
Source:  Zhao et al. (NSDI 2025), section 4 and appendix A.6, definitions 6 and 7, Theorem 2.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from baselines.building.composing import hop_by_hop
from forestcoll.schedule.sends import Chunks
from forestcoll.schedule.steps import StepSchedule
from forestcoll.topology.model import Link, Node, NodeKind, Topology

__all__ = ["carried_over", "mirrored"]

Ints = npt.NDArray[np.int64]


def mirrored(topology: Topology, seconds: float = math.inf) -> Ints | None:
    """Find the rank that takes the place of each rank when every link is reversed (definition 6).

    Returns
    -------
    int64 array of length N, or None
        None if no such map was found in the time; otherwise the network is reverse-symmetric.
    """
    from forestcoll.topology.symmetry.automorphism import find_orbits  # loads what few need
    from forestcoll.topology.symmetry.stabilizer import bringing

    size = topology.num_compute
    reverse = topology.reversed()
    nodes = [Node(f"{i}", NodeKind.COMPUTE, index=i) for i in range(2 * size)]
    links = [
        Link(e.tail + by, e.head + by, e.bandwidth_gb_s, e.latency_us)
        for by, network in ((0, topology), (size, reverse))
        for e in network.links
    ]
    shared = [
        replace(
            group,
            name=f"{by}: {group.name}",
            links=tuple((tail + by, head + by) for tail, head in group.links),
        )
        for by, network in ((0, topology), (size, reverse))
        for group in network.shared
    ]
    both = Topology("side by side", tuple(nodes), tuple(links), tuple(shared))
    orbits = find_orbits(both, seconds, of_links=False)
    moves = bringing(orbits.generators, 0, 2 * size)
    found = min((node for node in moves if node >= size), default=None)
    return None if found is None else moves[found][:size] - size


def carried_over(schedule: StepSchedule, place: Ints, topology: Topology) -> StepSchedule:
    """Move an allgather to an isomorphic network: ``place[r]`` does what r did (definition 7)."""
    sends, chunks = schedule.sends, schedule.chunks
    moved = replace(
        sends,
        tail=place[sends.tail].astype(np.int32),
        head=place[sends.head].astype(np.int32),
    ).in_order()
    roots = Chunks(chunks.size, chunks.whole, place[chunks.root].astype(np.int32), chunks.target)
    return hop_by_hop(topology, schedule.method, schedule.collective, roots, moved)
