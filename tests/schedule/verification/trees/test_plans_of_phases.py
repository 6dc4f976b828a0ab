"""Plans of both phases of an allreduce, proved together or refused."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from forestcoll import generate
from forestcoll.schedule import Allreduce, verify
from forestcoll.schedule.forest import Forest
from forestcoll.schedule.time_plan import PARTS
from forestcoll.topology.shared_capacity import SharedCapacity
from tests.schedule.made.planned import common_sum, path_forest, slots, slotted_path, slotted_sum
from tests.schedule.verification.rejecting import rejected


def with_rows(forest: Forest, time: int | Fraction | None = None, **changes: Any) -> Forest:
    plan = forest.plan
    assert plan is not None
    assert plan.slots is not None
    due = plan.time_us if time is None else Fraction(time)
    return replace(forest, plan=replace(plan, time_us=due, slots=replace(plan.slots, **changes)))


def gathering(time: int | Fraction | None = None, **changes: Any) -> Allreduce[Forest]:
    made = common_sum()
    return replace(made, gather=with_rows(made.gather, time, **changes))


def at(*slot: int) -> Any:
    return np.array([slot], dtype=np.int32)


def test_phases_in_common_slots_are_proved():
    """Sums of the first slot leave in the second: 2 us of data and 1 us of latency."""
    assert verify(common_sum()).plan_time_us == 3


def test_phases_that_follow_each_other_add_up():
    assert verify(Allreduce(slotted_sum(), slotted_path())).plan_time_us == 6
    assert verify(Allreduce(replace(slotted_sum(), plan=None), path_forest())).plan_time_us is None


def test_phases_have_plans_for_one_size_and_alpha():
    made, message = Allreduce(slotted_sum(), slotted_path()), "both are for one, or none"
    assert made.gather.plan is not None
    alone = replace(made, reduce=replace(made.reduce, plan=None))
    larger = replace(made.gather, plan=replace(made.gather.plan, size_bytes=2999))
    assert message in rejected(alone)
    assert message in rejected(replace(made, gather=replace(made.gather, plan=None)))
    assert message in rejected(replace(made, gather=larger))
    slower = with_rows(made.gather, 6, width_us=Fraction(2))
    assert slower.plan is not None
    later = replace(slower, plan=replace(slower.plan, alpha_us=Fraction(1)))
    assert message in rejected(replace(made, gather=later))


def test_sums_are_complete_before_they_leave():
    """Until 1 us nothing has arrived at b; nor has it if slots take only half of that."""
    assert rejected(gathering(2, slot=at(0, -1, 0))) == (
        "row 0 of the plans: b gathers in slot 0, from 0 us on, what it has summed up at 1 us"
    )
    assert "in slot 0" in rejected(gathering(3, slot=at(0, -1, 1)))
    late = common_sum()
    late = replace(late, reduce=with_rows(late.reduce, 3, slot=at(0, -1, 1)))
    assert "in slot 1, from 1 us on, what it has summed up at 2 us" in rejected(late)


def test_waiting_sums_are_proved():
    assert verify(gathering(4, slot=at(1, -1, 2))).plan_time_us == 4


def test_both_phases_have_common_slots_or_none_has():
    assert rejected(gathering(common=False)) == (
        "one phase has common slots and the other has not; both have, or none"
    )
    assert rejected(common_sum().gather) == (
        "the plan has common slots, which only the phases of an allreduce have"
    )


def test_common_slots_have_one_width():
    """Twice as wide, the second slot is from 2 to 4 us."""
    assert rejected(gathering(5, width_us=Fraction(2))) == (
        "common slots have one width; they have 1 us in the reduction, and 2 us in the gathering"
    )


def test_rows_carry_the_same_data():
    half = PARTS // 2
    rows = slots((0, half, [1, -1, 1]), (0, half, [1, -1, 1]))
    assert "rows of the same parts" in rejected(
        gathering(tree=rows.tree, parts=rows.parts, slot=rows.slot)
    )
    both = common_sum()
    both = Allreduce(
        with_rows(
            both.reduce, tree=rows.tree, parts=rows.parts, slot=at(0, -1, 0).repeat(2, axis=0)
        ),
        with_rows(both.gather, tree=rows.tree, parts=rows.parts, slot=rows.slot),
    )
    assert verify(both).plan_time_us == 3
    unlike = with_rows(both.gather, parts=np.array([half - 1, half + 1]))
    assert "rows of the same parts" in rejected(replace(both, gather=unlike))


def star(*multiplicity: int, rows: tuple[int, ...] | None = None) -> Allreduce[Forest]:
    """All trees of b in batches of these multiplicities; rows are of all batches in turn."""
    made, total = common_sum(), sum(multiplicity)
    batches = len(multiplicity)
    phases = []
    for phase, slot in zip(made.phases, (0, 1), strict=True):
        order = rows if rows is not None and slot else range(batches)
        of_rows = slots(*((tree, PARTS, [slot, -1, slot]) for tree in order))
        plan = phase.plan
        assert plan is not None
        phases.append(
            replace(
                phase,
                k=total,
                congestion=Fraction(total),
                root=phase.root.repeat(batches),
                multiplicity=np.array(multiplicity),
                parent=phase.parent.repeat(batches, axis=0),
                routes=replace(phase.routes, multiplicity=total * phase.routes.multiplicity),
                plan=replace(plan, slots=replace(of_rows, common=True)),
            )
        )
    return Allreduce(*phases)


def test_trees_are_of_the_same_roots_and_multiplicities():
    """Three trees of b as 1 and 2 or as 2 and 1; or as one batch; or another k."""
    some = star(1, 2)
    assert verify(some).plan_time_us == 3
    assert "trees of the same multiplicities" in rejected(replace(some, gather=star(2, 1).gather))
    assert "trees of the same roots" in rejected(replace(some, gather=star(3).gather))
    assert "trees of the same roots" in rejected(replace(some, gather=star(2, 4).gather))
    assert "rows of the same parts" in rejected(star(1, 2, rows=(1, 0)))


def overlapping(limit: int) -> Allreduce[Forest]:
    """2000 bytes in two halves: b sums up the second one while it sends the first.

    All links are on one bus.
    """
    made, half = common_sum(), PARTS // 2
    ends = tuple((link.tail, link.head) for link in made.topology.links)
    bus = SharedCapacity("bus", ends, Fraction(limit))
    phases = []
    for phase, first in zip(made.phases, (0, 1), strict=True):
        rows = slots(*((0, half, [slot, -1, slot]) for slot in (first, first + 1)))
        plan = phase.plan
        assert plan is not None
        plan = replace(
            plan,
            size_bytes=2000,
            time_us=Fraction(3 + first),
            slots=replace(rows, common=True),
        )
        network = replace(phase.topology, shared=(bus,))
        phases.append(replace(phase, topology=network, plan=plan))
    return Allreduce(*phases)


def test_links_carry_both_phases():
    """A bus of 3 GB/s carries the 2 GB/s of each phase, but not of both."""
    assert verify(overlapping(4)).plan_time_us == 4
    assert "shared capacity 'bus' carries 4 GB/s from 1 us on" in rejected(overlapping(3))


def test_made_allreduces_are_proved():
    timed = generate("mi250:boxes=1", collective="allreduce", size=4096).timed
    assert timed is not None
    assert timed.plan == "common slots"
    assert verify(timed.schedule).plan_time_us == timed.time_us
