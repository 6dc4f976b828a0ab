"""Exact widths and times of allreduces in common slots."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from forestcoll.forest_over_time.common_slots.common_times import CommonTimes, TimesOfPhases
from forestcoll.schedule import Allreduce
from forestcoll.schedule.forest import Path, Routes
from forestcoll.schedule.time_plan import PARTS, Slots
from forestcoll.schedule.transform.reversal import transposed
from forestcoll.topology.shared_capacity import SharedCapacity
from tests.hand_networks import network_of
from tests.schedule.made.planned import common_sum, slots


def slots_of() -> tuple[Slots, Slots]:
    plans = [phase.plan for phase in common_sum().phases]
    first, then = (plan.slots for plan in plans if plan is not None and plan.slots is not None)
    return first, then


def times(
    size: int, alpha: int = 0, *, gather: tuple[int, int, int] = (1, -1, 1), bus: int = 0
) -> tuple[Fraction, ...] | None:
    """Return the width and both ends, with b's slots in the gathering, perhaps on a bus."""
    made, (first, then) = common_sum(), slots_of()
    if bus:
        ends = tuple((link.tail, link.head) for link in made.topology.links)
        network = replace(made.topology, shared=(SharedCapacity("bus", ends, Fraction(bus)),))
        made = replace(
            made,
            reduce=replace(made.reduce, topology=network),
            gather=replace(made.gather, topology=network),
        )
    then = replace(then, slot=np.array([gather], dtype=np.int32))
    found = CommonTimes(made, (first, then)).at(size, Fraction(alpha))
    return None if found is None else (found.width_us, *found.ends_us)


@pytest.mark.parametrize(
    ("size", "alpha", "width", "ends"),
    [(1000, 0, 1, (2, 3)), (300, 0, 1, (2, 3)), (3000, 0, 3, (4, 7)), (1000, 4, 5, (10, 15))],
)
def test_slots_are_as_wide_as_their_data_or_a_hop(
    size: int, alpha: int, width: int, ends: tuple[int, int]
):
    assert times(size, alpha) == (width, *ends)


def test_a_sum_that_waits_two_slots_takes_narrow_ones():
    """Half as wide as a hop; three of them and a hop."""
    assert times(300, gather=(2, -1, 2)) == (Fraction(1, 2), Fraction(3, 2), Fraction(5, 2))


def test_sums_that_leave_at_once_do_not_fit():
    assert times(300, gather=(0, -1, 1)) is None
    assert times(300, gather=(1, -1, 1)) is not None


def test_a_shared_capacity_carries_both_phases():
    """Two links of 1000 bytes in each slot, on a bus of 1 GB/s."""
    assert times(1000, bus=1) == (2, 3, 5)


def test_times_are_values():
    assert TimesOfPhases(Fraction(1), (Fraction(2), Fraction(3))).ends_us[1] == 3


def test_a_slot_carries_what_is_reduced_and_gathered_in_it():
    """Two halves of 2000 bytes on a bus of 1 GB/s: the second slot has 2000 of each phase."""
    made, half = common_sum(), PARTS // 2
    ends = tuple((link.tail, link.head) for link in made.topology.links)
    network = replace(made.topology, shared=(SharedCapacity("bus", ends, Fraction(1)),))
    made = replace(
        made,
        reduce=replace(made.reduce, topology=network),
        gather=replace(made.gather, topology=network),
    )
    rows = [slots((0, half, [at, -1, at]), (0, half, [at + 1, -1, at + 1])) for at in (0, 1)]
    found = CommonTimes(made, (rows[0], rows[1])).at(2000, Fraction(0))
    assert found is not None
    assert found.width_us == 4


def test_hops_inside_a_tree_wait_for_a_slot_of_their_own():
    """A sum waits two slots at a, but the hop from b to c follows in the next one: 1 us."""
    gather = replace(
        common_sum().gather,
        root=np.array([0], dtype=np.int32),
        parent=np.array([[-1, 0, 1]], dtype=np.int32),
        routes=Routes.from_paths({(0, 1): (Path((0, 1), 1),), (1, 2): (Path((1, 2), 1),)}),
        weights=(1, 0, 0),
        plan=None,
    )
    made = Allreduce(transposed(gather, gather.topology), gather)
    until, since = slots((0, PARTS, [-1, 1, 0])), slots((0, PARTS, [-1, 3, 4]))
    found = CommonTimes(made, (until, since)).at(100, Fraction(0))
    assert found is not None
    assert (found.width_us, found.ends_us[1]) == (1, 6)


@pytest.mark.parametrize(("latency", "fits"), [(1, True), (2, False)])
def test_data_of_both_phases_reach_a_link_equally_late(latency: int, fits: bool):
    """From s to b: what c sends for the sum, after 1 us, and what a gathers, after its latency."""
    network = network_of(
        "a b c [s]", f"a - b: 1 1, b - c: 1 1, c - s: 1 1, b - s: 1 1, a - s: 1 {latency}"
    )
    gather = replace(
        common_sum().gather,
        topology=network,
        root=np.array([0], dtype=np.int32),
        parent=np.array([[-1, 0, 1]], dtype=np.int32),
        routes=Routes.from_paths({(0, 1): (Path((0, 3, 1), 1),), (1, 2): (Path((1, 2), 1),)}),
        weights=(1, 0, 0),
        plan=None,
    )
    backwards = Routes.from_paths({(0, 1): (Path((0, 1), 1),), (1, 2): (Path((1, 3, 2), 1),)})
    made = Allreduce(transposed(replace(gather, routes=backwards), network), gather)
    until, since = slots((0, PARTS, [-1, 1, 0])), slots((0, PARTS, [-1, 3, 4]))
    found = CommonTimes(made, (until, since)).at(100, Fraction(0))
    assert (found is not None) == fits
