"""Gurobi backend (optional; needs an installation and a licence)."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from forestcoll.solver.backends.answer import Answer, Outcome
from forestcoll.solver.linear_program import Program, Settings, Vector

__all__ = ["run"]


def run(program: Program, settings: Settings) -> Answer:
    """Solve a minimisation."""
    import gurobipy  # no dependency: whoever has it asks for it by name

    with gurobipy.Env(params=_parameters(settings)) as env, gurobipy.Model(env=env) as model:
        x = model.addMVar(program.matrix.shape[1], lb=program.lower, ub=program.upper)
        if program.whole is not None:
            x[np.flatnonzero(program.whole)].vtype = gurobipy.GRB.INTEGER
        below, above = np.isfinite(program.row_lower), np.isfinite(program.row_upper)
        matrix = sp.csr_matrix(program.matrix)
        at_least = model.addConstr(matrix[below] @ x >= program.row_lower[below])
        at_most = model.addConstr(matrix[above] @ x <= program.row_upper[above])
        model.setObjective(program.cost @ x)
        model.optimize()
        outcome = _outcome(gurobipy.GRB, model.Status)
        mixed = program.whole is not None
        vouched = outcome is Outcome.OPTIMAL or (mixed and model.SolCount > 0)
        duals: Vector | None = None
        if outcome is Outcome.OPTIMAL and not mixed:
            duals = np.zeros(len(below))
            duals[below] += at_least.Pi
            duals[above] += at_most.Pi
        ended = outcome in (Outcome.OPTIMAL, Outcome.LIMIT)
        return Answer(
            outcome,
            f"status {model.Status}",
            x=np.array(x.X) if vouched else None,
            row_duals=duals,
            bound=float(model.ObjBound) if mixed and ended else None,
        )


def _outcome(names: Any, status: int) -> Outcome:
    known = {
        names.OPTIMAL: Outcome.OPTIMAL,
        names.INFEASIBLE: Outcome.INFEASIBLE,
        names.UNBOUNDED: Outcome.UNBOUNDED,
        names.TIME_LIMIT: Outcome.LIMIT,
        names.ITERATION_LIMIT: Outcome.LIMIT,
    }
    return known.get(status, Outcome.FAILED)


def _parameters(settings: Settings) -> dict[str, object]:
    tolerance = max(settings.tolerance, 1e-9)
    return {
        "OutputFlag": 0,
        "TimeLimit": settings.seconds,
        "Threads": settings.threads,
        "Seed": settings.seed,
        "FeasibilityTol": tolerance,
        "OptimalityTol": tolerance,
        "MIPGap": settings.gap,
        "DualReductions": 0,  # distinguishes infeasible from unbounded
    }
