"""Exact widths of slots."""

from dataclasses import replace
from fractions import Fraction

from forestcoll.forest_over_time.exact_plan import exact_width
from forestcoll.forest_over_time.slot_program import SlotPlan
from tests.forest_over_time.on_paths import columns_of_path


def plan(*moves: tuple[int, tuple[int, ...], float]) -> SlotPlan:
    return SlotPlan(2, 1, 1.0, moves)


def test_the_path_of_three_needs_slots_of_1():
    parts, columns = columns_of_path()
    two = plan((0, (0, 1), 1.0), (1, (0,), 1.0))
    assert exact_width(two, columns, parts.limits, [Fraction(1), Fraction(1)]) == 1
    assert exact_width(two, columns, parts.limits, [Fraction(3), Fraction(1)]) == 3


def test_amounts_that_miss_a_row_by_rounding_are_lowered():
    """To no less than they must be: by less than a part of 720,720."""
    parts, columns = columns_of_path()
    two = plan((0, (0, 1), 1 + 1e-9), (1, (0,), 1 / 3))
    width = exact_width(two, columns, parts.limits, [Fraction(1), Fraction(1, 3)])
    assert width is not None
    assert 1 <= width < 1 + Fraction(1, 10**5)


def test_slots_of_overfull_links_are_wider():
    """In one slot the ends and the middle use the links from b together: half of each fits."""
    parts, columns = columns_of_path()
    two = plan((0, (0, 1), 1.0), (1, (1,), 1.0))
    assert exact_width(two, columns, parts.limits, [Fraction(1), Fraction(1)]) == 2


def test_shared_capacities_are_met_as_fractions():
    """A third of a GB/s for both links of b, which no float is."""
    parts, columns = columns_of_path()
    third = Fraction(1, 3)
    limits = replace(parts.limits, groups=((1, 2),), exact=(*parts.limits.exact, third))
    two = plan((0, (0, 1), 1 / 6), (1, (0,), 1 / 6))
    assert exact_width(two, columns, limits, [Fraction(1), Fraction(1)]) == 6
    more = plan((0, (0, 1), 1 / 3), (1, (0,), 1 / 3))
    assert exact_width(more, columns, limits, [Fraction(1), Fraction(1)]) == 6


def test_trees_that_carry_nothing_are_refused():
    parts, columns = columns_of_path()
    one = plan((0, (0, 1), 1.0))
    assert exact_width(one, columns, parts.limits, [Fraction(1), Fraction(1)]) is None
    assert exact_width(one, columns, parts.limits, [Fraction(1), Fraction(0)]) == 1
