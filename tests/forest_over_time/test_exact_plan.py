"""Exact widths of slots."""

from dataclasses import replace
from fractions import Fraction
from functools import partial

from forestcoll.forest_over_time.exact_plan import exact_width
from forestcoll.forest_over_time.rate_program import Limits
from forestcoll.forest_over_time.slot_program import SlotPlan, SlottedTree, loads_in_slots
from tests.forest_over_time.on_paths import columns_of_path

PARTS, (OF_ENDS, OF_MIDDLE) = columns_of_path()
ENDS, MIDDLE = (0, OF_ENDS.tree), (1, OF_MIDDLE.tree)
LATE = SlottedTree(*ENDS, (-1, 0, 1))
FIRST, LAST = (SlottedTree(*MIDDLE, (slot, -1, slot)) for slot in (0, 1))


def width(
    *moves: tuple[SlottedTree, float],
    ends: Fraction | int = 1,
    middle: Fraction | int = 1,
    limits: Limits = PARTS.limits,
) -> Fraction | None:
    due = {ENDS: Fraction(ends), MIDDLE: Fraction(middle)}
    loads = partial(loads_in_slots, PARTS.hops, PARTS.orbits, 2)
    return exact_width(SlotPlan(2, 1, 1.0, moves), limits, loads, due)


def test_the_path_of_three_needs_slots_of_1():
    two = ((LATE, 1.0), (FIRST, 1.0))
    assert width(*two) == 1
    assert width(*two, ends=3) == 3


def test_amounts_of_a_tree_in_several_slots_add_up():
    assert width((LATE, 0.5), (FIRST, 0.5), (LAST, 0.5), ends=Fraction(1, 2)) == 1


def test_amounts_that_miss_a_row_by_rounding_are_lowered():
    """To no less than they must be: by less than a part of 720,720."""
    found = width((LATE, 1 + 1e-9), (FIRST, 1 / 3), middle=Fraction(1, 3))
    assert found is not None
    assert 1 <= found < 1 + Fraction(1, 10**5)


def test_slots_of_overfull_links_are_wider():
    """In one slot the ends and the middle use the links from b together: half of each fits."""
    assert width((LATE, 1.0), (LAST, 1.0)) == 2


def test_shared_capacities_are_met_as_fractions():
    """A third of a GB/s for both links of b, which no float is."""
    third = Fraction(1, 3)
    limits = replace(PARTS.limits, groups=((1, 2),), exact=(*PARTS.limits.exact, third))
    assert width((LATE, 1 / 6), (FIRST, 1 / 6), limits=limits) == 6
    assert width((LATE, 1 / 3), (FIRST, 1 / 3), limits=limits) == 6


def test_trees_that_carry_nothing_are_refused():
    assert width((LATE, 1.0)) is None
    assert width((LATE, 1.0), middle=0) == 1
