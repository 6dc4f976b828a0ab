"""GLOP and PDLP: how they stop, and what they vouch for."""

from collections.abc import Callable

import numpy as np
import pytest

from forestcoll.solver.backends.answer import Answer, Outcome
from forestcoll.solver.backends.or_tools import run_glop, run_pdlp
from forestcoll.solver.linear_program import Program, Settings
from tests.solver.programs import INF, hard, settings, small

Run = Callable[[Program, Settings], Answer]
BOTH = pytest.mark.parametrize("run", [run_glop, run_pdlp])


def column(cost: float, rows: list[float], lower: list[float], upper: list[float]) -> Program:
    """One variable from 0 up, in rows of these entries and bounds."""
    matrix = [[entry] for entry in rows]
    return Program(
        np.array([cost]), matrix, np.array(lower), np.array(upper), np.zeros(1), np.full(1, INF)
    )


@BOTH
def test_point_and_multipliers_are_those_of_the_minimisation(run: Run) -> None:
    """-x - y is least, -8/3, at (4/3, 4/3); a row of one more takes off another third."""
    answer = run(small().as_minimisation, settings())
    assert answer.outcome is Outcome.OPTIMAL
    assert answer.x == pytest.approx([4 / 3, 4 / 3], abs=1e-6)
    assert answer.row_duals == pytest.approx([-1 / 3, -1 / 3], abs=1e-6)
    assert answer.bound is None


@BOTH
def test_infeasible_differs_from_unbounded(run: Run) -> None:
    """Of rows x >= 2 and x <= 1; and -x for x >= 2, which falls for ever."""
    nothing = run(column(-1, [1, 1], [2, -INF], [INF, 1]), settings())
    assert (nothing.outcome, nothing.x) == (Outcome.INFEASIBLE, None)
    endless = run(column(-1, [1], [2], [INF]), settings())
    assert (endless.outcome, endless.x) == (Outcome.UNBOUNDED, None)


def test_a_program_without_an_objective_is_asked_once() -> None:
    """GLOP's word is taken then, as nothing can be unbounded."""
    nothing = run_glop(column(0, [1, 1], [2, -INF], [INF, 1]), settings())
    assert nothing.outcome is Outcome.INFEASIBLE


@BOTH
def test_at_the_limit_there_is_no_optimum(run: Run) -> None:
    """PDLP's point is only on its way to be feasible, but its multipliers may be used."""
    answer = run(hard(400).as_minimisation, settings(seconds=0.002))
    assert answer.outcome is Outcome.LIMIT
    if run is run_pdlp:
        assert answer.x is None
        assert answer.row_duals is not None


@BOTH
def test_ranges_bind_on_either_side(run: Run) -> None:
    """1 <= x <= 2: at 1 if x costs, at 2 if it pays; the row's price is the cost."""
    for cost, best in ((3.0, 1), (-3.0, 2)):
        answer = run(column(cost, [1], [1], [2]), settings())
        assert answer.x == pytest.approx([best], abs=1e-6)
        assert answer.row_duals == pytest.approx([cost], abs=1e-6)
