"""Exact widths of slots."""

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
    parts, columns = columns_of_path()
    two = plan((0, (0, 1), 1 + 1e-9), (1, (0,), 1 / 3))
    width = exact_width(two, columns, parts.limits, [Fraction(1), Fraction(1, 3)])
    assert width is not None
    assert 1 <= width < 1 + Fraction(1, 10**5)


def test_overfull_links_are_refused():
    """In one slot the ends and the middle would use the links from b together."""
    parts, columns = columns_of_path()
    two = plan((0, (0, 1), 1.0), (1, (1,), 1.0))
    assert exact_width(two, columns, parts.limits, [Fraction(1), Fraction(1)]) is None


def test_trees_that_carry_nothing_are_refused():
    parts, columns = columns_of_path()
    one = plan((0, (0, 1), 1.0))
    assert exact_width(one, columns, parts.limits, [Fraction(1), Fraction(1)]) is None
    assert exact_width(one, columns, parts.limits, [Fraction(1), Fraction(0)]) == 1
