"""Systems of whole numbers in fractions, against a determinant by hand and numpy."""

import random
import time
from fractions import Fraction

import numpy as np
import pytest

from forestcoll.core.any_network.exact_basis import solve_exactly, transposed
from forestcoll.errors import TimeLimitError


def test_two_equations_by_hand():
    """2a + b = 5 and a - b = 1: a = 2, b = 1. Halves stay halves."""
    assert solve_exactly([{0: 2, 1: 1}, {0: 1, 1: -1}], [5, 1]) == [2, 1]
    assert solve_exactly([{0: 2}], [1]) == [Fraction(1, 2)]
    assert solve_exactly([], []) == []


def test_a_singular_system_has_no_solution():
    """Equal rows, a row of zeros, and a column that no row holds."""
    assert solve_exactly([{0: 1, 1: 1}, {0: 1, 1: 1}], [1, 1]) is None
    assert solve_exactly([{0: 0, 1: 0}, {0: 1, 1: 1}], [0, 1]) is None
    assert solve_exactly([{0: 1}, {0: 2}], [1, 2]) is None


@pytest.mark.parametrize("seed", range(40))
def test_random_systems_satisfy_their_equations(seed: int):
    """Sparse whole matrices of up to 12 rows; numpy's determinant says which are singular."""
    chance = random.Random(seed)
    size = chance.randint(1, 12)
    rows = [
        {j: chance.randint(-3, 3) for j in range(size) if chance.random() < 0.4}
        for _ in range(size)
    ]
    sides = [Fraction(chance.randint(-9, 9), chance.randint(1, 5)) for _ in range(size)]
    dense = np.array([[row.get(j, 0) for j in range(size)] for row in rows], dtype=float)
    found = solve_exactly(rows, sides)
    if abs(np.linalg.det(dense)) < 0.5:
        assert found is None
        return
    assert found is not None
    for row, side in zip(rows, sides, strict=True):
        assert sum(value * found[j] for j, value in row.items()) == side


def test_a_deadline_that_has_passed_stops_it():
    with pytest.raises(TimeLimitError):
        solve_exactly([{0: 2}], [1], time.monotonic() - 1)


def test_columns_become_rows():
    assert transposed([{0: 1, 1: 2}, {1: 3}]) == [{0: 1}, {0: 2, 1: 3}]
