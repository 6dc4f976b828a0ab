"""The network of a candidate and its schedule, built and verified.

Problem: what was chosen by predictions is to be used; build it, and prove what was predicted.
Input:   a candidate; a fabric for bandwidths and latencies of links.
Output:  a topology, and a verified step schedule on it.
Cost:    that of the schedule: N (N - 1) transfers and more.
Source:  none.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from baselines.direct_connect.bfb.bfb import generate as breadth_first
from baselines.direct_connect.bfb.construction import generate as expansion
from baselines.topology_finder.candidate import Candidate
from baselines.topology_finder.workload import Fabric
from forestcoll.errors import VerificationError
from forestcoll.schedule.cost_model import synchronous
from forestcoll.schedule.steps import StepSchedule
from forestcoll.schedule.verification import verify
from forestcoll.topology.model import Topology
from forestcoll.topology.spec import load_topology

__all__ = ["built", "network_of"]


def network_of(one: Candidate, fabric: Fabric | None = None) -> Topology:
    """Build the network, with links of 1 GB/s or, on a fabric, an equal part of its bandwidth.

    Raises
    ------
    VerificationError
        If it has another number of GPUs than predicted.
    """
    topology = one.swapped or load_topology(one.spec)
    if topology.num_compute != one.nodes:
        raise VerificationError(
            f"{one.name} has {topology.num_compute} GPUs, not {one.nodes} as predicted"
        )
    if fabric is None:
        return topology
    width = fabric.bytes_s / 10**9 / one.degree
    latency = fabric.alpha_s * 10**6
    links = tuple(
        replace(link, bandwidth_gb_s=link.bandwidth_gb_s * width, latency_us=latency)
        for link in topology.links
    )
    return replace(topology, links=links)


def built(one: Candidate, collective: str, fabric: Fabric | None = None) -> StepSchedule:
    """Build the schedule of a candidate, verify it, and compare it with the prediction.

    Raises
    ------
    VerificationError
        If the schedule is wrong or takes longer than predicted.
    """
    topology = network_of(one)
    method = breadth_first if one.breadth_first else expansion
    made = method(topology, collective)
    verify(made)
    hops, time = _predicted(one, collective)
    takes = synchronous(made)
    found = takes.time_s_per_gb * one.degree  # links of 1 GB/s
    if takes.steps > hops or found > time:
        raise VerificationError(
            f"{one.name}: the {collective} takes {takes.steps} steps and {found} M/B, not {hops} "
            f"and {time} as predicted"
        )
    return made if fabric is None else replace(made, topology=network_of(one, fabric))


def _predicted(one: Candidate, collective: str) -> tuple[int, Fraction]:
    there, back = (one.hops, one.time), (one.reverse_hops, one.reverse_time)
    if collective == "allreduce":
        return there[0] + back[0], there[1] + back[1]
    return there if collective == "allgather" else back
