"""Executors of points: ``local``, on this machine, or ``cluster``, on a Dask cluster.

An executor decides where and when. What a point does, and how it is kept within its limits, is the
same everywhere (:mod:`experiments.run.supervisor`), and the rows come back to the one who writes
them.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from typing import Protocol

from experiments.config.points import Point
from experiments.results.rows import Row

__all__ = ["Executor", "OnStage"]

OnStage = Callable[[Point, str], None]
"""Told a point and the stage that it has come to; the first is "starting"."""


class Executor(Protocol):
    """Runs points."""

    def run(self, points: Iterable[Point], on_stage: OnStage) -> Generator[Row]:
        """Run points, in order as far as possible, and yield the row of each as it ends.

        Points may be taken one by one: which follow can depend on rows that have been yielded.

        Closing the generator ends all points that still run.
        """
