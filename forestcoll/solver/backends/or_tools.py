"""OR-Tools backend: GLOP (simplex) and PDLP (first order). Its copy of HiGHS is not used."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
from ortools.linear_solver.python import model_builder_helper as helper
from ortools.pdlp import solve_log_pb2, solvers_pb2
from ortools.pdlp.python import pdlp
from scipy.sparse import csc_matrix, csr_matrix

from forestcoll.solver.backends.answer import Answer, Outcome
from forestcoll.solver.linear_program import Program, Settings

__all__ = ["run_glop", "run_pdlp"]

_GLOP = {
    helper.SolveStatus.OPTIMAL: Outcome.OPTIMAL,
    helper.SolveStatus.INFEASIBLE: Outcome.INFEASIBLE,
    helper.SolveStatus.UNBOUNDED: Outcome.UNBOUNDED,
    helper.SolveStatus.FEASIBLE: Outcome.LIMIT,
}

_PDLP = {
    "TERMINATION_REASON_OPTIMAL": Outcome.OPTIMAL,
    "TERMINATION_REASON_PRIMAL_INFEASIBLE": Outcome.INFEASIBLE,
    "TERMINATION_REASON_DUAL_INFEASIBLE": Outcome.UNBOUNDED,
    "TERMINATION_REASON_TIME_LIMIT": Outcome.LIMIT,
    "TERMINATION_REASON_ITERATION_LIMIT": Outcome.LIMIT,
}


def run_glop(program: Program, settings: Settings) -> Answer:
    """Solve a minimisation by GLOP.

    Its status for programs found unsolvable early does not distinguish infeasible from unbounded.
    Without an objective nothing is unbounded, so it then solves the program without one.
    """
    answer = _glop(program, settings)
    if answer.outcome is Outcome.INFEASIBLE and program.cost.any():
        plain = _glop(replace(program, cost=np.zeros_like(program.cost)), settings)
        if plain.outcome is Outcome.OPTIMAL:
            return Answer(Outcome.UNBOUNDED, answer.status)
        return Answer(plain.outcome, plain.status)
    return answer


def _glop(program: Program, settings: Settings) -> Answer:
    model: Any = helper.ModelBuilderHelper()  # its stub knows arrays of fixed shape only
    model.fill_model_from_sparse_data(
        program.lower,
        program.upper,
        program.cost,
        program.row_lower,
        program.row_upper,
        csr_matrix(program.matrix),
    )
    solver = helper.ModelSolverHelper("GLOP")
    solver.set_time_limit_in_seconds(settings.seconds)
    solver.set_solver_specific_parameters(
        f"primal_feasibility_tolerance: {settings.tolerance} "
        f"dual_feasibility_tolerance: {settings.tolerance} "
        f"solution_feasibility_tolerance: {settings.tolerance} "
        f"random_seed: {settings.seed} num_omp_threads: {settings.threads}"
    )
    start = time.perf_counter()
    solver.solve(model)
    elapsed = time.perf_counter() - start
    status = solver.status()
    outcome = _GLOP.get(status, Outcome.FAILED)
    if status == helper.SolveStatus.NOT_SOLVED and elapsed >= settings.seconds:
        outcome = Outcome.LIMIT
    vouched = status in (helper.SolveStatus.OPTIMAL, helper.SolveStatus.FEASIBLE)
    return Answer(
        outcome,
        status.name,
        x=np.array(solver.variable_values()) if vouched else None,
        row_duals=np.array(solver.dual_values()) if outcome is Outcome.OPTIMAL else None,
    )


def run_pdlp(program: Program, settings: Settings) -> Answer:
    """Solve a minimisation by PDLP; the tolerance is absolute and relative."""
    problem = pdlp.QuadraticProgram()
    problem.objective_vector = program.cost
    problem.constraint_matrix = csc_matrix(program.matrix)
    problem.constraint_lower_bounds = program.row_lower
    problem.constraint_upper_bounds = program.row_upper
    problem.variable_lower_bounds = program.lower
    problem.variable_upper_bounds = program.upper
    parameters = solvers_pb2.PrimalDualHybridGradientParams()
    parameters.num_threads = settings.threads
    parameters.random_projection_seeds.append(settings.seed)
    criteria = parameters.termination_criteria
    criteria.time_sec_limit = settings.seconds
    criteria.simple_optimality_criteria.eps_optimal_absolute = settings.tolerance
    criteria.simple_optimality_criteria.eps_optimal_relative = settings.tolerance
    found = pdlp.primal_dual_hybrid_gradient(problem, parameters)
    status = solve_log_pb2.TerminationReason.Name(found.solve_log.termination_reason)
    outcome = _PDLP.get(status, Outcome.FAILED)
    # Where a limit stops it, its point is on its way to be feasible, so it is not vouched for; its
    # multipliers prove what they prove.
    ended = outcome in (Outcome.OPTIMAL, Outcome.LIMIT)
    return Answer(
        outcome,
        status,
        x=np.array(found.primal_solution) if outcome is Outcome.OPTIMAL else None,
        row_duals=np.array(found.dual_solution) if ended else None,
    )
