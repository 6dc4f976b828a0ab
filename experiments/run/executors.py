"""Executors of points: on this machine here, on a Dask cluster in ``cluster``.

An executor decides where and when a point runs. The work and its limits are the same everywhere
(:mod:`experiments.run.supervisor`), and all rows return to the single process that writes them.
"""

from __future__ import annotations

import functools
import itertools
import select
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from typing import Protocol

from experiments.config.points import Point
from experiments.results.rows import Row
from experiments.run.supervisor import Running

__all__ = ["Executor", "LocalExecutor", "OnStage"]

OnStage = Callable[[Point, str], None]
"""Called with a point and the stage that it has reached; the first is "starting"."""


class Executor(Protocol):
    """Runs points."""

    def run(self, points: Iterable[Point], on_stage: OnStage) -> Generator[Row]:
        """Run points, in order as far as possible, and yield the row of each as it ends.

        Take points from the iterable one by one: the next ones may depend on rows already yielded.

        Closing the generator ends all running points.
        """


@dataclass(frozen=True, slots=True)
class LocalExecutor:
    """Runs ``jobs`` points at a time."""

    jobs: int = 1

    def run(self, points: Iterable[Point], on_stage: OnStage) -> Generator[Row]:
        """Start a point when another ends; see :class:`Executor`."""
        waiting = iter(points)
        running: list[Running] = []
        try:
            while True:
                for point in itertools.islice(waiting, self.jobs - len(running)):
                    on_stage(point, "starting")
                    running.append(Running(point, self.jobs))
                if not running:
                    return
                for one in select.select(running, [], [])[0]:
                    row = one.listen(functools.partial(on_stage, one.point))
                    if row is not None:
                        one.close()
                        running.remove(one)
                        yield row
        finally:
            for one in running:
                one.stop()
            for one in running:
                one.close()
