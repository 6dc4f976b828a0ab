"""Forests with plans."""

from dataclasses import replace
from fractions import Fraction

from forestcoll.forest_over_time.planned_forest import (
    at_constant_rates,
    in_slots,
    reduction_of,
    slots_of_parts,
)
from forestcoll.schedule import verify
from forestcoll.schedule.forest import Path, Routes
from forestcoll.schedule.time_plan import PARTS, TimePlan
from tests.forest_over_time.on_paths import path_of_three
from tests.hand_networks import network_of
from tests.schedule.made.planned import path_forest, slotted_path, slotted_sum, two_ways


def test_rates_are_constant_until_their_time():
    """1 / (T - 2) + 1 / (T - 1) = 1, rounded up by less than a picosecond."""
    plan = at_constant_rates(path_forest(), 3000, Fraction(0)).plan
    assert plan is not None
    assert (plan.size_bytes, plan.alpha_us, plan.slots) == (3000, 0, None)
    assert 0 <= float(plan.time_us) - (5 + 5**0.5) / 2 < 2e-6


def test_slots_get_their_width():
    rows = slots_of_parts([
        (0, Fraction(1), [-1, 0, 1]), (1, Fraction(1), [0, -1, 0]), (2, Fraction(1), [1, 0, -1])
    ])  # fmt: skip
    assert in_slots(path_forest(), rows, 3000, Fraction(0)) == slotted_path()


def test_slots_that_do_not_fit_are_none():
    rows = slots_of_parts([(tree, Fraction(1), [0, 0, 0]) for tree in range(3)])
    assert in_slots(path_forest(), rows, 3000, Fraction(0)) is None


def test_a_reduction_is_a_gathering_backwards_in_time():
    assert reduction_of(slotted_path(), path_of_three()) == slotted_sum()


def test_a_reduction_whose_slots_overlap_has_constant_rates():
    """From b (node 1) by v or w: a's data reach x equally late, but b's reach a's links unlike."""
    network = network_of(
        "a b [v] [w] [x]", "a - x: 2 1, x - v: 1 1, x - w: 1 1, v - b: 1 1, w - b: 1 5"
    )
    routes = Routes.from_paths({(0, 1): [Path((0, 4, 2, 1), 1), Path((0, 4, 3, 1), 1)]})
    forest = replace(two_ways(network), routes=routes)
    made = in_slots(forest, slots_of_parts([(0, Fraction(1), [-1, 0])]), 2000, Fraction(0))
    assert made is not None
    verify(made)
    reduced = reduction_of(made, network)
    verify(reduced)
    assert isinstance(reduced.plan, TimePlan)
    assert reduced.plan.slots is None


def test_shares_are_rounded_to_parts_of_a_whole():
    """Rows of no parts are left out, and all parts of a batch are sent."""
    tiny = Fraction(1, 3 * PARTS)
    rows = [(0, Fraction(1, 3), [-1, 0]), (0, tiny, [-1, 1]), (0, Fraction(2, 3) - tiny, [-1, 2])]
    found = slots_of_parts([*rows, (1, Fraction(1), [0, -1])])
    assert found.parts.tolist() == [PARTS // 3, 2 * PARTS // 3, PARTS]
    assert found.slot.tolist() == [[-1, 0], [-1, 2], [0, -1]]
