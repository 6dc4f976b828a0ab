"""Whole numbers of trees below real amounts."""

from fractions import Fraction

from forestcoll.forest_over_time.whole_shares import whole_shares


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
