"""HiGHS backend: simplex, interior point with crossover, PDLP, branch and cut."""

from __future__ import annotations

import highspy
import numpy as np

from forestcoll.errors import InvalidParameterError
from forestcoll.native.standard_output import printed_as_errors
from forestcoll.solver.backends.answer import Answer, Outcome
from forestcoll.solver.linear_program import LEAST_ENTRY, Basis, Place, Program, Settings
from forestcoll.solver.matrix_blocks import by_column

__all__ = ["run"]

_ALGORITHM = {"highs": "simplex", "highs-ipm": "ipm", "highs-pdlp": "pdlp"}

_DUAL, _PRIMAL = 1, 4
"""HiGHS's option ``simplex_strategy``."""

_STATUS = highspy.HighsModelStatus

_OUTCOME = {
    _STATUS.kOptimal: Outcome.OPTIMAL,
    _STATUS.kModelEmpty: Outcome.OPTIMAL,
    _STATUS.kInfeasible: Outcome.INFEASIBLE,
    _STATUS.kUnbounded: Outcome.UNBOUNDED,
    _STATUS.kTimeLimit: Outcome.LIMIT,
    _STATUS.kIterationLimit: Outcome.LIMIT,
    _STATUS.kSolutionLimit: Outcome.LIMIT,
}

_TO_HIGHS = {
    Place.LOWER: highspy.HighsBasisStatus.kLower,
    Place.BASIC: highspy.HighsBasisStatus.kBasic,
    Place.UPPER: highspy.HighsBasisStatus.kUpper,
}
_FROM_HIGHS = {status: place for place, status in _TO_HIGHS.items()}


def run(program: Program, settings: Settings) -> Answer:
    """Solve a minimisation.

    Raises
    ------
    InvalidParameterError
        If the matrix holds entries that HiGHS would drop.
    """
    highs = highspy.Highs()
    _configure(highs, program, settings)
    if highs.passModel(_model(program)) == highspy.HighsStatus.kError:
        return Answer(Outcome.FAILED, "refused the model")
    if program.start is not None:
        highs.setBasis(_highs_basis(program.start))
    with printed_as_errors():
        returned = highs.run()
    status = highs.getModelStatus()
    name = str(highs.modelStatusToString(status))
    if returned == highspy.HighsStatus.kError:
        return Answer(Outcome.FAILED, name)
    info, solution = highs.getInfo(), highs.getSolution()
    feasible = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
    mixed = program.whole is not None
    return Answer(
        _OUTCOME.get(status, Outcome.FAILED),
        name,
        x=np.array(solution.col_value) if feasible and solution.value_valid else None,
        row_duals=np.array(solution.row_dual) if solution.dual_valid and not mixed else None,
        bound=float(info.mip_dual_bound) if mixed else None,
        basis=_basis(highs.getBasis()),
    )


def _configure(highs: highspy.Highs, program: Program, settings: Settings) -> None:
    options = {
        "output_flag": False,
        "time_limit": float(settings.seconds),
        "threads": settings.threads,
        "parallel": "on" if settings.threads > 1 else "off",
        "random_seed": settings.seed,
        "small_matrix_value": LEAST_ENTRY,
        # With whole variables another choice would solve the relaxation and call it optimal.
        "solver": "choose" if program.whole is not None else _ALGORITHM[settings.method],
        "simplex_strategy": _strategy(program),
        # From a basis few steps are left, and bounds that are moved cost more than they save.
        "primal_simplex_bound_perturbation_multiplier": float(program.start is None),
        "primal_feasibility_tolerance": max(settings.tolerance, 1e-10),
        "dual_feasibility_tolerance": max(settings.tolerance, 1e-10),
        "ipm_optimality_tolerance": max(settings.tolerance, 1e-12),
        "pdlp_optimality_tolerance": max(settings.tolerance, 1e-12),
        "mip_feasibility_tolerance": max(settings.tolerance, 1e-10),
        "mip_rel_gap": settings.gap,
        "mip_abs_gap": 0.0,  # lest it stop early where the objective is small
    }
    # Its pool of threads outlives a solver, and one of another size makes the next run fail.
    highspy.Highs.resetGlobalScheduler(True)
    for name, value in options.items():
        if highs.setOptionValue(name, value) != highspy.HighsStatus.kOk:
            raise AssertionError(f"HiGHS refused {name} = {value!r}")


def _strategy(program: Program) -> int:
    """Return the primal simplex where any feasible point will do, or one is known.

    In the first case the dual simplex has no objective to follow.
    """
    any_will_do = program.whole is None and not program.cost.any()
    return _PRIMAL if any_will_do or program.start is not None else _DUAL


def _highs_basis(start: Basis) -> highspy.HighsBasis:
    """Return a basis for HiGHS to complete, if it has too few or dependent columns."""
    basis = highspy.HighsBasis()
    basis.col_status = [_TO_HIGHS[one] for one in start.columns.tolist()]
    basis.row_status = [_TO_HIGHS[one] for one in start.rows.tolist()]
    basis.alien = True
    return basis


def _basis(found: highspy.HighsBasis) -> Basis | None:
    if not found.valid:
        return None
    columns, rows = (
        np.array([_FROM_HIGHS.get(one, Place.LOWER) for one in places], dtype=np.int8)
        for places in (found.col_status, found.row_status)
    )
    return Basis(columns, rows)


def _model(program: Program) -> highspy.HighsLp:
    rows, columns = program.matrix.shape
    start, index, value = by_column(program.matrix)
    dropped = (value != 0) & (np.abs(value) <= LEAST_ENTRY)
    if dropped.any():
        least = float(np.abs(value[dropped]).min())
        raise InvalidParameterError(
            f"the program's matrix holds {least:.3g}, which HiGHS takes for zero; scale the "
            f"program: in a row whose largest entry is 1 all must be above {LEAST_ENTRY:g}"
        )
    model = highspy.HighsLp()
    model.num_row_, model.num_col_ = rows, columns
    model.col_cost_, model.col_lower_, model.col_upper_ = (
        program.cost,
        program.lower,
        program.upper,
    )
    model.row_lower_, model.row_upper_ = program.row_lower, program.row_upper
    model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    model.a_matrix_.num_row_, model.a_matrix_.num_col_ = rows, columns
    model.a_matrix_.start_ = start.astype(np.int32)
    model.a_matrix_.index_ = index.astype(np.int32)
    model.a_matrix_.value_ = value
    if program.whole is not None:
        kinds = highspy.HighsVarType
        model.integrality_ = [kinds.kInteger if w else kinds.kContinuous for w in program.whole]
    return model
