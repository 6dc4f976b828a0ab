"""Dry run: what a run would do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from experiments.config.points import Point
from experiments.results.grid import Grid
from experiments.results.rows import Row, latest
from experiments.run.plan import Plan, estimate

__all__ = ["Preview", "make_preview"]


@dataclass(frozen=True, slots=True)
class Preview:
    """The outcome that a run of a plan would have for each point.

    Parameters
    ----------
    earlier : mapping
        From a point's identity to its last row, final or not.
    seconds : mapping
        From the identity of a point to its estimated time; None if unknown.
    jobs : int
        Number of points side by side.
    """

    plan: Plan
    earlier: dict[str, Row]
    seconds: dict[str, float | None]
    jobs: int

    def table(self, title: str) -> Grid:
        """Return a table with a line for each point."""
        rows = []
        for point in self.plan.points:
            runs = point.identity in self.seconds
            time = _duration(self.seconds[point.identity]) if runs else ""
            rows.append((point.topology, point.series, self._what(point), time))
        return Grid(title, ("topology", "method", "", "estimate"), tuple(rows))

    def _what(self, point: Point) -> str:
        row = self.earlier.get(point.identity)
        if point.identity not in self.seconds:
            return f"done: {row.status}" if row else "done"
        return f"run again: {row.status}" if row else "run"

    def summary(self) -> str:
        """Return a summary in one line."""
        known = [time for time in self.seconds.values() if time is not None]
        unknown = len(self.seconds) - len(known)
        total = max(sum(known) / self.jobs, max(known, default=0.0))
        guess = [f"about {_duration(total)}"] if known else []
        guess += [f"{unknown} of unknown time"] if unknown else []
        counts = f"{len(self.plan.done)} done, {len(self.seconds)} to run"
        return f"{counts}: {', '.join(guess)}" if guess else counts

    def as_json(self) -> list[dict[str, Any]]:
        """Return an object for each point."""
        return [
            {
                "point": point.identity,
                "topology": point.topology,
                "method": point.method,
                "parameters": dict(point.parameters),
                "repetition": point.repetition,
                "runs": point.identity in self.seconds,
                "earlier": str(row.status) if row else None,
                "estimate_s": self.seconds.get(point.identity),
            }
            for point in self.plan.points
            for row in [self.earlier.get(point.identity)]
        ]


def make_preview(plan: Plan, rows: Sequence[Row], jobs: int = 1) -> Preview:
    """Preview a plan; rows of earlier runs give the time estimates."""
    times = zip(plan.to_run, estimate(plan.to_run, rows), strict=True)
    seconds = {point.identity: time for point, time in times}
    return Preview(plan, latest(rows), seconds, jobs)


def _duration(seconds: float | None) -> str:
    """Format a time for people.

    Examples
    --------
    >>> _duration(0.42), _duration(95), _duration(8000), _duration(None)
    ('0.4 s', '1 min 35 s', '2 h 13 min', 'unknown')
    """
    if seconds is None:
        return "unknown"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"
