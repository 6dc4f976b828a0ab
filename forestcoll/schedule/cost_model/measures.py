"""Theoretical time of a schedule: pipelined, in synchronous steps, and the makespan of a clock.

Problem: seconds for a gigabyte without latencies, in two models. *Pipelined*: M max over links of
         load / b; all pipeline chunks are in flight at once, and the phases of an allreduce share
         the links. A shared capacity counts as a link with the loads of all its links.
         *Synchronous steps*: M times the sum over the steps of their slowest links; nothing is
         passed on before a step has ended. The third measure is the *makespan* of a clock, if
         there is one.
Input:   a schedule; a forest's claimed congestion is not used.
Output:  exact times, algorithmic bandwidths, the load of every link.
Cost:    one pass over the hops of the physical paths, in each step.
Source:  pipelined: ForestColl sections 2 and 5.7 (:mod:`forestcoll.schedule.pipelined`). In steps:
         T_B of Zhao et al. (BFB, NSDI 2025), section 3.

"algbw" without a qualifier is the pipelined one. Every step schedule can be pipelined: its pipeline
chunks go through the steps one behind the other. In the limit, only the total load of a link over
all steps counts. Every forest can run in synchronous steps, hop by hop.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from forestcoll.errors import UnsupportedError, VerificationError
from forestcoll.problem.collective import algbw_of
from forestcoll.schedule.allreduce import Allreduce, not_taken
from forestcoll.schedule.cost_model.step_loads import measure_hops, measure_steps
from forestcoll.schedule.factored import FactoredForest
from forestcoll.schedule.flows import FlowSchedule
from forestcoll.schedule.multicast import MulticastForest
from forestcoll.schedule.pipelined import AnyForest, Flow, flow_of_loads, loads_of_routes, pipelined
from forestcoll.schedule.steps import StepSchedule
from forestcoll.topology.in_brief import InARow

__all__ = ["Cost", "Steps", "cost", "makespan_s_per_gb", "synchronous"]

_BYTES_PER_GB = 10**9

_Tree = AnyForest | Allreduce[Any]


@dataclass(frozen=True, slots=True, repr=False)
class Cost(InARow):
    """The theoretical time of a pipelined schedule.

    Parameters
    ----------
    time_s_per_gb : Fraction
        Seconds for one gigabyte of data (in all, over all GPUs; in an all-to-all of equal parts,
        that each GPU sends).
    busiest_link : tuple of str
        Tail and head of the (first) link that is busy for longest, or the name of a shared
        capacity.
    loads : tuple of int
        The load of each link of the topology, in its order: ``loads[i] / whole`` of the data. For a
        single forest, loads are in trees.
    """

    time_s_per_gb: Fraction
    busiest_link: tuple[str, ...]
    loads: tuple[int, ...] = field(repr=False)
    whole: int = field(repr=False)

    @property
    def algbw_gb_s(self) -> Fraction:
        """Algorithmic bandwidth in GB/s: data size (over all GPUs) by time."""
        return 1 / self.time_s_per_gb

    def in_a_row(self) -> dict[str, object]:
        """Return the rate, the time and the busiest link."""
        return {
            "algbw_gb_s": self.algbw_gb_s,
            "time_s_per_gb": self.time_s_per_gb,
            "busiest_link": " -> ".join(self.busiest_link),
        }

    def time_s(self, size_bytes: int) -> Fraction:
        """Seconds for ``size_bytes`` of data in all, over all GPUs."""
        return self.time_s_per_gb * size_bytes / _BYTES_PER_GB


@dataclass(frozen=True, slots=True, repr=False)
class Steps(InARow):
    """The theoretical time of a schedule in synchronous steps.

    Parameters
    ----------
    time_s_per_gb : Fraction
        The sum over the steps of what their slowest links take for one gigabyte of data.
    steps : int
        Number of steps; for forests, GPU hops of the deepest tree.
    """

    time_s_per_gb: Fraction
    steps: int

    @property
    def algbw_gb_s(self) -> Fraction:
        """Data size by time.

        Raises UnsupportedError if nothing moves.
        """
        return algbw_of(self.time_s_per_gb)

    def in_a_row(self) -> dict[str, object]:
        """Return the rate, the time and the number of steps."""
        rate = self.algbw_gb_s if self.time_s_per_gb else None
        return {"algbw_gb_s": rate, "time_s_per_gb": self.time_s_per_gb, "steps": self.steps}


def cost(schedule: _Tree | StepSchedule | FlowSchedule) -> Cost:
    """Compute the pipelined time of a schedule from the loads of its physical paths.

    Parameters
    ----------
    schedule : any
        Assumed to do what it claims; :func:`forestcoll.schedule.verify` proves that. The phases of
        an allreduce share the links: a link's loads in both are added. In sequential phases the
        time is ``schedule.sequential_s_per_gb``.

    Raises
    ------
    VerificationError
        If nothing moves, or the paths use a link that the topology does not have.
    UnsupportedError
        If it is given anything but a schedule.
    """
    flow = _flow(schedule)
    if flow.busiest_link is None:
        raise VerificationError("the paths of this schedule are empty; verify it before costing it")
    return Cost(flow.time_s_per_gb, flow.busiest_link, flow.loads, flow.whole)


def _flow(schedule: _Tree | StepSchedule | FlowSchedule) -> Flow:
    if isinstance(schedule, StepSchedule):
        traffic = measure_steps(schedule)
        return flow_of_loads(schedule.topology, traffic.loads, traffic.whole)
    if isinstance(schedule, FlowSchedule):
        topology = schedule.topology
        demand = schedule.demand
        whole = schedule.whole * (topology.num_compute if demand is None else demand.bytes)
        return flow_of_loads(topology, loads_of_routes(topology, schedule.routes), whole)
    return pipelined(_phases("cost", schedule))


def _phases(operation: str, schedule: _Tree) -> tuple[AnyForest, ...]:
    """Return the forests of a schedule.

    Raises UnsupportedError if it is not a schedule.
    """
    if isinstance(schedule, AnyForest):
        return (schedule,)
    if not isinstance(schedule, Allreduce):
        raise not_taken(operation, schedule)
    for phase in schedule.phases:
        if not isinstance(phase, AnyForest):
            raise not_taken(operation, phase, "forests as the phases of an allreduce")
    return schedule.phases


def synchronous(schedule: _Tree | StepSchedule | FlowSchedule) -> Steps:
    """Compute the time of a schedule in synchronous steps, with a barrier after each.

    Parameters
    ----------
    schedule : any but an all-to-all of flows
        A forest goes hop by hop (:func:`forestcoll.schedule.lockstep`); in an allreduce the
        gathering follows the reduction. Where switches multicast, a hop leads from one multicasting
        node to the next. With a clock, the steps are those in which transfers start.

    Raises
    ------
    UnsupportedError
        For a factored forest, whose trees are not known one by one (expand it); for a flow
        schedule, which has no steps; for anything but a schedule.
    """
    if isinstance(schedule, FlowSchedule):
        raise UnsupportedError(
            "unsupported: a flow schedule has no steps, as all of its data flows at once; take its "
            "cost"
        )
    if isinstance(schedule, StepSchedule):
        traffic = measure_steps(schedule)
        return Steps(traffic.time_s_per_gb, traffic.steps)
    times = [_hop_by_hop(phase) for phase in _phases("synchronous", schedule)]
    total = sum((one.time_s_per_gb for one in times), start=Fraction(0))
    return Steps(total, sum(one.steps for one in times))


def makespan_s_per_gb(schedule: _Tree | StepSchedule | FlowSchedule) -> Fraction | None:
    """Return the makespan of a schedule with a clock over its size; None if there is no clock.

    The latencies of the topology's links are included.
    """
    clock = schedule.clock if isinstance(schedule, StepSchedule) else None
    return None if clock is None else clock.finish_us * 1000 / clock.size_bytes


def _hop_by_hop(forest: AnyForest) -> Steps:
    if isinstance(forest, FactoredForest):
        raise UnsupportedError(
            "unsupported: a factored forest does not say which tree takes which link, so its steps "
            "are not known; expand it first"
        )
    if isinstance(forest, MulticastForest):
        return _walk_by_walk(forest)
    traffic = measure_hops(forest)
    return Steps(traffic.time_s_per_gb, traffic.steps)


def _walk_by_walk(forest: MulticastForest) -> Steps:
    """Add up the slowest links of each depth; in a reduction, depth counts from the leaves.

    A reduction performs the steps of the matching broadcast in reverse order, so the loads of the
    steps are the same in reverse order, and all trees end together.
    """
    whole, total = sum(forest.weights) * forest.k, Fraction(0)
    depths = forest.depths()
    tree_depth = int(depths.max(initial=0))
    for depth in range(1, tree_depth + 1):
        loads = forest.loads(depths == depth)
        total += flow_of_loads(forest.topology, loads, whole).time_s_per_gb
    return Steps(total, tree_depth)
