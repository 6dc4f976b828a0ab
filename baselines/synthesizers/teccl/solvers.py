"""The program given to a solver: OR-Tools' CP-SAT, HiGHS, or Gurobi where it is installed.

Problem: find values of 0 and 1 that satisfy all rows, or prove that there are none.
Input:   the rows; the solver; how long and on how many threads.
Output:  the transfers, or the proof; or neither, if the time is up.
Cost:    the solver's.
Source:  Liu et al., TE-CCL (SIGCOMM 2024), section 6 uses Gurobi. The rows are small whole numbers,
         so a point that a solver of linear programs rounds is looked at again, row by row. That
         there is none CP-SAT proves in whole numbers, HiGHS and Gurobi within their tolerances.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from baselines.synthesizers.teccl.epoch_program import EpochProgram, Row, Sent
from forestcoll.errors import InfeasibleError, SolverError, TimeLimitError

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

__all__ = ["SOLVERS", "Answer", "Effort", "Outcome", "solve"]

SOLVERS = ("cp-sat", "highs", "gurobi")

_LONG = 1e7  # seconds, for solvers that must be given a limit


class Outcome(StrEnum):
    """What is known of a number of epochs."""

    FOUND = "found"
    INFEASIBLE = "infeasible"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Effort:
    """How much one call may take.

    Parameters
    ----------
    seconds : float
        Of the clock; infinite without a limit.
    work : float
        In CP-SAT's deterministic seconds, so that whoever has time enough gets the same answer.
    threads : int
    """

    seconds: float = math.inf
    work: float = math.inf
    threads: int = 1


@dataclass(frozen=True, slots=True)
class Answer:
    """The transfers, if the outcome is that they were found."""

    outcome: Outcome
    sent: tuple[Sent, ...] = ()


def solve(program: EpochProgram, solver: str, effort: Effort) -> Answer:
    """Solve a program.

    Raises
    ------
    UnsupportedError
        If the solver is not installed.
    SolverError
        If it stops without an answer, or its answer breaks a row.
    """
    if program.impossible:
        return Answer(Outcome.INFEASIBLE)
    if effort.seconds <= 0:
        return Answer(Outcome.OPEN)
    values = _cp_sat(program, effort) if solver == "cp-sat" else _mixed(program, solver, effort)
    if isinstance(values, Outcome):
        return Answer(values)
    for row in program.rows:
        total = sum(values[i] for i in row.plus) - sum(values[i] for i in row.minus)
        if total > row.bound or (row.equal and total < row.bound):
            raise SolverError(f"teccl: {solver} calls a point a solution that breaks {row}")
    return Answer(Outcome.FOUND, tuple(key for key, i in program.sent.items() if values[i]))


def _cp_sat(program: EpochProgram, effort: Effort) -> list[int] | Outcome:
    from ortools.sat.python import cp_model  # takes half a second

    model = cp_model.CpModel()
    x = [model.new_bool_var("") for _ in range(program.size)]
    for row in program.rows:
        _add(model, x, row)
    search = cp_model.CpSolver()
    search.parameters.random_seed = 0
    search.parameters.linearization_level = 2  # what proves that epochs are too few
    search.parameters.cut_level = 2
    search.parameters.symmetry_level = 0
    search.parameters.num_workers = effort.threads
    search.parameters.interleave_search = effort.threads > 1
    if effort.seconds < math.inf:
        search.parameters.max_time_in_seconds = effort.seconds
    if effort.work < math.inf:
        search.parameters.max_deterministic_time = effort.work
    status = search.solve(model)
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return [int(search.boolean_value(variable)) for variable in x]
    if status == cp_model.INFEASIBLE:
        return Outcome.INFEASIBLE
    if status == cp_model.UNKNOWN:
        return Outcome.OPEN
    raise SolverError(f"teccl: CP-SAT stopped with {search.status_name(status)}")


def _add(model: cp_model.CpModel, x: list[cp_model.IntVar], row: Row) -> None:
    """Write a row down in the form that suits the solver best."""
    plus, minus = [x[i] for i in row.plus], [x[i] for i in row.minus]
    if row.equal and row.bound == 1 and not minus:
        model.add_exactly_one(plus)
    elif row.equal:
        model.add(sum(plus) == sum(minus) + row.bound)
    elif row.bound == 0 and len(plus) == 1:
        model.add_bool_or([*minus, plus[0].negated()])
    elif row.bound == 1 and not minus:
        model.add_at_most_one(plus)
    else:
        model.add(sum(plus) <= sum(minus) + row.bound)


def _mixed(program: EpochProgram, solver: str, effort: Effort) -> list[int] | Outcome:
    import scipy.sparse as sp

    from lp.solver.linear_program import Program, Settings
    from lp.solver.solve import solve as solve_program

    entries = [
        (r, i, sign)
        for r, row in enumerate(program.rows)
        for sign, variables in ((1.0, row.plus), (-1.0, row.minus))
        for i in variables
    ]
    rows, columns, signs = zip(*entries, strict=True)
    size = program.size
    written = Program(
        cost=np.zeros(size),
        matrix=sp.coo_array((signs, (rows, columns)), shape=(len(program.rows), size)),
        row_lower=np.array([row.bound if row.equal else -np.inf for row in program.rows]),
        row_upper=np.array([row.bound for row in program.rows], dtype=np.float64),
        lower=np.zeros(size),
        upper=np.ones(size),
        whole=np.ones(size, dtype=np.bool_),
    )
    settings = Settings(method=solver, seconds=min(effort.seconds, _LONG), threads=effort.threads)
    try:
        found = solve_program(written, settings)
    except InfeasibleError:
        return Outcome.INFEASIBLE
    except TimeLimitError:
        return Outcome.OPEN
    return [round(value) for value in found.x.tolist()]
