"""From points to rows: those that are not done run, and each row is kept as soon as it is there."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Protocol

from experiments.config.points import Point, Status
from experiments.results.logs import with_log
from experiments.results.rows import Row, RowFile
from experiments.run.executors import Executor
from experiments.run.plan import NOT_RUN, Plan, gpus_of
from experiments.run.provenance import commit, host, versions

__all__ = ["Observer", "run_points"]

_LIMITS = (Status.TIMEOUT, Status.OUT_OF_MEMORY)


class Observer(Protocol):
    """Told what the runner is at; a progress display, for one."""

    def stage(self, point: Point, stage: str) -> None:
        """Note that a point has come to a stage; the first is "starting"."""

    def finished(self, point: Point, row: Row) -> None:
        """Note that it has ended."""


def run_points(plan: Plan, file: RowFile, executor: Executor, observer: Observer) -> list[Row]:
    """Run what a plan has to run.

    Returns
    -------
    list of Row
        One for each point, in the order of the plan, from this run or an earlier one.
    """
    rows = dict(plan.done)
    points = {point.identity: point for point in plan.to_run}
    order = {point.identity: place for place, point in enumerate(plan.points)}

    def keep(row: Row) -> None:
        file.append(row)
        rows[row.point] = row
        observer.finished(points[row.point], row)

    def worth_running() -> Iterator[Point]:
        for point in plan.to_run:
            before = (row for row in rows.values() if order[row.point] < order[point.identity])
            earlier = _limit_reached(point, before) if point.limits.once else None
            if earlier is None:
                yield point
            else:
                keep(_spared(point, earlier))

    with contextlib.closing(executor.run(worth_running(), observer.stage)) as ended:
        for found in ended:
            keep(with_log(found, file.path.parent))
    return [rows[point.identity] for point in plan.points]


def _limit_reached(point: Point, rows: Iterable[Row]) -> Row | None:
    """Return the row of another topology of the cluster on which the method hit a limit."""
    for row in rows:
        same = (row.series, row.cluster) == (point.series, point.cluster)
        if same and row.topology != point.topology and row.status in _LIMITS:
            return row
    return None


def _spared(point: Point, earlier: Row) -> Row:
    """Return the row of a point that is not run: it ends as that of the earlier topology did."""
    spared = earlier.reason.startswith(NOT_RUN)
    reason = earlier.reason if spared else f"{NOT_RUN}{earlier.reason} on {earlier.topology}"
    now = datetime.now(UTC).isoformat(timespec="seconds")
    known = {"versions": versions(), "host": host(), "commit": commit(), "time": now}
    ending = {"status": earlier.status, "reason": reason, "gpus": gpus_of(point)}
    return Row.of(point, {**ending, **known})
