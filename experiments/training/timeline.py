"""Timelines of a GPU with two streams: one computes, one communicates.

Problem: when each task of a training iteration runs, and how much communication is visible.
Input:   tasks in the order in which each stream gets them, with the tasks that each waits for.
Output:  the start and end of each task.
Cost:    linear in the tasks.
Source:  Zhao et al. (NSDI 2025), appendix A.4: two streams, and one collective at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from forestcoll.errors import InvalidParameterError

__all__ = ["Run", "Stream", "Task", "Timeline", "timeline"]


class Stream(Enum):
    """What a task occupies."""

    COMPUTE = "computing"
    COMMUNICATION = "communication"


@dataclass(frozen=True, slots=True)
class Task:
    """Something that one stream does.

    Parameters
    ----------
    name : str
        Of this task alone.
    stream : Stream
    seconds : float
    after : tuple of str
        Tasks that end before it begins.
    kind : str
        What it is, such as "allreduce"; tasks of one kind are added up.
    """

    name: str
    stream: Stream
    seconds: float
    after: tuple[str, ...] = ()
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Run:
    """A task with the time when it runs, in seconds."""

    task: Task
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Timeline:
    """The runs of all tasks, in the order of the input."""

    runs: tuple[Run, ...]

    @property
    def seconds(self) -> float:
        """Time of the iteration."""
        return max((run.end for run in self.runs), default=0.0)

    @property
    def computing(self) -> float:
        """Time of all computation."""
        return self.total(Stream.COMPUTE)

    @property
    def communicating(self) -> float:
        """Time of all communication, hidden or visible."""
        return self.total(Stream.COMMUNICATION)

    @property
    def visible(self) -> float:
        """Time during which no computation runs."""
        return self.seconds - self.computing

    @property
    def hidden(self) -> float:
        """Time of communication during computation."""
        return self.communicating - sum(self.visible_by_kind().values())

    def total(self, stream: Stream) -> float:
        """Return the time that a stream is busy."""
        return sum(run.task.seconds for run in self.runs if run.task.stream is stream)

    def visible_by_kind(self) -> dict[str, float]:
        """Return the visible time of each kind of communication."""
        busy = [run for run in self.runs if run.task.stream is Stream.COMPUTE and run.task.seconds]
        found: dict[str, float] = {}
        for run in self.runs:
            if run.task.stream is Stream.COMMUNICATION:
                covered = sum(
                    max(0.0, min(run.end, other.end) - max(run.start, other.start))
                    for other in busy
                )
                shown = found.get(run.task.kind, 0.0) + run.task.seconds - covered
                found[run.task.kind] = shown
        return found


def timeline(tasks: Sequence[Task]) -> Timeline:
    """Run each stream's tasks in their order, each as soon as its stream and all it needs allow.

    Raises
    ------
    InvalidParameterError
        If a name occurs twice, a task waits for one that comes later, or a time is negative.
    """
    free = dict.fromkeys(Stream, 0.0)
    ends: dict[str, float] = {}
    runs = []
    for task in tasks:
        _check(task, ends)
        start = max([free[task.stream], *(ends[name] for name in task.after)])
        ends[task.name] = free[task.stream] = start + task.seconds
        runs.append(Run(task, start, start + task.seconds))
    return Timeline(tuple(runs))


def _check(task: Task, known: Iterable[str]) -> None:
    if task.name in known:
        raise InvalidParameterError(f"task {task.name!r} occurs twice; give each its own name")
    if not 0 <= task.seconds < float("inf"):
        raise InvalidParameterError(
            f"task {task.name!r} takes {task.seconds} s; it must be 0 or more"
        )
    if missing := [name for name in task.after if name not in known]:
        raise InvalidParameterError(
            f"task {task.name!r} waits for {missing[0]!r}, which does not come before it"
        )
