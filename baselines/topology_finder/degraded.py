"""What one dead link costs a network of the front.

Problem: the worst T_L and T_B of a breadth-first broadcast, and the worst optimal T_B, after the
         failure of any single link.
Input:   a network of GPUs.
Output:  the worst of each, and how many links were tried.
Cost:    a broadcast and an optimum for each orbit of links under the symmetries of the network.
Source:  none. A symmetry carries one link to another and distances with it, so one link of each
         orbit stands for all.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from baselines.direct_connect.bfb.alike import Alike
from baselines.direct_connect.bfb.breadth_first import broadcast_times
from baselines.direct_connect.bfb.broadcast_network import BroadcastNetwork
from forestcoll.core.optimality import optimum
from forestcoll.errors import DisconnectedError, TimeLimitError
from forestcoll.topology.model import Topology

__all__ = ["Degraded", "least_time", "worst_failure"]


@dataclass(frozen=True, slots=True)
class Degraded:
    """The worst over all single links, each measure by itself.

    Parameters
    ----------
    link : str
        A link whose failure gives the worst T_B.
    connected : bool
        Whether the network holds together whatever link fails. If not, the rest is None.
    hops : int
        T_L of an allgather.
    time : Fraction
        T_B of a breadth-first allgather, in M / B.
    optimal_time : Fraction
        The least T_B of any schedule, by the bottleneck cut, in M / B.
    tried, links : int
        Links that were tried, one an orbit; and all links.
    """

    link: str
    connected: bool
    hops: int | None
    time: Fraction | None
    optimal_time: Fraction | None
    tried: int
    links: int


def least_time(topology: Topology, degree: int) -> Fraction:
    """Return the least T_B of any schedule, in M / B, by the bottleneck cut.

    Links have 1 GB/s each, or a whole number of them.
    """
    best = optimum(topology)
    return best.inverse_rate / topology.num_compute * degree


def worst_failure(topology: Topology, degree: int, *, seconds: float = 60) -> Degraded:
    """Let each link fail, one at a time.

    Raises
    ------
    TimeLimitError
        If the time is over before all orbits were tried.
    """
    from forestcoll.topology.symmetry.automorphism import find_orbits  # loads what few need

    end = time.perf_counter() + seconds
    _, firsts = np.unique(find_orbits(topology, seconds / 4).link, return_index=True)
    worst: list[tuple[Fraction, str]] = []
    hops, optimal = 0, Fraction(0)
    for tried, number in enumerate(firsts.tolist()):
        if time.perf_counter() > end:
            raise TimeLimitError(
                f"{topology.name}: {tried} of {len(firsts)} kinds of links were tried in "
                f"{seconds:g} s; allow more time"
            )
        link = topology.links[number]
        name = f"{topology.nodes[link.tail].name} -> {topology.nodes[link.head].name}"
        try:
            damaged = topology.without(name)
            times = broadcast_times(BroadcastNetwork.of(damaged), Alike.none(damaged.num_compute))
        except DisconnectedError:
            return Degraded(name, False, None, None, None, len(firsts), len(topology.links))
        worst.append((times.time_s_per_gb * degree, name))
        hops = max(hops, len(times.longest))
        optimal = max(optimal, least_time(damaged, degree))
    slowest = max(worst, key=lambda one: one[0])
    return Degraded(slowest[1], True, hops, slowest[0], optimal, len(firsts), len(topology.links))
