"""Rates of given trees."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from forestcoll.forest_over_time.rate_program import Limits, best_rates, distinct_rows
from tests.forest_over_time.on_paths import Parts, columns_of_path
from tests.hand_networks import network_of


def test_the_path_of_three_by_hand():
    """1 / (T - 2) + 1 / (T - 1) = 1 at T = (5 + sqrt 5) / 2: all bring 1 by then."""
    parts, columns = columns_of_path()
    time = (5 + 5**0.5) / 2
    found = best_rates(columns, parts.limits, time)
    assert found.amount == pytest.approx(1)
    assert found.rates == pytest.approx([1 / (time - 2), 1 / (time - 1)])


def test_trees_that_are_too_late_have_no_rate():
    """By 1.5 us only the root in the middle brings anything: all others need 2 us."""
    parts, columns = columns_of_path()
    only = replace(parts.limits, weights=(1,))
    middle = [columns[1].__class__(0, columns[1].tree, 1, columns[1].loads)]
    found = best_rates([*middle, columns[0]], only, 1.5)
    assert found.rates.tolist() == [1, 0]
    assert found.amount == pytest.approx(0.5)


def test_a_tree_that_ends_within_rounding_of_the_time_has_no_rate():
    """What is left of the time after it, 2e-16, is no entry that a solver takes."""
    parts, columns = columns_of_path()
    only = replace(parts.limits, weights=(1,))
    middle = columns[1].__class__(0, columns[1].tree, 1, columns[1].loads)
    found = best_rates([middle, columns[0]], only, float(np.nextafter(2, 3)))
    assert found.rates.tolist() == [1, 0]
    assert found.amount == pytest.approx(1)


def test_shared_capacities_are_rows_and_raise_prices():
    """Both links between a and b share 1 GB/s: each root has half of it."""
    parts = Parts.of(network_of("a b", "a - b: 1"))
    limits = Limits(2, ((0, 1),), (Fraction(1),) * 3, (1,))
    found = best_rates([parts.column(0, -1, 0)], limits, 1.0)
    assert found.amount == pytest.approx(0.5)
    assert found.link_prices == pytest.approx([0.5, 0.5])


def test_equal_rows_are_stated_once():
    loads, first, place = distinct_rows(np.array([[1.0], [2.0], [1.0]]), np.array([4.0, 4.0, 4.0]))
    assert loads.tolist() == [[1], [2]]
    assert first[place].tolist() == [0, 1, 0]
