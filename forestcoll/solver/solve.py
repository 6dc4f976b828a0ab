"""Solve linear and mixed-integer programs with any backend, and check every answer.

Problem: a program (:class:`forestcoll.solver.linear_program.Program`) solved within stated limits.
Input:   the program and its settings: method, time limit, threads, seed, tolerances.
Output:  a solution, only if three conditions hold: the solver reports an optimum, the recomputed
         point satisfies rows and bounds, and its objective meets the bound of the multipliers.
         Otherwise an error with the incumbent and the bound, if known.
Cost:    the solver's.
Source:  the statuses of HiGHS, OR-Tools and Gurobi as they document them. Methods: "highs"
         (simplex, or branch and cut), "highs-ipm" (with crossover), "highs-pdlp", "glop" and
         "pdlp" of OR-Tools, "gurobi" if installed. A solver checks the clock only between its own
         steps; a factorisation or the crossover of "highs-ipm" can overrun a short limit by far.
"""

from __future__ import annotations

import importlib
import importlib.util
import math
from dataclasses import replace

import numpy as np

from forestcoll.errors import (
    InfeasibleError,
    SolverError,
    TimeLimitError,
    UnknownMethodError,
    UnsupportedError,
)
from forestcoll.solver.backends.answer import Answer, Outcome
from forestcoll.solver.linear_program import Program, Settings, Solution, dual_bound, violation
from forestcoll.solver.scaling import scaled

__all__ = ["METHODS", "Program", "Settings", "Solution", "available_methods", "solve"]

METHODS = {
    "highs": ("forestcoll.solver.backends.highs", "run"),
    "highs-ipm": ("forestcoll.solver.backends.highs", "run"),
    "highs-pdlp": ("forestcoll.solver.backends.highs", "run"),
    "glop": ("forestcoll.solver.backends.or_tools", "run_glop"),
    "pdlp": ("forestcoll.solver.backends.or_tools", "run_pdlp"),
    "gurobi": ("forestcoll.solver.backends.gurobi", "run"),
}
"""Name of a method: the module and function that run it, loaded when asked for."""

MIXED = ("highs", "gurobi")
"""Methods for whole variables."""

SLACK = 10.0
"""A point may miss a row or bound by this many tolerances, times one plus the bound, and the
objective its bound, times the objective plus the largest cost: solvers test their own scaled
program, which the stated one differs from by such factors."""

FIRST_ORDER_SLACK = 100.0
"""The same for the first-order methods, whose tolerances are of norms of whole vectors."""

FIRST_ORDER = ("highs-pdlp", "pdlp")


def available_methods() -> tuple[str, ...]:
    """Return the methods whose solver is installed."""
    present = importlib.util.find_spec("gurobipy") is not None
    return tuple(name for name in METHODS if name != "gurobi" or present)


def solve(program: Program, settings: Settings) -> Solution:
    """Solve a program to optimality.

    Parameters
    ----------
    program : Program
    settings : Settings

    Returns
    -------
    Solution
        Optimal within the settings' tolerance.

    Raises
    ------
    InfeasibleError
        If the solver proved that no point satisfies rows and bounds.
    TimeLimitError
        At a limit: with the best feasible Solution as its incumbent, and the best bound on the
        objective, each None if there is none.
    SolverError
        If the program is unbounded, the solver failed, or its point does not satisfy the program
        or is not worth what its multipliers prove.
    InvalidParameterError
        If the matrix holds entries that the solver would take for zero.
    UnknownMethodError, UnsupportedError
        If there is no such method, its solver is not installed, or it cannot do whole variables.

    Examples
    --------
    >>> from forestcoll.solver.linear_program import Program
    >>> two = np.ones(2)
    >>> program = Program(two, [[1, 2], [2, 1]], -np.inf * two, 4 * two, 0 * two, 9 * two, True)
    >>> round(solve(program, Settings(seconds=10)).objective, 9)
    2.666666667
    """
    _check_method(program, settings.method)
    module, function = METHODS[settings.method]
    run = getattr(importlib.import_module(module), function)
    asked, scaling = scaled(program.as_minimisation)
    try:
        return _judged(program, settings, scaling.undone(run(asked, settings)))
    except SolverError:
        if program.start is None:
            raise
    # From a basis HiGHS may end with multipliers that are a little off.
    return solve(replace(program, start=None), settings)


def _check_method(program: Program, method: str) -> None:
    if method not in METHODS:
        raise UnknownMethodError(f"there is no LP method {method!r}; known: {', '.join(METHODS)}")
    if method not in available_methods():
        raise UnsupportedError("unsupported: Gurobi is not installed; choose another LP method")
    if program.whole is not None and method not in MIXED:
        raise UnsupportedError(
            f"unsupported: {method} knows no whole variables; choose one of {', '.join(MIXED)}"
        )


def _judged(program: Program, settings: Settings, answer: Answer) -> Solution:
    """Return the answer as a solution, or raise the matching error."""
    what = f"{settings.method} stopped with status {answer.status!r}"
    match answer.outcome:
        case Outcome.INFEASIBLE:
            raise InfeasibleError(f"{settings.method} proved that the program has no solution")
        case Outcome.UNBOUNDED:
            raise SolverError(
                f"{what}: the objective has no bound, if there is any solution; bound the variables"
            )
        case Outcome.FAILED:
            raise SolverError(f"{what}: neither a solution nor a proof that there is none")
        case Outcome.LIMIT:
            incumbent = _solution("feasible", program, settings, answer)
            if incumbent is not None and not _satisfies(program, incumbent):
                incumbent = None
            bound = _bound(program, settings, answer)
            raise TimeLimitError(
                f"{what} at its limit of {settings.seconds:g} s; best objective "
                f"{'unknown' if incumbent is None else f'{incumbent.objective:.9g}'}, bound "
                f"{'unknown' if math.isinf(bound) else f'{bound:.9g}'}; allow more time",
                incumbent=incumbent,
                bound=None if math.isinf(bound) else bound,
            )
        case Outcome.OPTIMAL:
            solution = _solution("optimal", program, settings, answer)
            if solution is None:
                raise SolverError(f"{what}, but does not vouch for its point")
            if not _satisfies(program, solution):
                raise SolverError(
                    f"{what}, but its point misses a row or bound by {solution.violation:.3g} with "
                    f"a tolerance of {settings.tolerance:g}; scale the program or use another "
                    f"method"
                )
            if not _is_proved(program, solution):
                raise SolverError(
                    f"{what}, but its objective is {solution.objective:.9g} and its multipliers "
                    f"prove {solution.bound:.9g} with a tolerance of {settings.tolerance:g}; scale "
                    f"the program, bound the variables or use another method"
                )
            return solution


def _solution(status: str, program: Program, settings: Settings, answer: Answer) -> Solution | None:
    if answer.x is None:
        return None
    sign = -1.0 if program.maximise else 1.0
    vouched = status == "optimal" and answer.row_duals is not None
    return Solution(
        status=status,
        x=answer.x,
        objective=float(program.cost @ answer.x),
        bound=_bound(program, settings, answer),
        row_duals=sign * answer.row_duals if vouched and answer.row_duals is not None else None,
        violation=violation(program, answer.x),
        settings=settings,
        basis=answer.basis if vouched else None,
    )


def _bound(program: Program, settings: Settings, answer: Answer) -> float:
    """Return the best bound on the objective as stated; infinite if there is none.

    Zero multipliers prove the bound that follows from finite bounds of the variables alone. That
    bound allows no tolerance.
    """
    sign, best = (-1.0, min) if program.maximise else (1.0, max)
    known = [dual_bound(program, np.zeros(len(program.row_lower)), 0.0)]
    if answer.bound is not None:
        known.append(sign * answer.bound)
    if answer.row_duals is not None:
        known.append(dual_bound(program, sign * answer.row_duals, settings.tolerance))
    return float(best(known))


def _satisfies(program: Program, solution: Solution) -> bool:
    """Whether every row and bound holds within a tolerance relative to its size."""
    rows, x = program.matrix @ solution.x, solution.x
    allowed = _allowed(solution.settings)
    return all(
        bool((off <= allowed * (1 + np.where(np.isfinite(bound), np.abs(bound), 0))).all())
        for off, bound in (
            (program.row_lower - rows, program.row_lower),
            (rows - program.row_upper, program.row_upper),
            (program.lower - x, program.lower),
            (x - program.upper, program.upper),
        )
    )


def _is_proved(program: Program, solution: Solution) -> bool:
    """Whether objective and bound agree, relative to the objective and the largest cost."""
    settings, objective = solution.settings, abs(solution.objective)
    largest = float(np.abs(program.cost).max(initial=0))
    allowed = _allowed(settings) * (objective + largest)
    if program.whole is not None:
        # Branch and cut stops at the requested gap, so its bound may be that far away.
        allowed += settings.gap * objective
    return abs(solution.objective - solution.bound) <= allowed


def _allowed(settings: Settings) -> float:
    slack = FIRST_ORDER_SLACK if settings.method in FIRST_ORDER else SLACK
    return slack * settings.tolerance
