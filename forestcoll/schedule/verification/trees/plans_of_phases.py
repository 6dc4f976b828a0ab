"""Proof that the phases of an allreduce can keep to their plans together.

Problem: does the gathering wait for its sums, and do both phases together overload no link, if they
         share time slots? Without common slots the gathering begins when the reduction has ended.
Input:   an allreduce whose phases are proved, each with its plan or without.
Output:  the time of both plans together, or the first violation, by name.
Cost:    that of :mod:`forestcoll.schedule.verification.trees.plan_times`.
Source:  docs/mathematics/forests-over-time.md. Shares no code with what makes plans.

In common slots, rows of equal place carry the same data. A sum leaves its root after the first data
of the last summand have arrived; both flow for the width of a slot, so later data are in time, too.
"""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from typing import Any

import numpy as np

from forestcoll.schedule.allreduce import Allreduce
from forestcoll.schedule.forest import Forest
from forestcoll.schedule.time_plan import Slots, TimePlan
from forestcoll.schedule.verification.naming import fail, gpu_name
from forestcoll.schedule.verification.paths import check_paths
from forestcoll.schedule.verification.trees.plan_times import (
    Use,
    bytes_of_a_part,
    check_rates_of,
    limits_of,
)

__all__ = ["check_alone", "time_of_both_us"]


def check_alone(schedule: Any) -> None:
    """Refuse common slots in a schedule of one phase."""
    plan = getattr(schedule, "plan", None)
    if plan is not None and plan.slots is not None and plan.slots.common:
        fail("the plan has common slots, which only the phases of an allreduce have")


def time_of_both_us(schedule: Allreduce[Any]) -> Fraction | None:
    """Return the time of an allreduce by the plans of its phases; None if they have none.

    Raises
    ------
    VerificationError
        If plans are for unlike sizes or latencies; for common slots, if the trees of the phases do
        not match, sums leave too soon, or a link carries more than it can.
    """
    plans: list[TimePlan | None] = [getattr(phase, "plan", None) for phase in schedule.phases]
    if len({plan and (plan.size_bytes, plan.alpha_us) for plan in plans}) > 1:
        fail("the plans of the phases are for unlike sizes or latencies; both are for one, or none")
    reduce, gather = plans
    if reduce is None or gather is None:
        return None
    common = [
        plan.slots for plan in (reduce, gather) if plan.slots is not None and plan.slots.common
    ]
    if not common:
        return reduce.time_us + gather.time_us
    if len(common) < 2:
        fail("one phase has common slots and the other has not; both have, or none")
    uses = [Use.of(phase, phase.plan, check_paths(phase)) for phase in schedule.phases]
    _check_alike(schedule, *common)
    _check_sums(schedule, uses[0])
    _check_links(schedule, uses)
    return gather.time_us  # every sum leaves its root after its data have arrived there


def _check_alike(schedule: Allreduce[Forest], reduce: Slots, gather: Slots) -> None:
    """Check that trees and rows of equal place carry the same data, in slots of one width."""
    some, others = schedule.phases
    if some.k != others.k or not np.array_equal(some.root, others.root):
        fail("common slots need trees of the same roots in both phases, place by place")
    if not np.array_equal(some.multiplicity, others.multiplicity):
        fail("common slots need trees of the same multiplicities in both phases, place by place")
    if not (
        np.array_equal(reduce.tree, gather.tree) and np.array_equal(reduce.parts, gather.parts)
    ):
        fail("common slots need rows of the same parts in both phases, place by place")
    if reduce.width_us != gather.width_us:
        fail(
            f"common slots have one width; they have {reduce.width_us} us in the reduction, and "
            f"{gather.width_us} us in the gathering"
        )


def _check_sums(schedule: Allreduce[Forest], use: Use) -> None:
    """Check that no sum leaves its root before its first data are complete there."""
    reduce, gather = schedule.phases
    assert reduce.plan is not None
    assert gather.plan is not None
    assert reduce.plan.slots is not None
    assert gather.plan.slots is not None
    late, values = use.slowest(reduce)
    width, tree = reduce.plan.slots.width_us, reduce.plan.slots.tree
    root = reduce.root[tree][:, None]
    into, out = reduce.parent[tree] == root, gather.parent[tree] == root
    slots = zip(reduce.plan.slots.slot.tolist(), gather.plan.slots.slot.tolist(), strict=True)
    for row, (until, since) in enumerate(slots):
        complete = max(
            until[rank] * width + values[late[tree[row], rank]]
            for rank in np.flatnonzero(into[row]).tolist()
        )
        begins = min(since[rank] for rank in np.flatnonzero(out[row]).tolist())
        if begins * width < complete:
            fail(
                f"row {row} of the plans: {gpu_name(reduce, int(root[row, 0]))} gathers in slot "
                f"{begins}, from {begins * width} us on, what it has summed up at {complete} us"
            )


def _check_links(schedule: Allreduce[Forest], uses: list[Use]) -> None:
    """Check that no link or shared capacity is above its bandwidth at any time."""
    loads: dict[int, dict[tuple[int, Fraction], int]] = defaultdict(lambda: defaultdict(int))
    plan: TimePlan | None = None
    for phase, use in zip(schedule.phases, uses, strict=True):
        plan = phase.plan
        assert plan is not None
        assert plan.slots is not None
        for link, each in use.carried(plan.slots).items():
            for moment, load in each:
                loads[link][moment] += load
    assert plan is not None
    assert plan.slots is not None
    check_rates_of(
        limits_of(schedule.gather),
        {link: list(each.items()) for link, each in loads.items()},
        plan.slots.width_us,
        bytes_of_a_part(schedule.gather, plan),
    )
