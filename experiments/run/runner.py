"""From points to rows: those that are not done run, and each row is kept as soon as it is there."""

from __future__ import annotations

import contextlib
from typing import Protocol

from experiments.config.points import Point
from experiments.results.logs import with_log
from experiments.results.rows import Row, RowFile
from experiments.run.executors import Executor
from experiments.run.plan import Plan

__all__ = ["Observer", "run_points"]


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
    with contextlib.closing(executor.run(plan.to_run, observer.stage)) as ended:
        for found in ended:
            row = with_log(found, file.path.parent)
            file.append(row)
            rows[row.point] = row
            observer.finished(points[row.point], row)
    return [rows[point.identity] for point in plan.points]
