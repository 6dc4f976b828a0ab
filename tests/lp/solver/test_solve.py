"""The solver interface: every method, every status, and no result without a feasible point."""

import math
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

from forestcoll.errors import (
    InfeasibleError,
    InvalidParameterError,
    SolverError,
    TimeLimitError,
    UnknownMethodError,
    UnsupportedError,
)
from lp.solver.backends.answer import Answer, Outcome
from lp.solver.linear_program import Program, dual_bound, violation
from lp.solver.modelling import solve_stated
from lp.solver.scaling import scaled
from lp.solver.solve import METHODS, Settings, available_methods, solve
from lp.solver.solve import _judged as judged

TOLERANCE = 1e-8
INF = np.inf


def settings(method: str = "highs", **changes: object) -> Settings:
    return Settings(**{"seconds": 20, "method": method, "tolerance": TOLERANCE, **changes})


def small(maximise: bool = True) -> Program:
    """Rows x + 2y <= 4 and 2x + y <= 4 with x, y >= 0; the sum is greatest, 8/3, at (4/3, 4/3)."""
    cost = np.ones(2) if maximise else -np.ones(2)
    return Program(
        cost, [[1, 2], [2, 1]], np.full(2, -INF), np.full(2, 4.0), np.zeros(2), np.full(2, INF),
        maximise,
    )  # fmt: skip


def hard(size: int = 700) -> Program:
    """A dense packing that no method solves in a few milliseconds."""
    matrix = sp.random(size, size, 0.3, random_state=np.random.default_rng(0))
    ones = np.ones(size)
    return Program(ones, matrix, -INF * ones, ones, 0 * ones, ones, maximise=True)


@pytest.mark.parametrize("method", available_methods())
@pytest.mark.parametrize("maximise", [True, False])
def test_every_method_finds_the_optimum_its_duals_and_its_bound(
    method: str, maximise: bool
) -> None:
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
def test_at_the_time_limit_there_is_no_result_but_what_is_known(method: str) -> None:
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


def test_the_number_of_threads_may_change_between_runs() -> None:
    """HiGHS keeps a pool of threads and refuses another size of it unless it is reset."""
    for threads in (1, 2, 1):
        assert solve(small(), settings(threads=threads)).objective == pytest.approx(8 / 3)


def test_weak_duality_bounds_by_any_multipliers() -> None:
    """Prices (1/2, 0) on x + 2y <= 4 leave 1/2 x, which nothing bounds; (1, 0) prove 4, and (1/2,
    1/2) prove 4 as well.
    """
    program = small()
    assert dual_bound(program, np.array([0.5, 0.0]), TOLERANCE) == INF
    assert dual_bound(program, np.array([1.0, 0.0]), TOLERANCE) == pytest.approx(4)
    assert dual_bound(program, np.array([0.5, 0.5]), TOLERANCE) == pytest.approx(4)
    assert dual_bound(small(False), np.array([-0.5, -0.5]), TOLERANCE) == pytest.approx(-4)
    assert dual_bound(program, np.array([-1.0, 3.0]), TOLERANCE) == pytest.approx(12)


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


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        *(({"seconds": bad}, f"seconds is {bad}") for bad in (0, -1, math.nan, INF)),
        *(({"tolerance": bad}, f"tolerance is {bad}") for bad in (0, -1, math.nan, INF, 0.01)),
        *(({"threads": bad}, f"threads is {bad}; it must be 1") for bad in (0, -1, 10**6)),
        *(({"seed": bad}, f"seed is {bad}; it must be 0") for bad in (-1, 2**40)),
        *(({"gap": bad}, f"gap is {bad}") for bad in (-1, math.nan, INF, 2)),
        *(({name: "10"}, f"{name} is '10'") for name in ("seconds", "tolerance", "gap")),
        *(({name: 1.5}, rf"{name} is 1\.5; it must be a whole") for name in ("threads", "seed")),
        ({"threads": True}, "threads is True"),
        ({"seconds": None}, "seconds is None"),
        ({"method": ["highs"]}, "method is"),
    ],
)
def test_settings_are_checked(changes: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        settings(**changes)


def test_settings_take_numbers_of_any_type() -> None:
    """Whole numbers and reals of numpy, and fractions, are the numbers they stand for."""
    given = settings(threads=np.int64(2), seconds=Fraction(1, 2), tolerance=np.float32(2**-20))
    assert given == settings(threads=2, seconds=0.5, tolerance=2**-20)
    assert (type(given.threads), type(given.seconds)) == (int, float)


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


def test_entries_that_the_solver_would_drop_are_refused() -> None:
    """In the row x + s y >= 2 with x <= 1 the least y is 1/s: found at 1e-11, refused at 1e-13."""
    zero, wide = np.zeros(2), np.array([1.0, 1e13])
    for small, known in ((1e-11, True), (1e-13, False)):
        program = Program(
            np.array([0.0, 1.0]), [[1.0, small]], np.array([2.0]), np.array([INF]), zero, wide
        )
        if known:
            assert solve(program, settings()).objective == pytest.approx(1 / small)
        else:
            with pytest.raises(InvalidParameterError, match="1e-13, which HiGHS takes for zero"):
                solve(program, settings())


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
    assert found.matrix.toarray().tolist() == [[1.5, 0.0], [2.0, 5.0]]
    assert found.cost.tolist() == [1.5, 0.25]
    assert found.row_upper.tolist() == [INF, INF]
    undone = scaling.undone(
        Answer(Outcome.OPTIMAL, "fine", x=np.ones(2), row_duals=np.ones(2), bound=3.0)
    )
    assert undone.row_duals is not None
    assert undone.row_duals.tolist() == [16.0, 4.0]
    assert undone.bound == 12.0


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
def test_how_much_a_point_may_miss_depends_on_the_method(method: str) -> None:
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


def test_an_optimum_below_what_the_multipliers_prove_is_refused() -> None:
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


def test_programs_are_checked() -> None:
    one = np.ones(1)
    with pytest.raises(InvalidParameterError, match=r"row_lower has shape \(1,\)"):
        Program(one, [[1.0], [1.0]], one, np.ones(2), one, one)
    with pytest.raises(InvalidParameterError, match="cost holds NaN"):
        Program(one * np.nan, [[1.0]], one, one, one, one)
    with pytest.raises(InvalidParameterError, match=r"column 0 .* 2\.0 from below"):
        Program(one, [[1.0]], one, one, 2 * one, one)
    with pytest.raises(InvalidParameterError, match="matrix holds NaN"):
        Program(one, [[math.inf]], one, one, one, one)


@pytest.mark.parametrize("method", available_methods())
def test_cvxpy_problems_go_the_same_way(method: str) -> None:
    """Maximise x + y + z + 7 on the small program with 0 <= z <= 1 and z = x / 4: 8/3 + 1/3 + 7."""
    x, z = cp.Variable(2, nonneg=True), cp.Variable(bounds=[0, 1])
    rows = [x[0] + 2 * x[1] <= 4, 2 * x[0] + x[1] <= 4, 4 * z == x[0]]
    problem = cp.Problem(cp.Maximize(cp.sum(x) + z + 7), rows)
    found = solve_stated(problem, settings(method))
    assert problem.value == pytest.approx(10, abs=1e-6)
    assert x.value == pytest.approx([4 / 3, 4 / 3], abs=1e-5)
    assert abs(found.objective) == pytest.approx(3, abs=1e-6)
    assert rows[0].dual_value == pytest.approx(0.25, abs=1e-5)
    assert rows[1].dual_value == pytest.approx(0.5, abs=1e-5)
    with pytest.raises(InfeasibleError):
        solve_stated(cp.Problem(cp.Minimize(z), [z >= 2]), settings(method))
