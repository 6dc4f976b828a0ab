"""Process of one rank: ``python -m forestcoll.runtimes.execution.one_rank BACKEND FOLDER``.

Problem: does a rank get the result of the library's own collective, and how long do both take?
Input:   the task of each rank, in the folder.
Output:  the outcome of each rank, in the same folder.
Cost:    the requested runs of the plan and of the collective, and the warm-up runs of each; the
         memory of all messages that the rank receives.
Source:  ours. Elements are random whole numbers of any type. Sums of integers wrap around, and sums
         of floats stay exact, so every order of additions gives the same bits.
"""

from __future__ import annotations

import json
import os
import pickle
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from forestcoll.runtimes.execution.rank_plan import OWN, Message, Part, RankPlan
from forestcoll.runtimes.execution.transport import (
    Array,
    Backend,
    Transport,
    Values,
    open_transport,
)

__all__ = ["Outcome", "Process", "Task", "outcome_file", "pid_file", "run_task", "task_file"]


class Process:
    """One rank that executes its plan over a transport, repeatedly with the same buffers."""

    def __init__(self, plan: RankPlan, transport: Transport, dtype: str) -> None:
        self._plan, self._transport, self._dtype = plan, transport, dtype
        self._came = {
            message.number: self._zeros(message.length)
            for one in plan.rounds
            for message in one.receives
        }

    def carry_out(self, given: Array) -> Array:
        """Execute the plan; return the rank's final data."""
        for one in self._plan.rounds:
            outgoing = [(m, self._together(m.length, m.parts, given)) for m in one.sends]
            for message, brought in outgoing:
                if self._to_itself(message):
                    self._came[message.number][:] = brought
            self._transport.exchange(
                [(m.peer, self._came[m.number]) for m in one.receives if not self._to_itself(m)],
                [(m.peer, brought) for m, brought in outgoing if not self._to_itself(m)],
            )
        return self._together(self._plan.due[self._plan.rank], self._plan.result, given)

    def _zeros(self, length: int) -> Array:
        return self._transport.array(np.zeros(length, dtype=self._dtype))

    def _to_itself(self, message: Message) -> bool:
        return message.peer == self._plan.rank

    def _together(self, length: int, parts: Sequence[Part], given: Array) -> Array:
        """Assemble parts; a single part that fills the place is not copied."""
        if len(parts) == 1 and parts[0].length == length and not parts[0].add:
            return self._stretch(parts[0], given)
        made = self._zeros(length)
        for part in parts:
            end = part.at + part.length
            if part.add:
                made[part.at : end] += self._stretch(part, given)
            else:
                made[part.at : end] = self._stretch(part, given)
        return made

    def _stretch(self, part: Part, given: Array) -> Array:
        source = given if part.source == OWN else self._came[part.source]
        return source[part.begin : part.begin + part.length]


# Small whole numbers, whose sums a float32 holds exactly in any order.
_LARGEST_FLOAT = 1000
# Seconds after the time limit, so that the launcher reports the time-out first.
_GRACE_S = 10


@dataclass(frozen=True, slots=True)
class Task:
    """The task of one process.

    Parameters
    ----------
    dtype : str
        Of the elements, as numpy names it.
    repetitions : int
        Number of timed runs of plan and collective.
    seconds : int
        Time limit; an alarm a little later ends a process that nobody else has ended.
    seed : int
        Of the data.
    warm_up : int
        Number of runs before the timed ones, from 1 up: the results of the first are compared.
    """

    plan: RankPlan
    dtype: str
    repetitions: int
    seconds: int
    seed: int = 0
    warm_up: int = 1


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one process.

    Parameters
    ----------
    library : str
        The library that carried the data.
    wrong : int
        Number of elements that differ from those of the library's collective.
    place : int
        The first of them; -1 if there is none.
    found, due : str
        Its value, and the correct one.
    time_s, library_time_s : tuple of float
        Times of the plan and of the collective, one for each run.
    error : str
        The reason why there is no outcome.
    """

    library: str = ""
    wrong: int = 0
    place: int = -1
    found: str = ""
    due: str = ""
    time_s: tuple[float, ...] = ()
    library_time_s: tuple[float, ...] = ()
    error: str = ""


def task_file(folder: Path, rank: int) -> Path:
    """Path of the task of a rank."""
    return folder / f"task-{rank}"


def outcome_file(folder: Path, rank: int) -> Path:
    """Path of the outcome of a rank."""
    return folder / f"outcome-{rank}.json"


def pid_file(folder: Path, rank: int) -> Path:
    """Path of the file with the number of a rank's process, which exists once it has joined."""
    return folder / f"pid-{rank}"


def run_task(task: Task, transport: Transport) -> Outcome:
    """Execute a plan and the library's collective, compare their results, and time both."""
    plan = task.plan
    process = Process(plan, transport, task.dtype)
    given = transport.array(_elements(plan.given[plan.rank], task))
    transport.barrier()
    found = transport.values(process.carry_out(given)).copy()
    due = transport.values(transport.collective(plan, given))
    differs = np.flatnonzero(found != due)
    place = int(differs[0]) if len(differs) else -1
    for _ in range(task.warm_up - 1):
        process.carry_out(given)
        transport.collective(plan, given)
    return Outcome(
        library=transport.library,
        wrong=len(differs),
        place=place,
        found=str(found[place]) if len(differs) else "",
        due=str(due[place]) if len(differs) else "",
        time_s=_timed(lambda: process.carry_out(given), task.repetitions, transport),
        library_time_s=_timed(
            lambda: transport.collective(plan, given), task.repetitions, transport
        ),
    )


def _elements(length: int, task: Task) -> Values:
    random = np.random.default_rng((task.seed, task.plan.rank))
    kind = np.dtype(task.dtype)
    if kind.kind == "f":
        return random.integers(-_LARGEST_FLOAT, _LARGEST_FLOAT, length).astype(kind)
    limits = np.iinfo(kind)
    return random.integers(limits.min, limits.max, length, dtype=kind, endpoint=True)


def _timed(act: Callable[[], object], repetitions: int, transport: Transport) -> tuple[float, ...]:
    """Seconds from when all are ready until this rank is done."""
    times = []
    for _ in range(repetitions):
        transport.barrier()
        begin = time.perf_counter()
        act()
        times.append(time.perf_counter() - begin)
    return tuple(times)


def _task_of(folder: Path, transport: Transport) -> Task:
    with task_file(folder, transport.rank).open("rb") as file:
        task: Task = pickle.load(file)  # written by the process that has started this one
    ranks = len(task.plan.given)
    if transport.size != ranks:
        raise RuntimeError(
            f"{transport.size} processes reach each other, not {ranks}: the launcher and "
            f"{transport.library} are not of one installation; pip install 'forestcoll[exec]' "
            "brings both"
        )
    signal.alarm(task.seconds + _GRACE_S)
    return task


def main(backend: str, folder: Path) -> None:
    """Join the others and execute the rank's task; an error ends all processes."""
    transport = open_transport(Backend(backend), str(folder / "meeting"))
    outcome = outcome_file(folder, transport.rank)
    pid_file(folder, transport.rank).write_text(str(os.getpid()), encoding="ascii")
    try:
        found = run_task(_task_of(folder, transport), transport)
        outcome.write_text(json.dumps(asdict(found)), encoding="utf-8")
    except Exception as error:
        failed = Outcome(error=f"{type(error).__name__}: {error}")
        outcome.write_text(json.dumps(asdict(failed)), encoding="utf-8")
        transport.abort()
    transport.close()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
