"""Whole numbers of trees below real amounts."""

from fractions import Fraction

from forestcoll.forest_over_time.whole_shares import rounded_down, whole_shares


def test_one_tree_is_enough_where_one_carries_all():
    assert whole_shares([1], [[Fraction(0), Fraction(101, 100)]], 5) == (1, [[0, 1]])


def test_the_least_k_that_fits():
    """0.34 and 0.67 of a shard: a third and two thirds."""
    assert whole_shares([1], [[Fraction(34, 100), Fraction(67, 100)]], 5) == (3, [[1, 2]])


def test_roots_of_other_weights_need_as_many_more():
    found = whole_shares([2, 1], [[Fraction(1), Fraction(1)], [Fraction(1, 2), Fraction(1, 2)]], 5)
    assert found == (2, [[2, 2], [1, 1]])


def test_a_surplus_is_taken_from_the_smallest():
    assert whole_shares([1], [[Fraction(1), Fraction(3), Fraction(2)]], 5) == (1, [[0, 1, 0]])


def test_no_k_within_the_limit():
    assert whole_shares([1], [[Fraction(34, 100), Fraction(67, 100)]], 2) is None


def test_parts_are_rounded_down_until_little_is_lost():
    """A half and two quarters are whole in 12 units of 3 parts; 0.34 is a third but for 0.02.

    A rounding error below a whole number counts as none.
    """
    parts = [Fraction(1, 2), Fraction(1, 4)]
    assert rounded_down(parts, [1, 2], Fraction(1), 9) == [6, 3]
    assert rounded_down([Fraction(34, 100)] * 2, [1, 2], Fraction(98, 100), 9) == [1, 1]
    assert rounded_down([Fraction(1, 2) - Fraction(1, 10**9)], [2], Fraction(1), 1) == [1]


def test_no_number_of_units_within_the_limit():
    assert rounded_down([Fraction(34, 100), Fraction(33, 100)], [1, 2], Fraction(1), 9) is None
