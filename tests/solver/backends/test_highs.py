"""HiGHS: what it vouches for, and what it would drop."""

from dataclasses import replace

import highspy
import numpy as np
import pytest

from forestcoll.errors import (
    InvalidParameterError,
)
from forestcoll.solver.backends.answer import Outcome
from forestcoll.solver.backends.highs import _configure, run
from forestcoll.solver.linear_program import Program
from forestcoll.solver.solve import solve
from tests.solver.programs import INF, hard, settings, small


def test_the_number_of_threads_may_change_between_runs() -> None:
    """HiGHS keeps a pool of threads and refuses another size of it unless it is reset."""
    for threads in (1, 2, 1):
        assert solve(small(), settings(threads=threads)).objective == pytest.approx(8 / 3)


def test_entries_that_the_solver_would_drop_are_refused() -> None:
    """In the row x + s y >= 2 with x <= 1 the least y is 1/s: found at 1e-11, refused at 1e-13."""
    zero, wide = np.zeros(2), np.array([1.0, 1e13])
    for size, known in ((1e-11, True), (1e-13, False)):
        program = Program(
            np.array([0.0, 1.0]), [[1.0, size]], np.array([2.0]), np.array([INF]), zero, wide
        )
        if known:
            assert solve(program, settings()).objective == pytest.approx(1 / size)
        else:
            with pytest.raises(InvalidParameterError, match="1e-13, which HiGHS takes for zero"):
                solve(program, settings())


@pytest.mark.parametrize("method", ["highs", "highs-ipm", "highs-pdlp"])
def test_point_and_multipliers_are_those_of_the_minimisation(method: str) -> None:
    """-x - y is least, -8/3, at (4/3, 4/3); a row of one more takes off another third."""
    answer = run(small().as_minimisation, settings(method))
    assert answer.outcome is Outcome.OPTIMAL
    assert answer.x == pytest.approx([4 / 3, 4 / 3], abs=1e-6)
    assert answer.row_duals == pytest.approx([-1 / 3, -1 / 3], abs=1e-6)
    assert answer.bound is None


def test_with_whole_variables_there_is_a_bound_and_there_are_no_multipliers() -> None:
    """Whatever the algorithm: x + 2y <= 4 and 2x + y <= 4 have (1, 1) and (2, 0) and no 3."""
    whole = replace(small().as_minimisation, whole=np.ones(2, dtype=bool))
    for method in ("highs", "highs-pdlp"):
        answer = run(whole, settings(method))
        assert answer.outcome is Outcome.OPTIMAL
        assert (answer.row_duals, answer.bound) == (None, -2)


@pytest.mark.parametrize("method", ["highs", "highs-ipm"])
def test_infeasible_differs_from_unbounded(method: str) -> None:
    """Of rows x >= 2 and x <= 1; and -x for x >= 2, which falls for ever."""
    one = np.ones(1)
    nothing = Program(
        -one, [[1.0], [1.0]], np.array([2, -INF]), np.array([INF, 1]), 0 * one, INF * one
    )
    assert run(nothing, settings(method)).outcome is Outcome.INFEASIBLE
    endless = Program(-one, [[1.0]], 2 * one, INF * one, 0 * one, INF * one)
    assert run(endless, settings(method)).outcome is Outcome.UNBOUNDED


def test_without_an_objective_the_simplex_is_primal() -> None:
    """Any feasible point is optimal. Branch and cut keeps the dual simplex, for its nodes."""
    point = replace(small().as_minimisation, cost=np.zeros(2))
    assert run(point, settings()).outcome is Outcome.OPTIMAL
    for program, strategy in (
        (point, 4),
        (small().as_minimisation, 1),
        (replace(point, whole=np.ones(2, dtype=bool)), 1),
    ):
        highs = highspy.Highs()
        _configure(highs, program, settings())
        assert highs.getOptionValue("simplex_strategy")[1] == strategy


def test_a_program_of_nothing_is_solved() -> None:
    """HiGHS has a status of its own for it."""
    none = np.zeros(0)
    answer = run(Program(none, np.zeros((0, 0)), none, none, none, none), settings())
    assert answer.outcome is Outcome.OPTIMAL


def test_at_the_limit_there_is_no_optimum() -> None:
    assert run(hard(400).as_minimisation, settings(seconds=0.001)).outcome is Outcome.LIMIT
