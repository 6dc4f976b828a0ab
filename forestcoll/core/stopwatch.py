"""Stage runner that reports progress and measures the time of each stage."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from forestcoll.errors import TimeLimitError

__all__ = ["Progress", "Stopwatch", "within"]

Progress = Callable[[str, int, int], None]
"""Called with (stage, done, total) now and then; may raise to stop the work."""

T = TypeVar("T")


def within(seconds: float, progress: Progress | None) -> Progress:
    """Return a callback that also stops the work when the seconds from now are over.

    Raises
    ------
    TimeLimitError
        By the callback.
    """
    deadline = time.monotonic() + seconds

    def report(stage: str, done: int, total: int) -> None:
        if done < total and time.monotonic() > deadline:  # what is done is never stopped
            raise TimeLimitError(f"{stage}: the limit of {seconds:g} s was reached")
        if progress is not None:
            progress(stage, done, total)

    return report


class Stopwatch:
    """Runs the stages, reports their start and end, and adds up their times."""

    def __init__(self, progress: Progress | None = None) -> None:
        self._progress = progress
        self.seconds: dict[str, float] = {}

    def run(self, stage: str, work: Callable[[Callable[[int, int], None] | None], T]) -> T:
        """Run a stage; ``work`` gets a callable to which it may report (done, total)."""
        report = self._progress
        if report is not None:
            report(stage, 0, 1)
        start = time.perf_counter()
        result = work(None if report is None else lambda done, total: report(stage, done, total))
        spent = time.perf_counter() - start
        self.seconds[stage] = self.seconds.get(stage, 0.0) + spent
        if report is not None:
            report(stage, 1, 1)
        return result
