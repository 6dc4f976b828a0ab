"""Shifted rings: two rings with different strides over the same GPUs, each with half of the data.

Problem: an allgather, reduce-scatter or allreduce on one ring or two that share no link.
Input:   a topology in which GPU i is linked both ways to i + 1 and i + s, for s prime to N.
Output:  step schedules of N - 1 steps, or of floor(N / 2) (twice, an allreduce).
Cost:    N (N - 1) transfers for each of the two or four directions.
Source:  TopoOpt (Wang et al., NSDI 2023) for the topology; Zhao et al. (NSDI 2025, section 8 and
         appendix F.1) call the two schedules ShiftedRing and ShiftedBFBRing. Reimplemented from
         their descriptions.

``shifted-ring`` is the traditional algorithm: half of every shard goes in each direction, N - 1
steps. In ``shifted-bfb-ring`` every GPU sends its whole shard in both directions, as far as the
opposite GPU, which gets half of it from either side if N is even. Both are bandwidth-optimal,
(N-1)/N M / B.

The network is a circulant of the GPUs by number. Any one or two strides prime to N are accepted, so
a plain ring and the complete graph of five are cases. With one stride, one ring has all of the
data.

Left out: TopoOpt's choice of strides for a job. Steps and times: docs/baselines/steps.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from math import gcd

import numpy as np

from baselines.building.composing import collect_steps, hop_by_hop, in_step, joined
from baselines.interface.method import Method
from baselines.interface.supported import GATHERING
from baselines.networks.boxes import Ranks, by_number
from baselines.networks.switch_paths import check_size
from forestcoll.errors import UnsupportedError
from forestcoll.schedule.sends import Chunks, Sends
from forestcoll.schedule.steps import StepSchedule
from forestcoll.topology.model import Topology

__all__ = ["METHODS", "find_rings", "shifted_bfb_ring", "shifted_ring"]

Course = tuple[int, int]
"""A direction (1 or -1), and the number of hops of a chunk."""


def shifted_ring(topology: Topology, collective: str = "allgather") -> StepSchedule:
    """Send half of every shard in each direction, to all others.

    Parameters
    ----------
    collective : str
        "allgather", "reduce-scatter" or "allreduce".

    Raises
    ------
    UnsupportedError
        If the links between the GPUs are not those of one ring or two.
    """
    check_size(topology)
    last = topology.num_compute - 1
    halves = ([(1, last)], [(-1, last)])
    spread = partial(_gather, method="shifted-ring", pieces=halves)
    return collect_steps(spread, topology, collective)


def shifted_bfb_ring(topology: Topology, collective: str = "allgather") -> StepSchedule:
    """Send every shard in both directions, half as far; parameters and errors as for the other."""
    check_size(topology)
    far, near = topology.num_compute // 2, (topology.num_compute - 1) // 2
    pieces = [[(1, far), (-1, near)], [(1, near), (-1, far)]]
    if far == near:
        pieces = pieces[:1]
    spread = partial(_gather, method="shifted-bfb-ring", pieces=pieces)
    return collect_steps(spread, topology, collective)


def _gather(topology: Topology, method: str, pieces: Sequence[Sequence[Course]]) -> StepSchedule:
    size, rings = topology.num_compute, find_rings(topology)
    cuts = [(ring, courses) for ring in rings for courses in pieces]
    sends = joined(
        [
            step
            for cut, (ring, courses) in enumerate(cuts)
            for course in courses
            for step in _along(ring, course, first_chunk=size * cut)
        ]
    )
    chunks = Chunks.equal(np.tile(np.arange(size), len(cuts)), whole=size * len(cuts))
    return hop_by_hop(topology, method, "allgather", chunks, sends)


def _along(ring: Ranks, course: Course, first_chunk: int) -> list[Sends]:
    """Send the chunk of each rank (``first_chunk`` and on) so many hops round, one a step."""
    way, hops = course
    places = [np.roll(ring, -way * hop) for hop in range(hops + 1)]
    return [
        in_step(step, first_chunk + ring, tail, head)
        for step, (tail, head) in enumerate(pairwise(places))
    ]


def find_rings(topology: Topology) -> list[Ranks]:
    """Return the ranks round each ring, that of the smaller stride first.

    Raises
    ------
    UnsupportedError
        If the links between the GPUs are not those of one ring or two.
    """
    ranks = by_number(topology)
    places = np.arange(len(ranks))
    return [ranks[places * stride % len(ranks)] for stride in _strides(topology, ranks)]


def _strides(topology: Topology, ranks: Ranks) -> list[int]:
    """Return the strides of the links, in places of the GPUs by number, if they make rings."""
    size = len(ranks)
    hops = _hops(topology, ranks)
    shifts = {(head - tail) % size for tail, head in hops}
    strides = sorted({min(shift, size - shift) for shift in shifts})
    both_ways = all(size - shift in shifts for shift in shifts)
    if len(hops) < len(shifts) * size or not both_ways:
        raise _no_rings(topology, "its GPUs are not all linked alike, both ways, by number")
    if not 1 <= len(strides) <= 2:
        raise _no_rings(topology, f"its GPUs are linked by {len(strides)} strides")
    for stride in strides:
        if gcd(stride, size) > 1:
            raise _no_rings(topology, f"stride {stride} makes no ring of {size} GPUs")
    return strides


def _hops(topology: Topology, ranks: Ranks) -> list[tuple[int, int]]:
    place = {int(rank): i for i, rank in enumerate(ranks)}
    at = {gpu: place[rank] for gpu, rank in topology.rank_of.items()}
    return [
        (at[link.tail], at[link.head])
        for link in topology.links
        if link.tail in at and link.head in at
    ]


def _no_rings(topology: Topology, why: str) -> UnsupportedError:
    return UnsupportedError(f"unsupported: {topology.name} is not made of one ring or two: {why}")


METHODS = (
    Method(
        name="shifted-ring",
        summary="two rings of different strides, half of every shard each way round",
        source="TopoOpt (NSDI 2023), as in Zhao et al. (NSDI 2025)",
        generate=shifted_ring,
        collectives=GATHERING,
        notes="on one ring or two in the order of the GPUs' numbers",
    ),
    Method(
        name="shifted-bfb-ring",
        summary="the same rings, every shard both ways round by the shortest way",
        source="Zhao et al. (NSDI 2025)",
        generate=shifted_bfb_ring,
        collectives=GATHERING,
        notes="on one ring or two in the order of the GPUs' numbers",
    ),
)
