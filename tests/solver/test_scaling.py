"""Programs in numbers that solvers distinguish from zero."""

import numpy as np
import pytest

from forestcoll.solver.backends.answer import Answer, Outcome
from forestcoll.solver.linear_program import Program
from forestcoll.solver.scaling import scaled
from forestcoll.solver.solve import available_methods, solve
from tests.solver.programs import INF, settings


@pytest.mark.parametrize("method", available_methods())
@pytest.mark.parametrize("size", [1e-7, 1e-10, 1e-11])
def test_small_rows_and_costs_are_not_dropped(method: str, size: float) -> None:
    """Minimise s x with s x >= s and 0 <= x <= 9, whatever s: x = 1, worth s, the row's price 1."""
    one = np.ones(1)
    program = Program(size * one, [[size]], size * one, INF * one, 0 * one, 9 * one)
    found = solve(program, settings(method))
    assert found.x == pytest.approx([1], abs=1e-6)
    assert found.objective == pytest.approx(size, rel=1e-6)
    assert found.bound == pytest.approx(size, rel=1e-6)
    assert found.row_duals == pytest.approx([1], abs=1e-6)


def test_a_small_objective_with_whole_variables_is_not_stopped_early() -> None:
    """Maximise s (x + 2y) with x + y <= 3 whole and s = 1e-8: 6 s, at (0, 3)."""
    program = Program(
        1e-8 * np.array([1.0, 2.0]), [[1, 1]], np.array([-INF]), np.array([3.5]), np.zeros(2),
        np.full(2, 9.0), maximise=True, whole=np.ones(2, dtype=bool),
    )  # fmt: skip
    found = solve(program, settings())
    assert found.x == pytest.approx([0, 3])
    assert found.bound == pytest.approx(6e-8)


def test_scaling_is_undone_for_duals_and_bound() -> None:
    """A row of largest entry 3/8 is doubled twice, to 3/2; one of 5 stays; a cost of 6 is 3/2."""
    program = Program(
        np.array([6.0, 1.0]), [[0.375, 0.0], [2.0, 5.0]], np.zeros(2), np.full(2, INF),
        np.zeros(2), np.full(2, 9.0),
    )  # fmt: skip
    found, scaling = scaled(program)
    assert found.matrix.tolist() == [[1.5, 0.0], [2.0, 5.0]]
    assert found.cost.tolist() == [1.5, 0.25]
    assert found.row_upper.tolist() == [INF, INF]
    undone = scaling.undone(
        Answer(Outcome.OPTIMAL, "fine", x=np.ones(2), row_duals=np.ones(2), bound=3.0)
    )
    assert undone.row_duals is not None
    assert undone.row_duals.tolist() == [16.0, 4.0]
    assert undone.bound == 12.0
