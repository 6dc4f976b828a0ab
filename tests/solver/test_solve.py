"""One interface to all solvers: the same answers, and nothing believed."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from forestcoll.errors import (
    InfeasibleError,
    SolverError,
    TimeLimitError,
    UnknownMethodError,
    UnsupportedError,
)
from forestcoll.solver.backends import highs
from forestcoll.solver.backends.answer import Answer, Outcome
from forestcoll.solver.linear_program import (
    Basis,
    Place,
    Program,
    Settings,
    dual_bound,
    violation,
)
from forestcoll.solver.solve import METHODS, available_methods, solve
from forestcoll.solver.solve import _judged as judged
from tests.solver.programs import INF, TOLERANCE, hard, settings, small


@pytest.mark.parametrize("method", available_methods())
@pytest.mark.parametrize("maximise", [True, False])
def test_every_method_finds_optimum_duals_and_bound(method: str, maximise: bool) -> None:
    """Each row's price is 1/3: the rows added and divided by three give x + y <= 8/3."""
    sign = 1 if maximise else -1
    found = solve(small(maximise), settings(method))
    assert found.status == "optimal"
    assert found.objective == pytest.approx(sign * 8 / 3, abs=1e-6)
    assert found.bound == pytest.approx(sign * 8 / 3, abs=1e-6)
    assert found.x == pytest.approx([4 / 3, 4 / 3], abs=1e-6)
    assert found.row_duals == pytest.approx([sign / 3, sign / 3], abs=1e-6)
    assert found.violation <= 100 * TOLERANCE
    assert found.settings.method == method


@pytest.mark.parametrize("method", available_methods())
def test_ranges_equalities_and_free_variables(method: str) -> None:
    """Minimise u with u - v = 1, -3 <= u + v <= 9 and u, v free: u = -1, v = -2."""
    found = solve(
        Program(
            np.array([1.0, 0.0]), [[1, -1], [1, 1]], np.array([1.0, -3.0]), np.array([1.0, 9.0]),
            np.full(2, -INF), np.full(2, INF),
        ),
        settings(method),
    )  # fmt: skip
    assert found.x == pytest.approx([-1, -2], abs=1e-6)
    assert found.bound == pytest.approx(-1, abs=1e-6)
    assert found.row_duals == pytest.approx([0.5, 0.5], abs=1e-6)


@pytest.mark.parametrize("method", available_methods())
def test_all_methods_agree_on_random_programs(method: str) -> None:
    """Random packings: every method within 1e-6 of HiGHS's simplex, and of its own bound."""
    for seed in range(5):
        chance = np.random.default_rng(seed)
        matrix = sp.random(12, 20, 0.4, random_state=chance)
        program = Program(
            chance.uniform(1, 2, 20), matrix, np.full(12, -INF), chance.uniform(1, 3, 12),
            np.zeros(20), np.full(20, 5.0), maximise=True,
        )  # fmt: skip
        best = solve(program, settings()).objective
        found = solve(program, settings(method))
        assert found.objective == pytest.approx(best, rel=1e-6)
        assert found.bound == pytest.approx(best, rel=1e-6)


def square() -> Program:
    """Maximise x + y below x + y <= 1: both corners are best."""
    return Program(np.ones(2), [[1, 1]], -INF * np.ones(1), np.ones(1), np.zeros(2), np.ones(2),
        maximise=True,
    )  # fmt: skip


@pytest.mark.parametrize("basic", [0, 1])
def test_a_program_begins_with_its_basis(basic: int) -> None:
    """Of two best corners the one that it begins with is found, and returned as a basis."""
    columns = np.full(2, Place.LOWER, dtype=np.int8)
    columns[basic] = Place.BASIC
    start = Basis(columns, np.full(1, Place.UPPER, dtype=np.int8))
    found = solve(replace(square(), start=start), settings())
    assert found.x == pytest.approx([1 - basic, basic])
    assert found.basis is not None
    assert found.basis.columns.tolist() == columns.tolist()
    assert found.basis.rows.tolist() == [Place.UPPER]


@pytest.mark.parametrize("upper", [0, 1])
def test_a_basis_of_too_few_columns_is_completed(upper: int) -> None:
    """One column is at its upper bound of 1, none basic: that corner is best, and is kept."""
    columns = np.full(2, Place.LOWER, dtype=np.int8)
    columns[upper] = Place.UPPER
    start = Basis(columns, np.full(1, Place.UPPER, dtype=np.int8))
    assert solve(replace(square(), start=start), settings()).x == pytest.approx([1 - upper, upper])


def test_a_free_column_may_be_in_no_basis() -> None:
    """Minimise y with 1 <= y <= 2 and x free: x is at 0, not at a bound; one may begin there."""
    program = Program(np.array([0.0, 1.0]), [[0, 1]], np.ones(1), np.full(1, 2.0),
        np.array([-INF, 0]), np.full(2, INF),
    )  # fmt: skip
    found = solve(program, settings())
    assert found.basis is not None
    assert found.basis.columns.tolist() == [Place.LOWER, Place.BASIC]
    assert solve(replace(program, start=found.basis), settings()).objective == pytest.approx(1)


def test_only_a_simplex_method_ends_with_a_basis() -> None:
    assert solve(small(), settings("highs")).basis is not None
    assert solve(small(), settings("highs-pdlp")).basis is None


def test_whole_variables_have_no_basis_but_may_begin_with_one() -> None:
    start = solve(square(), settings()).basis
    assert start is not None
    found = solve(replace(square(), start=start, whole=np.ones(2, dtype=bool)), settings())
    assert found.objective == pytest.approx(1)
    assert found.basis is None


def test_a_point_at_a_limit_has_no_basis() -> None:
    """The last basis of a search that was stopped is not that of an optimum."""
    basis = solve(small(), settings()).basis
    late = Answer(Outcome.LIMIT, "late", np.ones(2), np.zeros(2), basis=basis)
    with pytest.raises(TimeLimitError) as caught:
        judged(small(), settings(), late)
    assert caught.value.incumbent is not None
    assert caught.value.incumbent.basis is None


def test_what_a_basis_misleads_is_solved_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """A solver that ends with wrong multipliers after a start is asked again without it."""
    asked = []

    def run(program: Program, given: Settings) -> Answer:
        asked.append(program.start)
        answer = highs.run(replace(program, start=None), given)
        return answer if program.start is None else replace(answer, row_duals=np.zeros(1))

    monkeypatch.setitem(METHODS, "highs", ("tests.solver.test_solve", "_misled"))
    monkeypatch.setattr("tests.solver.test_solve._misled", run, raising=False)
    start = Basis(np.full(2, Place.LOWER, dtype=np.int8), np.full(1, Place.UPPER, dtype=np.int8))
    assert solve(replace(square(), start=start), settings()).objective == pytest.approx(1)
    assert asked == [start, None]


@pytest.mark.parametrize("method", available_methods())
def test_infeasible(method: str) -> None:
    """Rows x + y >= 5 and x + y <= 4, as rows of opposite signs; with an objective that rises."""
    program = Program(
        np.ones(2), [[1, 1], [-1, -1]], np.array([5.0, -4.0]), np.full(2, INF),
        np.zeros(2), np.full(2, INF), maximise=True,
    )  # fmt: skip
    with pytest.raises(InfeasibleError, match="no solution"):
        solve(program, settings(method))


@pytest.mark.parametrize("method", available_methods())
def test_unbounded(method: str) -> None:
    """The row x - 2y <= 1 lets both rise for ever."""
    program = Program(
        np.ones(2), [[1, -2]], np.array([-INF]), np.ones(1), np.zeros(2), np.full(2, INF),
        maximise=True,
    )  # fmt: skip
    with pytest.raises(SolverError, match="no bound"):
        solve(program, settings(method))


@pytest.mark.parametrize("method", ["highs", "highs-pdlp", "glop", "pdlp"])
def test_the_time_limit_error_has_the_bound_and_any_incumbent(method: str) -> None:
    """An incumbent, if there is one, is feasible and below the bound; all ones bound the sum."""
    program = hard()
    with pytest.raises(TimeLimitError, match="at its limit") as caught:
        solve(program, settings(method, seconds=0.01))
    assert isinstance(caught.value.bound, float)
    assert caught.value.bound <= 700 + 1e-6
    known = caught.value.incumbent
    if known is not None:
        assert known.status == "feasible"
        assert violation(program, known.x) <= 1e-6
        assert known.objective <= caught.value.bound + 1e-6


def test_whole_variables() -> None:
    """Rows x + 2y <= 4.5 and 2x + y <= 4.5: the sum of whole numbers is at most 2.

    Added up, 3 (x + y) <= 9, so the relaxation has 3; (1, 1), (2, 0) and (0, 2) have 2 and no whole
    point has 3: (2, 1) needs 5, (3, 0) needs 6.
    """
    program = Program(
        np.ones(2), [[1, 2], [2, 1]], np.full(2, -INF), np.full(2, 4.5), np.zeros(2),
        np.full(2, INF), maximise=True, whole=np.ones(2, dtype=bool),
    )  # fmt: skip
    for method in ("highs", "gurobi"):
        if method in available_methods():
            found = solve(program, settings(method))
            assert found.objective == pytest.approx(2)
            assert found.bound == pytest.approx(2)
            assert found.row_duals is None
    with pytest.raises(UnsupportedError, match="no whole variables"):
        solve(program, settings("glop"))


def test_a_wrong_point_that_is_called_optimal_is_refused() -> None:
    """(2, 2) misses both rows by 2."""
    wrong = Answer(Outcome.OPTIMAL, "fine", x=np.array([2.0, 2.0]), row_duals=np.zeros(2))
    with pytest.raises(SolverError, match="misses a row or bound by 2"):
        judged(small(), settings(), wrong)
    with pytest.raises(SolverError, match="does not vouch"):
        judged(small(), settings(), Answer(Outcome.OPTIMAL, "fine"))
    with pytest.raises(SolverError, match=r"'odd'.*neither"):
        judged(small(), settings(), Answer(Outcome.FAILED, "odd", x=np.zeros(2)))
    with pytest.raises(TimeLimitError) as caught:
        judged(small(), settings(), Answer(Outcome.LIMIT, "late", x=np.array([2.0, 2.0])))
    assert caught.value.incumbent is None
    assert caught.value.bound is None


def test_unknown_methods_and_missing_solvers() -> None:
    with pytest.raises(UnknownMethodError, match="known: highs, "):
        solve(small(), settings("simplex"))
    for missing in set(METHODS) - set(available_methods()):
        with pytest.raises(UnsupportedError, match="not installed"):
            solve(small(), settings(missing))


def test_a_wide_bound_of_one_column_excuses_no_other_row() -> None:
    """(2, 2) misses x + 2y <= 4 by 2, whatever a third variable may be."""
    program = Program(
        np.ones(3), [[1, 2, 0]], np.array([-INF]), np.array([4.0]), np.zeros(3),
        np.array([9.0, 9.0, 1e12]), maximise=True,
    )  # fmt: skip
    wrong = Answer(Outcome.OPTIMAL, "fine", x=np.array([2.0, 2.0, 1e12]), row_duals=np.ones(1))
    with pytest.raises(SolverError, match="misses a row or bound by 2"):
        judged(program, settings(), wrong)


@pytest.mark.parametrize("method", available_methods())
def test_the_allowed_violation_depends_on_the_method(method: str) -> None:
    """(4/3, 4/3) moved by 20 tolerances of 1e-8 misses a row of 4 by 60, more than 10 (1 + 4)."""
    thirds = -np.full(2, 1 / 3)
    near = Answer(Outcome.OPTIMAL, "fine", np.full(2, 4 / 3 + 20 * TOLERANCE), thirds)
    if "pdlp" in method:
        assert judged(small(), settings(method), near).violation > 10 * 5 * TOLERANCE
    else:
        with pytest.raises(SolverError, match="misses a row or bound by 6e-07"):
            judged(small(), settings(method), near)
    far = Answer(Outcome.OPTIMAL, "fine", np.full(2, 4 / 3 + 200 * TOLERANCE), thirds)
    with pytest.raises(SolverError, match="misses a row or bound by 6e-06"):
        judged(small(), settings(method), far)


def test_an_optimum_below_the_bound_of_its_multipliers_is_refused() -> None:
    """(1, 1) is feasible and worth 2; the multipliers of the optimum prove 8/3, those of 0 nothing.

    (4/3, 4/3) with its own multipliers is the optimum.
    """
    thirds = -np.full(2, 1 / 3)
    for x, duals in ((1.0, thirds), (4 / 3, np.zeros(2)), (4 / 3, None)):
        with pytest.raises(SolverError, match="multipliers prove"):
            judged(small(), settings(), Answer(Outcome.OPTIMAL, "fine", np.full(2, x), duals))
    right = Answer(Outcome.OPTIMAL, "fine", np.full(2, 4 / 3), thirds)
    assert judged(small(), settings(), right).bound == pytest.approx(8 / 3)


def test_small_costs_are_no_excuse_for_a_bound() -> None:
    """Minimise -s x with x <= 10^12 and s = 1e-10: -100, and nothing better is claimed.

    Without multipliers of the row nothing bounds x, however small its cost.
    """
    one = np.ones(1)
    program = Program(-1e-10 * one, [[1.0]], -INF * one, 1e12 * one, 0 * one, INF * one)
    assert dual_bound(program, np.zeros(1), TOLERANCE) == -INF
    assert dual_bound(program, np.array([-1e-10]), TOLERANCE) == pytest.approx(-100)
    found = solve(program, settings())
    assert found.objective == pytest.approx(-100)
    assert found.bound == pytest.approx(-100)
    late = Answer(Outcome.LIMIT, "late", row_duals=None)
    nearly = Program(
        np.array([1.0, -1e-9]), np.zeros((0, 2)), np.zeros(0), np.zeros(0), np.zeros(2),
        np.full(2, INF),
    )  # fmt: skip
    with pytest.raises(TimeLimitError) as caught:
        judged(nearly, settings(), late)
    assert caught.value.bound is None
