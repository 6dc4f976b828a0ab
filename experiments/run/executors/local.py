"""Executor on this machine, with several points side by side if wanted."""

from __future__ import annotations

import functools
import itertools
import select
from collections.abc import Generator, Iterable
from dataclasses import dataclass

from experiments.config.points import Point
from experiments.results.rows import Row
from experiments.run.executors import OnStage
from experiments.run.supervisor import Running

__all__ = ["LocalExecutor"]


@dataclass(frozen=True, slots=True)
class LocalExecutor:
    """Runs ``jobs`` points at a time."""

    jobs: int = 1

    def run(self, points: Iterable[Point], on_stage: OnStage) -> Generator[Row]:
        """Start a point when another ends; see :class:`experiments.run.executors.Executor`."""
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
