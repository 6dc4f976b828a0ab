"""Solvers of the integer program: OR-Tools' CP-SAT, HiGHS, or Gurobi where it is installed.

Problem: values 0 and 1 that satisfy all rows and maximise the objective, if there is one.
Output:  the transfers, their value and an upper bound; or a proof that there are none; or neither,
         if time is up.
Source:  Liu et al., TE-CCL (SIGCOMM 2024), section 6, use Gurobi, stopped at a gap of 30 % if it
         takes long. Rows are small whole numbers, so the rounded point of a linear-programming
         solver is checked row by row. CP-SAT proves infeasibility in whole numbers, HiGHS and
         Gurobi within their tolerances.

CP-SAT's objective is in whole numbers: the least common multiple of the denominators if that is
small, otherwise a power of two, rounded down. Then the bound includes the loss by rounding.
"""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from baselines.synthesizers.teccl.milp.epoch_program import EpochProgram, Row, Sent
from forestcoll.errors import InfeasibleError, SolverError, TimeLimitError
from forestcoll.problem.limits import MOST_SECONDS

if TYPE_CHECKING:
    from forestcoll.solver.linear_program import Program

__all__ = ["SOLVERS", "Answer", "Effort", "Outcome", "Status", "solve"]

SOLVERS = ("cp-sat", "highs", "gurobi", "either")
""""either": CP-SAT, then HiGHS for as long if CP-SAT has no answer."""

_SECOND = 1.0

_LARGEST = 1 << 40
"""Largest value of CP-SAT's objective."""

_EQUAL = 1e-9
"""Relative difference below which an objective and its bound count as equal."""


class Outcome(StrEnum):
    """Result for a number of epochs."""

    FOUND = "found"
    INFEASIBLE = "infeasible"
    OPEN = "open"


class Status(StrEnum):
    """Quality of a solution's objective."""

    OPTIMAL = "optimal"
    GAP = "within the gap"
    LIMIT = "stopped at a limit"


@dataclass(frozen=True, slots=True)
class Effort:
    """Limits of one call.

    Parameters
    ----------
    seconds : float
        Wall-clock time; infinite without a limit.
    work : float
        CP-SAT's deterministic seconds: a limit with a reproducible result.
    gap : float
        Relative gap between bound and objective; below 1.
    symmetry : bool
        Whether CP-SAT detects and uses symmetries.
    """

    seconds: float = math.inf
    work: float = math.inf
    threads: int = 1
    gap: float = 0.0
    symmetry: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """A solver's answer for a program.

    Parameters
    ----------
    sent : tuple of Sent
        The transfers, if found.
    status : Status, optional
        If they were found and there is an objective. "within the gap" includes the loss by
        rounding.
    value : Fraction, optional
        Objective of the transfers.
    bound : float, optional
        Upper bound on the objective.
    """

    outcome: Outcome
    sent: tuple[Sent, ...] = ()
    status: Status | None = None
    value: Fraction | None = None
    bound: float | None = None


@dataclass(frozen=True, slots=True)
class _Point:
    """Values of the variables; the bound excludes the objective's constant."""

    values: list[int]
    bound: float = math.inf
    stopped: bool = False


def solve(
    program: EpochProgram, solver: str, effort: Effort, hint: Collection[Sent] = ()
) -> Answer:
    """Solve a program.

    Parameters
    ----------
    solver : str
        One of ``SOLVERS``.
    hint : collection of Sent
        Transfers of a solution of this or a similar program, to start from. Only CP-SAT uses them.

    Raises
    ------
    UnsupportedError
        If the solver is not installed.
    SolverError
        If it stops without an answer, or its answer violates a row.
    """
    if program.impossible:
        return Answer(Outcome.INFEASIBLE)
    if effort.seconds <= 0:
        return Answer(Outcome.OPEN)
    if solver == "either":
        return _either(program, effort, hint)
    if solver == "cp-sat":
        point = _cp_sat(program, effort, hint)
    else:
        point = _mixed(program, solver, effort)
    if isinstance(point, Outcome):
        return Answer(point)
    # Values of HiGHS and Gurobi are rounded floats, so every row is checked in whole numbers.
    for row in program.rows:
        total = sum(point.values[i] for i in row.plus) - sum(point.values[i] for i in row.minus)
        if total > row.bound or (row.equal and total < row.bound):
            raise SolverError(f"teccl: {solver} calls a point a solution that breaks {row}")
    sent = tuple(key for key, i in program.sent.items() if point.values[i])
    if program.objective is None:
        return Answer(Outcome.FOUND, sent)
    worth = program.objective.items()
    value = program.constant + sum(c for i, c in worth if point.values[i])
    # A solver's bound is a float, and may lie below the exact value by its rounding.
    bound = max(point.bound + float(program.constant), float(value))
    if bound - value <= _EQUAL * abs(value):
        status = Status.OPTIMAL
    else:
        status = Status.LIMIT if point.stopped else Status.GAP
    return Answer(Outcome.FOUND, sent, status, value, bound)


def _either(program: EpochProgram, effort: Effort, hint: Collection[Sent]) -> Answer:
    """Run HiGHS for as long as CP-SAT took, at least a second, or for the rest of the time."""
    began = time.monotonic()
    endless = effort.work == math.inf
    first = replace(effort, seconds=effort.seconds / 2) if endless else effort
    answer = solve(program, "cp-sat", first, hint)
    if answer.outcome is not Outcome.OPEN:
        return answer
    spent = time.monotonic() - began
    left = effort.seconds - spent
    seconds = left if endless else min(left, max(spent, _SECOND))
    return solve(program, "highs", replace(effort, seconds=seconds))


def _cp_sat(program: EpochProgram, effort: Effort, hint: Collection[Sent]) -> _Point | Outcome:
    from ortools.sat.python import cp_model  # takes half a second

    deadline = time.monotonic() + effort.seconds
    model = cp_model.CpModel()
    model.proto.parse_text_format(_text(program))
    if hint:
        for key, i in program.sent.items():
            model.add_hint(model.get_bool_var_from_proto_index(i), key in hint)
    worth, scale, lost = _whole(program.objective or {})
    if worth:
        places = [model.get_bool_var_from_proto_index(i) for i in worth]
        model.maximize(cp_model.LinearExpr.weighted_sum(places, [*worth.values()]))
    search = cp_model.CpSolver()
    search.parameters.random_seed = 0
    search.parameters.linearization_level = 2  # what proves that epochs are too few
    search.parameters.cut_level = 2
    search.parameters.symmetry_level = 2 if effort.symmetry else 0
    search.parameters.num_workers = effort.threads
    # Interleaved workers keep the search deterministic with several threads.
    search.parameters.interleave_search = effort.threads > 1
    search.parameters.relative_gap_limit = effort.gap
    if effort.seconds < math.inf:
        search.parameters.max_time_in_seconds = max(0.0, deadline - time.monotonic())
    if effort.work < math.inf:
        search.parameters.max_deterministic_time = effort.work
    status = search.solve(model)
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        # The rounded objective is too small by at most `lost`; added, it makes the bound valid.
        bound = (search.best_objective_bound + lost) / scale if worth else float(lost)
        return _Point([*search.response_proto.solution], bound, stopped=status == cp_model.FEASIBLE)
    if status == cp_model.INFEASIBLE:
        return Outcome.INFEASIBLE
    if status == cp_model.UNKNOWN:
        return Outcome.OPEN
    raise SolverError(f"teccl: CP-SAT stopped with {search.status_name(status)}")


def _whole(objective: Mapping[int, Fraction]) -> tuple[dict[int, int], int, int]:
    """Return an objective in whole numbers, its scale, and the largest loss by rounding."""
    most = sum(abs(worth) for worth in objective.values())
    scale = math.lcm(*(worth.denominator for worth in objective.values()))
    if most * scale <= _LARGEST:
        return {i: int(worth * scale) for i, worth in objective.items()}, scale, 0
    # Variables are 0 or 1, so each coefficient loses less than 1 by rounding.
    scale = 1 << max(0, (_LARGEST // math.ceil(most)).bit_length() - 1)
    return {i: math.floor(c * scale) for i, c in objective.items()}, scale, len(objective)


def _text(program: EpochProgram) -> str:
    """Return the rows as text for CP-SAT: four times as fast as a call for each."""
    return "variables{domain:[0,1]}" * program.size + "".join(map(_constraint, program.rows))


def _constraint(row: Row) -> str:
    """Write a row in the constraint type that suits the solver best."""
    if row.bound == 1 and not row.minus:
        kind = "exactly_one" if row.equal else "at_most_one"
        return f"constraints{{{kind}{{literals:{[*row.plus]}}}}}"
    if row.bound == 0 and len(row.plus) == 1 and not row.equal:
        # A variable is at most a sum: if it is 1, so is one of the sum. -i - 1 negates variable i.
        return f"constraints{{bool_or{{literals:{[*row.minus, -row.plus[0] - 1]}}}}}"
    signs = [1] * len(row.plus) + [-1] * len(row.minus)
    # The sum is at least -len(row.minus), so that end restricts nothing. The bound itself keeps the
    # domain from being empty, for rows that nothing satisfies.
    least = row.bound if row.equal else min(row.bound, -len(row.minus))
    return (
        f"constraints{{linear{{vars:{[*row.plus, *row.minus]} coeffs:{signs} "
        f"domain:[{least},{row.bound}]}}}}"
    )


def _as_matrix(program: EpochProgram) -> Program:
    import scipy.sparse as sp

    from forestcoll.solver.linear_program import Program

    entries = [
        (r, i, sign)
        for r, row in enumerate(program.rows)
        for sign, variables in ((1.0, row.plus), (-1.0, row.minus))
        for i in variables
    ]
    rows, columns, signs = ([entry[part] for entry in entries] for part in range(3))
    size = program.size
    cost = np.zeros(size)
    for i, worth in (program.objective or {}).items():
        cost[i] = worth
    return Program(
        cost=cost,
        matrix=sp.coo_array((signs, (rows, columns)), shape=(len(program.rows), size)),
        row_lower=np.array([row.bound if row.equal else -np.inf for row in program.rows]),
        row_upper=np.array([row.bound for row in program.rows], dtype=np.float64),
        lower=np.zeros(size),
        upper=np.ones(size),
        maximise=True,
        whole=np.ones(size, dtype=np.bool_),
    )


def _mixed(program: EpochProgram, solver: str, effort: Effort) -> _Point | Outcome:
    from forestcoll.solver.linear_program import Settings, Solution
    from forestcoll.solver.solve import solve as solve_program

    settings = Settings(
        method=solver,
        seconds=min(effort.seconds, MOST_SECONDS),
        threads=effort.threads,
        gap=max(effort.gap, _EQUAL),
    )
    try:
        found = solve_program(_as_matrix(program), settings)
    except InfeasibleError:
        return Outcome.INFEASIBLE
    except TimeLimitError as error:
        if not isinstance(error.incumbent, Solution):
            return Outcome.OPEN
        found = error.incumbent
    return _Point(
        [round(value) for value in found.x.tolist()], found.bound, found.status != "optimal"
    )
