"""Candidate schedules of a search: made, verified, compiled, or a reason why there is none.

Errors outside ForestCollError are bugs and are raised; so is the error of a schedule that does not
verify.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import gcd
from typing import Any

import numpy as np
import numpy.typing as npt

from baselines.interface.method import Schedule
from baselines.interface.supported import check_supported
from experiments.advice.time_limit import LP_TIME_LIMIT_S
from experiments.advice.tuning.exchanges import ALL_TO_ALL, best_paths
from experiments.advice.tuning.recipe import FORESTS, Recipe
from experiments.advice.tuning.shallow_forests import ShallowForests
from experiments.advice.tuning.sized_forests import SizedForests
from experiments.config.methods import run_method
from forestcoll.compilation import compile_program
from forestcoll.errors import ForestCollError, TimeLimitError, VerificationError
from forestcoll.forest_over_time.planned_simulation import PlannedSimulator
from forestcoll.schedule import Allreduce, Forest, verify
from forestcoll.schedule.program import Program
from forestcoll.schedule.simulate import Simulator
from forestcoll.schedule.time_plan import Slots
from forestcoll.topology.model import Topology
from forestcoll.topology.validation import COLLECTIVES

__all__ = ["Candidate", "Made", "made", "program_seconds"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """The result of a recipe."""

    name: str  # of the recipe
    method: str
    parameters: Mapping[str, Any] = field(repr=False, hash=False)
    # A verified schedule; None if there is none to try
    schedule: Schedule | None = field(repr=False, compare=False)
    transfers: int = 0  # of its compiled program
    steps: int = 0  # of its compiled program
    # seconds to make, verify and compile it, in this run on this machine
    making_s: float = field(default=0.0, compare=False)
    note: str = ""  # why it is not tried; empty if it is


@dataclass(frozen=True, slots=True)
class Made:
    """A candidate with its simulator, if it is to be tried, and whether it ran out of time."""

    candidate: Candidate
    simulator: Simulator | None
    late: bool = False
    planned: PlannedSimulator | None = None  # of a schedule with a time plan


def made(
    recipe: Recipe,
    topology: Topology,
    collective: str,
    root: str | int | None,
    seconds: float,
    others: Iterable[Made] = (),
    low: ShallowForests | None = None,
    sized: SizedForests | None = None,
    *,
    plans: bool = True,
) -> Made:
    """Make a schedule by a recipe, verify it and compile it.

    Parameters
    ----------
    seconds : float
        A candidate that takes longer is not tried. A method that searches gets a shorter limit.
    others : iterable of Made
        Candidates to compare with: a second candidate with the same schedule is not tried.
    low : ShallowForests, optional
        Source of depth-bounded forests, for this topology, collective and root.
    sized : SizedForests, optional
        Source of forests over time, for the same.
    plans : bool
        Whether schedules keep to their time plans; one with another plan is another schedule.

    Raises
    ------
    VerificationError
        If the schedule is wrong.
    """
    began = time.perf_counter()

    def refused(note: str, *, late: bool = False) -> Made:
        spent = time.perf_counter() - began
        options = recipe.parameters
        one = Candidate(recipe.name, recipe.method, options, None, making_s=spent, note=note)
        return Made(one, None, late)

    try:
        schedule = _schedule(recipe, topology, collective, root, seconds, low, sized)
        verify(schedule)
        program = compile_program(schedule)
    except VerificationError:
        raise
    except ForestCollError as error:
        return refused(" ".join(str(error).split()), late=isinstance(error, TimeLimitError))
    spent = time.perf_counter() - began
    if spent > seconds:
        return refused(f"took longer than {seconds:g} s to make", late=True)
    for other in others:
        if other.simulator is None or not _alike(program, other.simulator.program):
            continue
        if not plans or _slots(schedule) in (None, _slots(other.candidate.schedule)):
            return refused(f"the same as {other.candidate.name}")
    return Made(
        Candidate(
            name=recipe.name,
            method=recipe.method,
            parameters=recipe.parameters,
            schedule=schedule,
            transfers=program.num_transfers,
            steps=int(program.step.max(initial=-1)) + 1,
            making_s=spent,
        ),
        Simulator(program),
        planned=PlannedSimulator.of(schedule) if plans else None,
    )


def program_seconds(seconds: float) -> float:
    """Return the share of a method's seconds that the allreduce program may take."""
    return min(LP_TIME_LIMIT_S, seconds)


def _schedule(
    recipe: Recipe,
    topology: Topology,
    collective: str,
    root: str | int | None,
    seconds: float,
    low: ShallowForests | None,
    sized: SizedForests | None,
) -> Schedule:
    options = dict(recipe.parameters)
    if low is not None and recipe.depth is not None:
        return low.within(recipe.depth, seconds)
    if sized is not None and recipe.size_bytes is not None:
        return sized.at(recipe.size_bytes, seconds)
    if collective == ALL_TO_ALL and recipe.method == FORESTS:
        return best_paths(topology, recipe.demand, seconds)
    if recipe.demand is not None:
        options["demand"] = recipe.demand
    if recipe.method == FORESTS:
        check_supported(FORESTS, collective, COLLECTIVES)
        options["lp_time_limit_s"] = program_seconds(seconds)
    return run_method(
        recipe.method, topology, collective, options, seconds, lambda stage: None, root
    )[0]


def _slots(schedule: Schedule | None) -> tuple[Slots | str, ...] | None:
    """Return the slots of each phase, or that it has constant rates; None without a plan."""
    phases = schedule.phases if isinstance(schedule, Allreduce) else (schedule,)
    found = [one.plan for one in phases if isinstance(one, Forest) and one.plan is not None]
    slots = tuple("rates" if plan.slots is None else plan.slots for plan in found)
    return slots if len(slots) == len(phases) else None


def _alike(one: Program, other: Program) -> bool:
    """Whether two programs on one network are the same up to the unit of their data."""
    if one.num_transfers != other.num_transfers or one.collective != other.collective:
        return False
    same = (
        np.array_equal(getattr(one, name), getattr(other, name))
        for name in ("chunk", "tail", "head", "reduce", "first_need", "need", "message")
    )
    if not all(same):
        return False
    common = gcd(one.chunks.whole, other.chunks.whole)
    here, there = other.chunks.whole // common, one.chunks.whole // common
    in_units = (
        np.array_equal(mine * here, theirs * there)
        for mine, theirs in ((one.first, other.first), (one.amount, other.amount))
    )
    return all(in_units) and _same_ways(one, other)


def _same_ways(one: Program, other: Program) -> bool:
    """Whether corresponding transfers of two programs use the same paths."""
    mine, theirs = ([tuple(path) for path in _nodes(each)] for each in (one, other))
    pairs = set(zip(one.path.tolist(), other.path.tolist(), strict=True))
    return all(mine[a] == theirs[b] for a, b in pairs)


def _nodes(program: Program) -> list[npt.NDArray[np.int32]]:
    return np.split(program.paths.node, program.paths.first_node[1:-1])
