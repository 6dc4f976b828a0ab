"""Pairs of trees that reduce and gather the same data."""

import pytest

from forestcoll.forest_over_time.common_slots.paired_trees import TreePair, paired
from forestcoll.forest_over_time.slot_program import SlotPlan
from tests.forest_over_time.common_slots.on_common_path import of_middle


def plan_of(*moves: tuple[int, float], gap: int = 1, slots: int = 3) -> SlotPlan:
    return SlotPlan(slots, gap, 1.0, tuple((of_middle(first), many) for first, many in moves))


def test_the_first_sums_are_gathered_first():
    """The tree of the last slot reduces in the first one."""
    early, late = of_middle(1), of_middle(2)
    assert paired(plan_of((2, 1.0), (1, 1.0))) == [
        TreePair(late, early, 1.0),
        TreePair(early, late, 1.0),
    ]


def test_unequal_amounts_are_cut():
    early, late = of_middle(1), of_middle(2)
    assert paired(plan_of((2, 3.0), (1, 1.0))) == [
        TreePair(late, early, 1.0),
        TreePair(late, late, 2.0),
        TreePair(early, late, 1.0),
    ]


def test_what_would_leave_before_it_is_complete_has_no_pair():
    """2 + 1e-9 leave early, 2 are reduced in time: the rest is a rounding error."""
    found = paired(plan_of((2, 2.0), (1, 2.0 + 1e-9)))
    assert sum(pair.amount for pair in found) == pytest.approx(4.0)
    assert (of_middle(1), of_middle(1)) not in {(one.reduction, one.gathering) for one in found}


def test_hops_of_two_slots_leave_two_slots_later():
    """Reduced in slot 0 of three, b's sum leaves in slot 2 only."""
    assert len(paired(plan_of((2, 1.0), gap=2))) == 1
    assert not paired(plan_of((1, 1.0), gap=2))
