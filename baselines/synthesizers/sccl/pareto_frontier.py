"""SCCL's Pareto enumeration: the best R/C for every number of steps.

Problem: a schedule of S steps and R rounds of C chunks takes S latencies and R/C of a shard's time
         on one unit of bandwidth; find the Pareto-optimal ones.
Output:  every (C, S, R) tried, in order, with its outcome.
Cost:    that of its instances; most are proofs of infeasibility.
Source:  Cai et al., PPoPP 2021, Algorithm 1: S from the diameter up; for each the pairs (R, C) with
         S <= R <= S + k and R/C not below the bandwidth bound, by R/C; the first that has a
         schedule is reported; it ends at the bound.

Deviations: the bound is ForestColl's exact one. Equal ratios are ordered by C. Pairs whose ratio
fewer steps have reached are skipped, since they are on no frontier. Algorithm 1 need not end for
small k, so a largest number of steps may be given. At the time limit of an instance the outcome is
unknown and the next one is tried; later points may then not be optimal.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import count
from time import perf_counter
from typing import Literal

from baselines.synthesizers.sccl.constraints import Deadline
from baselines.synthesizers.sccl.network import Bounds
from baselines.synthesizers.sccl.sccl import Task, synthesize, task_for
from forestcoll.errors import InvalidParameterError, TimeLimitError
from forestcoll.problem.limits import Limits
from forestcoll.schedule.steps import StepSchedule
from forestcoll.topology.model import Topology

__all__ = ["Point", "pareto"]


@dataclass(frozen=True)
class Point:
    """An instance that was tried.

    Parameters
    ----------
    chunks, steps, rounds : int
        C, S and R; of an allreduce, those of each of its phases.
    outcome : str
        "sat", "unsat" (proved) or "unknown" (time was up).
    schedule : StepSchedule, optional
        For "sat".
    """

    chunks: int
    steps: int
    rounds: int
    outcome: Literal["sat", "unsat", "unknown"]
    schedule: StepSchedule | None = field(repr=False)
    seconds: float = field(compare=False)

    @property
    def rounds_per_chunk(self) -> Fraction:
        """R/C."""
        return Fraction(self.rounds, self.chunks)


def pareto(
    topology: Topology,
    collective: str = "allgather",
    *,
    extra_rounds: int = 0,
    most_steps: int | None = None,
    root: str | int | None = None,
    symmetry: bool = True,
    limits: Limits | None = None,
) -> Iterator[Point]:
    """Try instances as Algorithm 1 does, and yield each as soon as it is decided.

    Parameters
    ----------
    topology, collective, root, symmetry
        As for :func:`baselines.synthesizers.sccl.generate`.
    extra_rounds : int
        The paper's k: R is at most S + k.
    most_steps : int, optional
        Last number of steps if the bandwidth bound is not reached.
    limits : Limits, optional
        For each instance.

    Yields
    ------
    Point
        Those that are "sat" form the frontier.

    Raises
    ------
    UnsupportedError
        As for :func:`baselines.synthesizers.sccl.generate`.
    InvalidParameterError
        If ``extra_rounds`` is negative, or the root is not a GPU.
    """
    if extra_rounds < 0:
        raise InvalidParameterError(f"sccl: extra_rounds is {extra_rounds}; it must be 0 or more")
    task = task_for(topology, collective, root)
    best: Fraction | None = None
    for steps in count(task.bounds.steps):
        if best == task.bounds.rounds_per_chunk or (most_steps is not None and steps > most_steps):
            return
        for rounds, chunks in _pairs(task.bounds, steps, extra_rounds, below=best):
            point = _tried(task, chunks, steps, rounds, symmetry, limits or Limits())
            yield point
            if point.outcome == "sat":
                best = point.rounds_per_chunk
                break


def _tried(
    task: Task, chunks: int, steps: int, rounds: int, symmetry: bool, limits: Limits
) -> Point:
    start = perf_counter()
    try:
        schedule = synthesize(
            task, chunks, steps, rounds, symmetry=symmetry, deadline=Deadline(limits)
        )
    except TimeLimitError:
        return Point(chunks, steps, rounds, "unknown", None, perf_counter() - start)
    outcome: Literal["sat", "unsat"] = "unsat" if schedule is None else "sat"
    return Point(chunks, steps, rounds, outcome, schedule, perf_counter() - start)


def _pairs(
    least: Bounds, steps: int, extra_rounds: int, below: Fraction | None
) -> list[tuple[int, int]]:
    """List the pairs (R, C) for so many steps, by R/C, then C; only ratios under ``below``."""
    pairs = [
        (rounds, chunks)
        for rounds in range(steps, steps + extra_rounds + 1)
        for chunks in range(1, int(rounds / least.rounds_per_chunk) + 1)
        if below is None or Fraction(rounds, chunks) < below
    ]
    return sorted(pairs, key=lambda pair: (Fraction(*pair), pair[1]))
