"""Bounds and tests for direct-connect networks: Moore, bandwidth, breadth-first optimality.

Problem: the fewest steps and the least time of any allgather of N GPUs of degree d; whether a
         breadth-first broadcast attains them.
Output:  exact bounds; yes, or no with a GPU and a step as the reason.
Source:  Zhao et al. (NSDI 2025): definitions 9 to 11, theorems 4, 17 and 21, appendix C.

T_B is a multiple of M / B, data over the bandwidth out of a GPU of degree d. The model is the
paper's: data sent in a step was there before it, every step lasts as long as its busiest link, and
only GPUs copy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from baselines.direct_connect.bfb.breadth_first import BroadcastTimes
from baselines.direct_connect.bfb.node_program import NodePrograms
from forestcoll.errors import InvalidParameterError

__all__ = [
    "NotOptimal", "least_steps", "least_steps_both_ways", "least_time", "why_not_optimal",
]  # fmt: skip


def least_steps(nodes: int, degree: int) -> int:
    """Fewest steps of an allgather, Moore's bound (definition 10): T_L in hops.

    Examples
    --------
    >>> least_steps(1024, 4)
    5
    """
    return _fewest(nodes, degree, lambda at: degree**at)


def least_steps_both_ways(nodes: int, degree: int) -> int:
    """Fewest steps if every link goes both ways: the undirected Moore bound."""
    return _fewest(nodes, degree, lambda at: degree * (degree - 1) ** (at - 1))


def least_time(nodes: int) -> Fraction:
    """Least T_B of an allgather, times M / B: what every GPU must get (Theorem 4)."""
    return Fraction(nodes - 1, nodes)


def _fewest(nodes: int, degree: int, sphere: Callable[[int], int]) -> int:
    if nodes < 1 or degree < 1:
        raise InvalidParameterError(f"{nodes} nodes of degree {degree}; both must be 1 or more")
    within, steps = 1, 0
    while within < nodes:
        steps += 1
        more = sphere(steps)
        if more < 1:
            raise InvalidParameterError(f"{nodes} nodes of degree {degree} cannot be connected")
        within += more
    return steps


@dataclass(frozen=True, slots=True)
class NotOptimal:
    """A GPU and a step (from 0) for which no breadth-first broadcast is bandwidth-optimal.

    Parameters
    ----------
    sources : int
        Shards that arrive at it in the step.
    elsewhere : int
        Shards that arrive at the first GPU in that step; if they differ, condition (1) of Theorem
        17 fails.
    time : Fraction
        U: more than ``sources`` over the capacity of the links, where condition (2) fails.
    """

    rank: int
    step: int
    sources: int
    elsewhere: int
    time: Fraction


def why_not_optimal(times: BroadcastTimes) -> NotOptimal | None:
    """Test Theorem 17: whether the balanced broadcast is bandwidth-optimal.

    Parameters
    ----------
    times : BroadcastTimes
        Of a network whose links all have one bandwidth and are the same number at every GPU;
        without latencies.

    Returns
    -------
    NotOptimal or None
        None if it is: every step brings equal numbers of shards to all GPUs, over links that are
        all equally busy.
    """
    network = times.network
    hops = NodePrograms.of(network).hops
    spheres = np.stack([(hops == step + 1).sum(axis=0) for step in range(hops.max())], axis=1)
    arriving = np.bincount(network.head, weights=network.capacity)
    for row, rank in enumerate(times.rank.tolist()):
        for step in range(spheres.shape[1]):
            here, there = int(spheres[rank, step]), int(spheres[0, step])
            time = times.at(row, step)
            if here != there or time * int(arriving[rank]) > here:
                return NotOptimal(rank, step, here, there, time)
    return None
