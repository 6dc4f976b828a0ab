"""Search for the best schedule at one size.

Candidates whose own bound is above the best time so far are not simulated. For any number of
pipeline chunks, two bounds hold: the busiest link of a schedule, and its longest chain of
latencies, which is the time of one byte less its time on the links.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from experiments.advice.tuning.candidates import Candidate
from forestcoll.errors import InvalidParameterError, TimeLimitError, VerificationError
from forestcoll.forest_over_time.planned_simulation import PlannedSimulator
from forestcoll.schedule.program import Program
from forestcoll.schedule.simulate import (
    MOST_PIPELINE_CHUNKS,
    AlphaBeta,
    Simulation,
    Simulator,
    best_chunk_count,
)

__all__ = ["BEATEN", "MOST_EVENTS", "TIE", "AtSize", "Entrant", "Trial", "search"]

MOST_EVENTS = 2**17
"""Limit of a simulation: schedules of many unlike transfers get fewer chunks and a note."""

TIE = 1e-9
"""Times that differ by no more than this share are equal: simulations are in floating point."""

BEATEN = "cannot be the best"
"""Reason why a candidate was not simulated: its own bound is above the time of another."""

Tick = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Trial:
    """A candidate at a size."""

    name: str  # of the candidate
    # with the best number of pipeline chunks among those tried; None if it was not simulated
    simulation: Simulation | None
    at_least_s: float  # lower bound in seconds, for any number of pipeline chunks
    # why it was not simulated; or the limit on its pipeline chunks, if the limit may matter
    note: str = ""


@dataclass(frozen=True, slots=True)
class AtSize:
    """All candidates at a size."""

    size_bytes: int
    bound_s: float  # lower bound on the time of any schedule, by latency or by rate
    # the fastest of those simulated. Ties go to the fewest transfers, then pipeline chunks, then
    # steps, then to the first
    best: Trial
    trials: tuple[Trial, ...] = field(repr=False)  # in the order of the candidates
    # whether the user asked for this size; other sizes locate where the best changes
    asked: bool = True

    @property
    def time_s(self) -> float:
        """Simulated time of the best, in seconds."""
        assert self.best.simulation is not None
        return self.best.simulation.time_s

    @property
    def pipeline_chunks(self) -> int:
        """Number of pipeline chunks of the best."""
        assert self.best.simulation is not None
        return self.best.simulation.pipeline_chunks

    @property
    def by_plan(self) -> bool:
        """Whether the best keeps to its time plan."""
        assert self.best.simulation is not None
        return self.best.simulation.by_plan

    @property
    def share(self) -> float:
        """The bound divided by the time of the best: 1 if no schedule can be faster."""
        return self.bound_s / self.time_s

    @property
    def algbw_gb_s(self) -> float:
        """Algorithmic bandwidth of the best in simulation, in GB/s."""
        return self.size_bytes / 1e9 / self.time_s

    def simulated(self, name: str) -> Simulation:
        """Return the simulation of a candidate.

        Raises
        ------
        InvalidParameterError
            If it was not simulated at this size.
        """
        for trial in self.trials:
            if trial.name == name and trial.simulation is not None:
                return trial.simulation
        raise InvalidParameterError(f"{name!r} was not simulated at {self.size_bytes} bytes")


class Entrant:
    """A candidate in the search, with its bound and its time budget.

    Parameters
    ----------
    seconds : float
        For all its simulations.
    planned : PlannedSimulator, optional
        To keep to its time plan where that is faster than sharing links.
    """

    def __init__(
        self,
        candidate: Candidate,
        simulator: Simulator,
        model: AlphaBeta,
        seconds: float,
        planned: PlannedSimulator | None = None,
    ) -> None:
        self.candidate, self._planned = candidate, planned
        self._simulator = simulator
        self._model = model
        self._left_s = seconds
        self._latency_s = _latency_s(simulator, model)
        each = simulator.streams if model.is_fair else simulator.program.num_transfers
        self._most = min(MOST_PIPELINE_CHUNKS, max(1, MOST_EVENTS // max(1, each)))
        self.stopped = False

    def at_least_s(self, size_bytes: int) -> float:
        """Return a lower bound in seconds for any number of pipeline chunks."""
        return max(self._simulator.pipelined_s(size_bytes), self._latency_s)

    def trial(self, size_bytes: int, tick: Tick) -> Trial:
        """Simulate the candidate, unless its time budget is used up."""
        name, least = self.candidate.name, self.at_least_s(size_bytes)
        if self.stopped:
            return Trial(name, None, least, "over its limit")
        began = time.perf_counter()

        def progress(done: int, total: int) -> None:
            tick()
            if time.perf_counter() - began > self._left_s:
                raise TimeLimitError(f"{name} is over its limit")

        by_plan = None if self._planned is None else self._planned.run(size_bytes, self._model)
        try:
            found = best_chunk_count(
                self._simulator, size_bytes, self._model, most=self._most, progress=progress
            )
        except TimeLimitError:
            self.stopped = True
            return Trial(name, None, least, "over its limit")
        self._left_s -= time.perf_counter() - began
        self.stopped = self._left_s < 0
        # The largest number tried is 3/4 of the limit or more, if it was reached.
        capped = (
            self._most < MOST_PIPELINE_CHUNKS
            and 2 * found.pipeline_chunks > self._most
            and not found.closed
        )
        note = f"cut into {self._most} pipeline chunks at most" if capped else ""
        if by_plan is not None and by_plan.time_s < found.time_s:
            return Trial(name, by_plan, least)
        return Trial(name, found, least, note)

    def rank(self, trial: Trial) -> tuple[int, int, int]:
        """Return the criteria for ties: transfers, pipeline chunks, steps."""
        assert trial.simulation is not None
        return self.candidate.transfers, trial.simulation.pipeline_chunks, self.candidate.steps


def search(
    entrants: Sequence[Entrant],
    size_bytes: int,
    bound_s: float,
    *,
    asked: bool = True,
    within: float = 0.0,
    tick: Tick = lambda: None,
) -> AtSize:
    """Find the best candidate at a size.

    Parameters
    ----------
    bound_s : float
        Lower bound on the time of any schedule, in seconds.
    asked : bool
        Whether the user asked for this size.
    within : float
        Also simulate candidates that are slower than the best by at most this share.
    tick : callable
        Called now and then; may raise to stop the search.

    Raises
    ------
    TimeLimitError
        If every candidate has used up its time.
    VerificationError
        If a simulation is faster than the bound: a bug of the toolkit.
    """
    order = sorted(range(len(entrants)), key=lambda i: (entrants[i].at_least_s(size_bytes), i))
    found: dict[int, Trial] = {}
    least = float("inf")
    for place in order:
        entrant, bar = entrants[place], entrants[place].at_least_s(size_bytes)
        if bar > least * (1 + within + TIE):
            found[place] = Trial(entrant.candidate.name, None, bar, BEATEN)
            continue
        trial = found[place] = entrant.trial(size_bytes, tick)
        if trial.simulation is not None:
            _check(trial, trial.simulation.time_s, size_bytes, max(bound_s, bar))
            least = min(least, trial.simulation.time_s)
    equal = [
        (*entrants[place].rank(trial), place)
        for place, trial in found.items()
        if trial.simulation is not None and trial.simulation.time_s <= least * (1 + TIE)
    ]
    if not equal:
        raise TimeLimitError(
            f"no method had time left for {size_bytes} bytes; give each more, or ask for less"
        )
    trials = tuple(found[place] for place in range(len(entrants)))
    return AtSize(size_bytes, bound_s, trials[min(equal)[-1]], trials, asked)


def _latency_s(simulator: Simulator, model: AlphaBeta) -> float:
    """Return the longest chain of latencies, or a little less.

    The simulation of one byte gives it, less an upper bound on the byte's time on links and in
    sums: per transfer of a chain, all data of each link of its path; per GPU, a sum of all data.
    """
    program = simulator.program
    if not program.num_transfers:
        return 0.0
    hops = int((program.paths.first_node[1:] - program.paths.first_node[:-1]).max())
    adding = float(model.gamma) / 1e9 * program.topology.num_compute
    spent = _longest(program) * (hops * simulator.pipelined_s(1) + adding)
    return max(0.0, simulator.run(1, model).time_s - spent)


def _longest(program: Program) -> int:
    """Return an upper bound on the transfers in a chain of dependencies."""
    of_needy = np.repeat(program.step, np.diff(program.first_need))
    if (program.step[program.need] < of_needy).all():
        return int(program.step.max()) + 1
    return program.num_transfers


def _check(trial: Trial, time_s: float, size_bytes: int, bound_s: float) -> None:
    if time_s < bound_s * (1 - TIE):
        raise VerificationError(
            f"{trial.name} takes {time_s} s for {size_bytes} bytes in simulation, below the bound "
            f"of {bound_s} s: this is a bug of the toolkit; please report it"
        )
