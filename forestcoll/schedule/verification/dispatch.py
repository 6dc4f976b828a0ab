"""Independent proof that a schedule performs its collective and attains its claims.

Problem: does every tree span, does every shard reach every GPU (in a reduction, every contribution
         its root exactly once), is load(e) <= U b(e) on every link e, and is the time the optimum
         where that is claimed?
Input:   a forest, explicit or factored: batches of trees over the GPUs or over the items of tight
         sets, and the physical paths of their edges; or physical trees with multicast switches; or
         two of one kind, an allreduce.
Output:  a verdict with the congestion measured exactly, or the first violation, by name.
Cost:    O(log depth) passes over the B x N parents for B batches over N GPUs, and one sort-free
         look-up per hop of a path.
Source:  ForestColl sections 2 and 4: out-trees that span the compute nodes, the cost model
         max load(e) / b(e), and the cut bound (*). Shares no code with what makes forests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from forestcoll.errors import VerificationError
from forestcoll.schedule.allreduce import Allreduce, AnyForest, AnySchedule, TreeSchedule, not_taken
from forestcoll.schedule.flows import FlowSchedule
from forestcoll.schedule.steps import StepSchedule
from forestcoll.schedule.verification.naming import fail
from forestcoll.schedule.verification.verdict import AllreduceVerdict, Verdict

if TYPE_CHECKING:
    from forestcoll.schedule.verification.flows import FlowVerdict
    from forestcoll.schedule.verification.steps.steps import StepVerdict

__all__ = ["verify"]


@overload
def verify(schedule: AnyForest) -> Verdict: ...
@overload
def verify(schedule: Allreduce[Any]) -> AllreduceVerdict: ...
@overload
def verify(schedule: StepSchedule) -> StepVerdict: ...
@overload
def verify(schedule: FlowSchedule) -> FlowVerdict: ...
@overload
def verify(schedule: TreeSchedule) -> Verdict | AllreduceVerdict: ...
@overload
def verify(schedule: TreeSchedule | StepSchedule) -> Verdict | AllreduceVerdict | StepVerdict: ...
@overload
def verify(schedule: AnySchedule) -> Verdict | AllreduceVerdict | StepVerdict | FlowVerdict: ...
def verify(
    schedule: AnySchedule,
) -> Verdict | AllreduceVerdict | StepVerdict | FlowVerdict:
    """Prove that a schedule performs its collective within its claims.

    Parameters
    ----------
    schedule : Forest, FactoredForest, MulticastForest, Allreduce, StepSchedule or FlowSchedule
        From any source: nothing in it is trusted. A factored forest is proved as it is, not
        expanded; its verdict is that of the expanded forest.

    Returns
    -------
    Verdict, AllreduceVerdict, StepVerdict or FlowVerdict

    Raises
    ------
    VerificationError
        At the first violation, with a counter-example in the topology's names. Trees are
        numbered as batches, from 0.
    UnsupportedError
        If it is given anything but a schedule.

    Notes
    -----
    Checked in this order: arrays, roots and multiplicities, trees, paths, the paths' multiplicities
    against the trees, the time plan, link loads against the claimed congestion, the claimed
    optimum. For a step schedule: arrays, chunks, paths, steps, delivery (with a clock: times before
    it, rates after). For a flow schedule: arrays, pairs, paths, and that the paths of each pair
    carry its whole part.
    """
    # Each proof is loaded where it is needed: no command starts by loading all of them.
    if isinstance(schedule, FlowSchedule):
        from forestcoll.schedule.verification.flows import verify_flows

        return verify_flows(schedule)
    if isinstance(schedule, StepSchedule):
        from forestcoll.schedule.verification.steps.steps import verify_steps

        return verify_steps(schedule)
    if isinstance(schedule, Allreduce):
        return _verify_phases(schedule)
    if not isinstance(schedule, AnyForest):
        raise not_taken("verify", schedule)
    from forestcoll.schedule.verification.trees.forest import verify_forest
    from forestcoll.schedule.verification.trees.plans_of_phases import check_alone

    check_alone(schedule)
    return verify_forest(schedule)[0]


def _verify_phases(schedule: Allreduce[Any]) -> AllreduceVerdict:
    """Check both phases, that the second gathers the sums of the first, and the bound."""
    from forestcoll.schedule.verification.trees.allreduce import PhaseLoads, check_allreduce
    from forestcoll.schedule.verification.trees.forest import verify_forest
    from forestcoll.schedule.verification.trees.plans_of_phases import time_of_both_us

    verdicts, loads = [], []
    for phase in schedule.phases:
        if not isinstance(phase, AnyForest):
            raise not_taken("verify", phase, "forests as the phases of an allreduce")
    for name, phase in zip(("reduce", "gather"), schedule.phases, strict=True):
        try:
            verdict, load = verify_forest(phase)
        except VerificationError as error:
            fail(f"phase {name}: {error}")
        verdicts.append(verdict)
        loads.append(PhaseLoads(load, sum(phase.weights) * phase.k))
    shared = check_allreduce(schedule, *loads)
    reduce, gather = verdicts
    return AllreduceVerdict(
        reduce=reduce,
        gather=gather,
        time_s_per_gb=shared.time_s_per_gb,
        algbw_gb_s=1 / shared.time_s_per_gb if shared.time_s_per_gb else None,
        busiest_link=shared.busiest,
        sequential_s_per_gb=reduce.time_s_per_gb + gather.time_s_per_gb,
        bound_gb_s=shared.bound_gb_s,
        model=schedule.bound.model if schedule.bound is not None else None,
        optimal=shared.optimal,
        plan_time_us=time_of_both_us(schedule),
    )
