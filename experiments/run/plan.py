"""Plan of a run: the wanted points that are not done, and the estimated time."""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from experiments.config.document import nearest
from experiments.config.points import Point
from experiments.config.variations import network_of
from experiments.results.rows import Row, Status, latest
from forestcoll.errors import ForestCollError, InvalidExperimentError

__all__ = ["NOT_RUN", "Plan", "estimate", "gpus_of", "is_done", "make_plan", "select_points"]

NOT_RUN = "not run: "
"""Start of the reason of a point that was skipped after an earlier point hit a limit."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Points in order, and the rows of those that are done.

    Parameters
    ----------
    done : mapping
        From a point's identity to its row.
    """

    points: tuple[Point, ...]
    done: Mapping[str, Row]

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
