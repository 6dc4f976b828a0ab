"""Plan of a run: the wanted points that are not done, and the estimated time."""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from experiments.config.document import nearest
from experiments.config.points import Point
from experiments.config.variations import network_of
from experiments.results.grid import Grid
from experiments.results.rows import Row, Status, latest
from forestcoll.errors import ForestCollError, InvalidExperimentError

__all__ = [
    "NOT_RUN", "Plan", "Preview", "estimate", "gpus_of", "is_done", "make_plan", "make_preview",
    "select_points",
]  # fmt: skip

NOT_RUN = "not run: "
"""Start of the reason of a point that was skipped after an earlier point hit a limit."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Points in order, and the rows of those that are done."""

    points: tuple[Point, ...]
    done: Mapping[str, Row]  # from a point's identity to its row

    @property
    def to_run(self) -> tuple[Point, ...]:
        """The points that are not done."""
        return tuple(point for point in self.points if point.identity not in self.done)


def make_plan(
    points: Iterable[Point], rows: Iterable[Row], *, fresh: bool = False, retry_failed: bool = False
) -> Plan:
    """Find the points with a final row.

    Parameters
    ----------
    fresh : bool
        Ignore all rows.
    retry_failed : bool
        Rows of failures are not final.
    """
    points, known = tuple(points), {} if fresh else latest(rows)
    done = {
        point.identity: known[point.identity]
        for point in points
        if point.identity in known and is_done(point, known[point.identity], retry_failed)
    }
    return Plan(points, done)


def is_done(point: Point, row: Row, retry_failed: bool = False) -> bool:
    """Whether a point need not run again.

    A point runs again in four cases. It hit a limit that has been raised since. It was skipped by
    ``once``, which is no longer set. Another process killed it. It lacks a requested data size or
    requested simulations.
    """
    if row.reason.startswith(NOT_RUN) and not point.limits.once:
        return False
    if row.status is Status.OK:
        sized = {str(size) for size in point.sizes} <= row.sizes.keys()
        return sized and point.simulated in (None, row.simulated)
    if row.status is Status.TIMEOUT:
        return point.limits.seconds <= row.limit_s
    if row.status is Status.OUT_OF_MEMORY:
        return point.limits.memory_gb <= row.limit_memory_gb
    return row.status is not Status.FAILED or not (row.killed or retry_failed)


def select_points(points: Sequence[Point], patterns: Sequence[str]) -> tuple[Point, ...]:
    """Return the points that match all patterns.

    A pattern matches the whole name of the method (with or without parameters), the topology or the
    cluster. ``*``, ``?`` and ``[...]`` have their meaning in a shell.

    Raises
    ------
    InvalidExperimentError
        If no point matches.
    """
    chosen = tuple(points)
    for pattern in patterns:
        names = dict.fromkeys(name for point in chosen for name in _names(point))
        chosen = tuple(
            point
            for point in chosen
            if any(fnmatch.fnmatchcase(name, pattern) for name in _names(point))
        )
        if not chosen:
            raise InvalidExperimentError(f"--only {pattern}: no point; {nearest(pattern, names)}")
    return chosen


def _names(point: Point) -> tuple[str, ...]:
    return point.method, point.series, point.cluster, point.topology


def estimate(points: Iterable[Point], rows: Sequence[Row]) -> list[float | None]:
    """Estimate the seconds of each point from the most similar row.

    That row has the same method, preferably the same parameters and cluster, and then the nearest
    number of GPUs by ratio. None where the method has no row.
    """
    sizes: dict[str, int | None] = {}
    times = []
    for point in points:
        if point.topology not in sizes:
            sizes[point.topology] = gpus_of(point)
        times.append(_estimate(point, sizes[point.topology], rows))
    return times


def _estimate(point: Point, gpus: int | None, rows: Sequence[Row]) -> float | None:
    def distance(row: Row) -> tuple[bool, bool, float]:
        ratio = math.inf if not gpus or not row.gpus else abs(math.log(gpus / row.gpus))
        return row.series != point.series, row.cluster != point.cluster, ratio

    alike = [row for row in rows if row.method == point.method and row.wall_s and not row.killed]
    return min(alike, key=distance).wall_s if alike else None


def gpus_of(point: Point) -> int | None:
    """Return the number of GPUs of a point's network; None if it cannot be built."""
    try:
        return network_of(point.source, point.changes, point.group).num_compute
    except ForestCollError:
        return None  # the run reports it as a failure


@dataclass(frozen=True, slots=True)
class Preview:
    """The outcome that a run of a plan would have for each point."""

    plan: Plan
    earlier: dict[str, Row]  # from a point's identity to its last row, final or not
    # from the identity of a point to its estimated time; None if unknown
    seconds: dict[str, float | None]
    jobs: int  # number of points side by side

    def table(self, title: str) -> Grid:
        """Return a table with a line for each point."""
        rows = []
        for point in self.plan.points:
            runs = point.identity in self.seconds
            time = _duration(self.seconds[point.identity]) if runs else ""
            rows.append((point.topology, point.series, self._what(point), time))
        return Grid(title, ("topology", "method", "", "estimate"), tuple(rows))

    def _what(self, point: Point) -> str:
        row = self.earlier.get(point.identity)
        if point.identity not in self.seconds:
            return f"done: {row.status}" if row else "done"
        return f"run again: {row.status}" if row else "run"

    def summary(self) -> str:
        """Return a summary in one line."""
        known = [time for time in self.seconds.values() if time is not None]
        unknown = len(self.seconds) - len(known)
        total = max(sum(known) / self.jobs, max(known, default=0.0))
        guess = [f"about {_duration(total)}"] if known else []
        guess += [f"{unknown} of unknown time"] if unknown else []
        counts = f"{len(self.plan.done)} done, {len(self.seconds)} to run"
        return f"{counts}: {', '.join(guess)}" if guess else counts

    def as_json(self) -> list[dict[str, Any]]:
        """Return an object for each point."""
        return [
            {
                "point": point.identity,
                "topology": point.topology,
                "method": point.method,
                "parameters": dict(point.parameters),
                "repetition": point.repetition,
                "runs": point.identity in self.seconds,
                "earlier": str(row.status) if row else None,
                "estimate_s": self.seconds.get(point.identity),
            }
            for point in self.plan.points
            for row in [self.earlier.get(point.identity)]
        ]


def make_preview(plan: Plan, rows: Sequence[Row], jobs: int = 1) -> Preview:
    """Preview a plan; rows of earlier runs give the time estimates."""
    times = zip(plan.to_run, estimate(plan.to_run, rows), strict=True)
    seconds = {point.identity: time for point, time in times}
    return Preview(plan, latest(rows), seconds, jobs)


def _duration(seconds: float | None) -> str:
    """Format a time for people.

    Examples
    --------
    >>> _duration(0.42), _duration(95), _duration(8000), _duration(None)
    ('0.4 s', '1 min 35 s', '2 h 13 min', 'unknown')
    """
    if seconds is None:
        return "unknown"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"
