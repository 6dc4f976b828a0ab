"""Live display of a run: the number of finished points, and the stage of each running one."""

from __future__ import annotations

from typing import Self

from rich.console import Console, Group
from rich.live import Live
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)

from experiments.config.points import Point
from experiments.results.rows import Row
from experiments.run.plan import Plan

__all__ = ["Display"]


class Display:
    """A bar for the whole and a line for each running point; an Observer, a context manager.

    If the console is a file, it gets a line for each finished point instead.
    """

    def __init__(self, console: Console, plan: Plan) -> None:
        self.done = len(plan.done)
        self.total = len(plan.points)
        self._console = console
        bar = BarColumn(bar_width=24)
        self._whole = Progress(bar, MofNCompleteColumn(), TimeElapsedColumn(), console=console)
        self._all = self._whole.add_task("", total=self.total, completed=self.done)
        elapsed, text = TimeElapsedColumn(), TextColumn("{task.description}", markup=False)
        self._running = Progress(elapsed, text, console=console)
        self._tasks: dict[str, TaskID] = {}
        self._live = Live(
            Group(self._whole, self._running), console=console, refresh_per_second=8, transient=True
        )

    def stage(self, point: Point, stage: str) -> None:
        """Show the point's stage; a repeated "starting" means that another machine took over."""
        if stage == "starting":
            self._remove(point)
            self._tasks[point.identity] = self._running.add_task("", total=None)
        if point.identity in self._tasks:
            text = f"{point.series} on {point.topology}: {stage}"
            self._running.update(self._tasks[point.identity], description=text)

    def finished(self, point: Point, row: Row) -> None:
        """Remove the point's line."""
        self._remove(point)
        self.done += 1
        self._whole.update(self._all, completed=self.done)
        if not self._console.is_terminal:
            self._console.print(
                f"{self.done}/{self.total} {row.series} on {row.topology}: {row.status}",
                markup=False, highlight=False, soft_wrap=True,
            )  # fmt: skip

    def _remove(self, point: Point) -> None:
        if point.identity in self._tasks:
            self._running.remove_task(self._tasks.pop(point.identity))

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()
