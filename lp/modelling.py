"""Solve cvxpy problems through the common solver interface.

Problem: a linear cvxpy problem, its variables given values.
Input:   the problem and settings.
Output:  the solution of its matrix form; the values of the problem's variables and duals.
Cost:    cvxpy's compilation and the solver's time.
Source:  cvxpy's documented pair ``get_problem_data`` and ``unpack_results``: the former gives
         A x = b for the first rows and A x <= b for the others, with bounds of the variables.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import cvxpy as cp
import numpy as np

from forestcoll.errors import SolverError
from forestcoll.solver.linear_program import Program, Settings, Solution
from forestcoll.solver.solve import solve

__all__ = ["solve_stated"]


def solve_stated(problem: Any, settings: Settings) -> Solution:
    """Solve a cvxpy problem and set its variables.

    Parameters
    ----------
    problem : cvxpy.Problem
        Linear, without whole variables.
    settings : Settings

    Returns
    -------
    Solution
        Of the compiled minimisation, whose columns and rows are cvxpy's; read the problem's
        variables rather than its x. Its objective and bound are the problem's but for the sign
        and a constant: ``problem.value`` is the objective as stated.

    Raises
    ------
    InfeasibleError, TimeLimitError, SolverError
        As :func:`forestcoll.solver.solve.solve`.
    """
    data, chain, inverse = problem.get_problem_data(cp.HIGHS)
    if data["bool_vars_idx"] or data["int_vars_idx"]:
        raise SolverError("whole variables are stated as matrices, not in cvxpy")
    solution = solve(_program(data), settings)
    assert solution.row_duals is not None  # there are no whole variables
    problem.unpack_results(_as_highs(solution), chain, inverse)
    return solution


def _program(data: dict[str, Any]) -> Program:
    matrix, right = data["A"], np.asarray(data["b"])
    columns = matrix.shape[1]
    left = np.where(np.arange(len(right)) < data["dims"].zero, right, -np.inf)
    lower, upper = data["lower_bounds"], data["upper_bounds"]
    return Program(
        cost=data["c"],
        matrix=matrix,
        row_lower=left,
        row_upper=right,
        lower=np.full(columns, -np.inf) if lower is None else lower,
        upper=np.full(columns, np.inf) if upper is None else upper,
    )


def _as_highs(solution: Solution) -> dict[str, Any]:
    """Convert a solution to the format that cvxpy expects from HiGHS."""
    counts = ("ipm", "crossover", "pdlp", "qp", "simplex")
    return {
        "model_status": "kOptimal",
        "run_time": 0.0,
        "info": SimpleNamespace(
            objective_function_value=solution.objective,
            **{f"{count}_iteration_count": 0 for count in counts},
        ),
        "solution": SimpleNamespace(col_value=solution.x, row_dual=solution.row_duals),
    }
