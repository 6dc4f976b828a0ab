"""Runner: executes the points that are not done and stores each row at once."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from experiments.config.points import Point, Status
from experiments.results.rows import Row, RowFile
from experiments.run.executors import Executor
from experiments.run.plan import NOT_RUN, Plan, gpus_of
from experiments.run.provenance import commit, host, versions
from forestcoll.atomic_write import write_text

__all__ = ["FOLDER", "Observer", "run_points", "with_log"]

_LIMITS = (Status.TIMEOUT, Status.OUT_OF_MEMORY)


class Observer(Protocol):
    """Receives the progress of the runner, such as a display."""

    def stage(self, point: Point, stage: str) -> None:
        """Note that a point has reached a stage; the first is "starting"."""

    def finished(self, point: Point, row: Row) -> None:
        """Note that a point has ended."""


def run_points(plan: Plan, file: RowFile, executor: Executor, observer: Observer) -> list[Row]:
    """Run the points of a plan that are not done.

    Returns
    -------
    list of Row
        One for each point, in the order of the plan, from this run or an earlier one.
    """
    rows = dict(plan.done)
    points = {point.identity: point for point in plan.to_run}

    def keep(row: Row) -> None:
        file.append(row)
        rows[row.point] = row
        observer.finished(points[row.point], row)

    def worth_running() -> Iterator[Point]:
        for point in plan.to_run:
            smaller = _limit_reached(point, rows.values()) if point.limits.once else None
            if smaller is None:
                yield point
            else:
                keep(_spared(point, smaller))

    with contextlib.closing(executor.run(worth_running(), observer.stage)) as ended:
        for found in ended:
            keep(with_log(found, file.path.parent))
    return [rows[point.identity] for point in plan.points]


def _limit_reached(point: Point, rows: Iterable[Row]) -> Row | None:
    """Return the row of the smallest network of the cluster on which the method hit a limit.

    None if it is not smaller than the point's network.
    """
    reached = [
        row
        for row in rows
        if (row.series, row.cluster) == (point.series, point.cluster)
        and row.status in _LIMITS
        and not row.reason.startswith(NOT_RUN)
    ]
    smallest = min(reached, key=_size, default=None)
    return smallest if smallest and _size(smallest) < (gpus_of(point) or 0) else None


def _size(row: Row) -> float:
    return math.inf if row.gpus is None else row.gpus


def _spared(point: Point, smaller: Row) -> Row:
    """Return the row of a skipped point: its status is that of the smaller network."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    known = {"versions": versions(), "host": host(), "commit": commit(), "time": now}
    reason = f"{NOT_RUN}{smaller.reason} on {smaller.topology}"
    ending = {"status": smaller.status, "reason": reason, "gpus": gpus_of(point)}
    return Row.of(point, {**ending, **known})


FOLDER = "logs"
"""Inside the folder of the rows."""


def with_log(row: Row, folder: Path) -> Row:
    """Write the standard error of a failed point to a file; return the row with its name.

    A point without output has no file; one of an earlier failure is deleted.

    Parameters
    ----------
    folder : Path
        Folder of the rows; the name of the file is relative to it.

    Raises
    ------
    ExportError
        If the file cannot be written.
    """
    name = Path(FOLDER) / f"{row.point}.log"
    if not row.stderr:
        (folder / name).unlink(missing_ok=True)
        return row
    (folder / FOLDER).mkdir(exist_ok=True)
    what = f"{row.series} on {row.topology}, {row.collective}, {row.time}"
    text = f"{what}\n{row.reason}\n\n{row.stderr}"
    write_text(folder / name, text)
    return replace(row, stderr=None, log=str(name))
