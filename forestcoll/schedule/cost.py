"""What a schedule costs in theory: the one cost model for all methods.

Problem: T(M) = M / (W k) * max over links e of load(e) / b(e), W the sum of the weights, where the
         data flows; the sum over the steps of their slowest links, where it moves in steps; the
         finish, where there is a clock.
Input:   a schedule; a forest's claimed congestion is not used.
Output:  the exact time per gigabyte, the algorithmic bandwidth, the load of every link.
Cost:    one pass over the hops of the physical paths, in each step.
Source:  ForestColl section 2 (pure throughput: latency and chunking are outside the model). The
         phases of an allreduce are pipelined, so that they share the links, as in its section 5.7.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from forestcoll.errors import VerificationError
from forestcoll.schedule.collectives import Allreduce
from forestcoll.schedule.flows import FlowSchedule
from forestcoll.schedule.forest import Forest, Routes
from forestcoll.schedule.step_loads import measure
from forestcoll.schedule.steps import StepSchedule
from forestcoll.topology.model import Topology

__all__ = ["Cost", "cost"]

_BYTES_PER_GB = 10**9


@dataclass(frozen=True, slots=True)
class Cost:
    """The theoretical time of a schedule.

    Parameters
    ----------
    time_s_per_gb : Fraction
        Seconds for one gigabyte of data (in all, over all GPUs; in an all-to-all, that each GPU
        sends), latencies left out. With a clock the time it shows, for data of the size that it is
        made for.
    busiest_link : tuple of str
        Tail and head of the (first) link that is busy for longest.
    loads : tuple of int
        Over each link of the topology, in its order: ``loads[i] / whole`` of the data. Of a single
        forest, in trees.
    whole : int
    steps : int, optional
        Steps that follow one another; None where everything flows at once.
    """

    time_s_per_gb: Fraction
    busiest_link: tuple[str, str]
    loads: tuple[int, ...] = field(repr=False)
    whole: int = field(repr=False)
    steps: int | None = None

    @property
    def algbw_gb_s(self) -> Fraction:
        """Algorithmic bandwidth in GB/s: data size (over all GPUs) by time."""
        return 1 / self.time_s_per_gb

    def time_s(self, size_bytes: int) -> Fraction:
        """Seconds for ``size_bytes`` of data in all, over all GPUs."""
        return self.time_s_per_gb * size_bytes / _BYTES_PER_GB


def cost(schedule: Forest | Allreduce[Any] | StepSchedule | FlowSchedule) -> Cost:
    """Compute the theoretical time of a schedule from the loads of its physical paths.

    Parameters
    ----------
    schedule : Forest, Allreduce of two forests, StepSchedule or FlowSchedule
        Assumed to do what it claims; :func:`forestcoll.schedule.verify` proves that. The phases of
        an allreduce run at once, piece by piece of the data: a link's loads in both are added. One
        after the other, they would take ``schedule.time_s_per_gb``.

    Raises
    ------
    VerificationError
        If the paths use no link at all, or one that the topology does not have.
    """
    if isinstance(schedule, StepSchedule):
        return _cost_of_steps(schedule)
    topology = schedule.topology
    if isinstance(schedule, FlowSchedule):
        whole = schedule.whole * topology.num_compute
        return _cost_of_loads(topology, _loads(topology, schedule.routes), whole)
    phases = schedule.phases if isinstance(schedule, Allreduce) else (schedule,)
    whole = math.lcm(*(sum(phase.weights) * phase.k for phase in phases))
    loads = [0] * len(topology.links)
    for phase in phases:
        times = whole // (sum(phase.weights) * phase.k)
        for i, load in enumerate(_loads(topology, phase.routes)):
            loads[i] += load * times
    return _cost_of_loads(topology, loads, whole)


def _loads(topology: Topology, routes: Routes) -> list[int]:
    """Add up the multiplicities of the paths over every link of the topology."""
    trees_over = _trees_over(routes, len(topology.nodes))
    _check_known(topology, trees_over)
    return [trees_over.get((link.tail, link.head), 0) for link in topology.links]


def _cost_of_loads(topology: Topology, loads: list[int], whole: int) -> Cost:
    """All data flows at once: the slowest link takes as long as its load does."""
    slowness = [
        load / link.bandwidth_gb_s for load, link in zip(loads, topology.links, strict=True)
    ]
    congestion = max(slowness)
    busiest = topology.links[slowness.index(congestion)]
    return Cost(
        time_s_per_gb=congestion / whole,
        busiest_link=(topology.nodes[busiest.tail].name, topology.nodes[busiest.head].name),
        loads=tuple(loads),
        whole=whole,
    )


def _cost_of_steps(schedule: StepSchedule) -> Cost:
    topology, routes, sends = schedule.topology, schedule.routes, schedule.sends
    place = {ends: i for i, ends in enumerate(topology.link_between)}
    pairs = _hops(routes)
    _check_known(topology, dict.fromkeys(pairs, 1))
    gpus = topology.num_compute
    known = routes.tail.astype(np.int64) * gpus + routes.head
    link = np.searchsorted(known, sends.tail.astype(np.int64) * gpus + sends.head)
    traffic = measure(schedule, link, np.array([place[pair] for pair in pairs], dtype=np.int64))
    assert traffic.busiest_link is not None  # there are hops
    time = traffic.time_s_per_gb
    if schedule.clock is not None:
        time = schedule.clock.finish_us * 1000 / schedule.clock.size_bytes
    return Cost(time, traffic.busiest_link, traffic.loads, traffic.whole, schedule.num_steps)


def _check_known(topology: Topology, used: Mapping[tuple[int, int], int]) -> None:
    """Refuse paths that use no link, or one that does not exist."""
    unknown = used.keys() - topology.link_between.keys()
    if unknown or not used:
        fault = "use a link that is not in the topology" if unknown else "are empty"
        raise VerificationError(f"the paths of this schedule {fault}; verify it before costing it")


def _hops(routes: Routes) -> list[tuple[int, int]]:
    """List the hops (tail, head) of all paths."""
    inside = np.delete(np.arange(len(routes.hop)), routes.first_hop[1:] - 1)
    return list(zip(routes.hop[inside].tolist(), routes.hop[inside + 1].tolist(), strict=True))


def _trees_over(routes: Routes, nodes: int) -> Mapping[tuple[int, int], int]:
    """Add up the multiplicities of the paths over every hop (tail, head)."""
    lengths = np.diff(routes.first_hop)
    path = np.repeat(np.arange(len(lengths)), lengths)
    inside = path[:-1] == path[1:]
    hop = routes.hop.astype(np.int64)
    links, which = np.unique((hop[:-1] * nodes + hop[1:])[inside], return_inverse=True)
    amounts = routes.multiplicity.astype(object)[path[:-1][inside]]
    loads = np.zeros(len(links), dtype=object)  # Python ints: nothing to overflow
    np.add.at(loads, which, amounts)
    return {divmod(link, nodes): load for link, load in zip(links.tolist(), loads, strict=True)}
