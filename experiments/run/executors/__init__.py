"""Executors of points: ``local``, on this machine, or ``cluster``, on a Dask cluster.

An executor decides where and when a point runs. The work and its limits are the same everywhere
(:mod:`experiments.run.supervisor`), and all rows return to the single process that writes them.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from typing import Protocol

from experiments.config.points import Point
from experiments.results.rows import Row

__all__ = ["Executor", "OnStage"]

OnStage = Callable[[Point, str], None]
"""Called with a point and the stage that it has reached; the first is "starting"."""


class Executor(Protocol):
    """Runs points."""

    def run(self, points: Iterable[Point], on_stage: OnStage) -> Generator[Row]:
        """Run points, in order as far as possible, and yield the row of each as it ends.

        Take points from the iterable one by one: the next ones may depend on rows already yielded.

        Closing the generator ends all running points.
        """
