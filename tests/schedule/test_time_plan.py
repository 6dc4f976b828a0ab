"""Time plans as values."""

from dataclasses import replace
from fractions import Fraction

import numpy as np

from forestcoll.schedule.time_plan import PARTS
from tests.schedule.made.planned import path_forest, slots, slotted_path


def test_halves_to_sixteenths_are_whole_parts():
    assert all(PARTS % number == 0 for number in range(1, 17))


def test_plans_are_equal_by_value():
    """A plan belongs to a forest: without it, or in other slots, it is another forest."""
    assert slotted_path() == slotted_path()
    assert hash(slotted_path()) == hash(slotted_path())
    assert slotted_path() != path_forest()
    plan = slotted_path().plan
    assert plan is not None
    assert plan.slots is not None
    others = [
        replace(plan, size_bytes=1),
        replace(plan, alpha_us=Fraction(1)),
        replace(plan, time_us=Fraction(1)),
        replace(plan, slots=None),
        replace(plan, slots=replace(plan.slots, width_us=Fraction(2))),
        replace(plan, slots=replace(plan.slots, slot=np.zeros((3, 3), dtype=np.int32))),
        replace(plan, slots=replace(plan.slots, common=True)),
        replace(plan, slots=slots()),
    ]
    assert all(plan != other for other in others)
