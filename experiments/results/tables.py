"""Rows as a table for reading, as CSV, and as exact JSON."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from baselines.registry import METHODS
from experiments.measures.declared import EXACT, MEASURES, reading_order
from experiments.measures.measure import Measure, duration
from experiments.results.grid import Grid
from experiments.results.rows import Row, Status
from forestcoll.atomic_write import write_whole

__all__ = ["document", "losses", "notes", "table", "write_summary"]

SUMMARY = (
    *("cluster", "topology", "gpus", "root", "weights", "group"),
    *("method", "parameters", "repetition", "size_bytes", "status", "reason"),
    *("simulated", "unsimulated"),
    *(one.name for one in reading_order(MEASURES.values()) if one.summary), *("commit", "time"),
)  # fmt: skip
"""Columns of summary.csv, if present."""

_SHOWN = [one for one in reading_order(MEASURES.values()) if one.heading]
"""Columns of the table, besides those of the run."""


def write_summary(rows: Sequence[Row], path: Path) -> Path:
    """Write the rows as CSV, for reading and for spreadsheets: a line for each size of the data."""
    from experiments.results.frames import to_frame  # pandas is slow to import

    rows = [one for row in rows for one in row.by_size()]
    frame = to_frame(rows)
    frame = frame[[name for name in SUMMARY if name in frame]]
    frame["parameters"] = [row.series.partition("(")[2].rstrip(")") for row in rows]
    form: dict[str, Any] = {"index": False, "float_format": "%.6g", "lineterminator": "\n"}
    write_whole(path, lambda draft: frame.to_csv(draft, **form))
    return path


def document(row: Row) -> dict[str, Any]:
    """Return a row in the form of :mod:`forestcoll.cli.facts`, with exact numbers as fractions."""
    texts = {column: getattr(row, column) for column in EXACT}
    exact = {name: None if text is None else Fraction(text) for name, text in texts.items()}
    algbw, optimum = exact["algbw"], exact["optimum"]
    ratio = algbw / optimum if algbw is not None and optimum else row.ratio
    return {**row.as_dict(), **exact, "ratio": ratio}


def table(rows: Sequence[Row], title: str) -> Grid:
    """Return the rows as a table for reading, without measures that no row has.

    Repetitions of a point share one line, with the median time and the spread of the times.
    """
    points = [_Point(tuple(same)) for same in _repetitions(rows)]
    shown = [one for one in _SHOWN if one.always or _any(rows, one.name)]
    rates = ", ".join(one.heading for one in _SHOWN if one.bounded)
    repeated = any(len(point.rows) > 1 for point in points)
    extra = ("spread", "runs") if repeated else ()
    return Grid(
        title=title,
        heads=("topology", "method", "GPUs", *_with(shown, lambda one: one.heading, extra)),
        rows=tuple(point.cells(shown, repeated=repeated) for point in points),
        note=f"{rates}: theoretical algbw in GB/s"
        + ("; time: the median of the runs, spread: the least and the most" if repeated else ""),
    )


def losses(rows: Sequence[Row], folder: Path = Path()) -> list[str]:
    """Return the reason and the place of the traceback for each row without a schedule.

    ``folder`` is that of the rows.
    """
    lost = [row for row in rows if row.status is not Status.OK]
    return [_lost(row, folder) for row in lost]


def _lost(row: Row, folder: Path) -> str:
    reason = row.reason.removeprefix(f"{row.status}: ")
    more = f"; see {folder / row.log}" if row.log else ""
    return f"{row.status}: {row.series} on {row.topology}: {reason}{more}"


def notes(rows: Sequence[Row]) -> list[str]:
    """Return notes, once each: missing simulations, and differences of baselines from sources."""
    remarks = {
        f"not simulated: {row.series} on {row.topology}: {row.unsimulated}": None
        for row in rows
        if row.unsimulated
    }
    made = {row.method for row in rows if row.status is Status.OK}
    remarks |= {
        f"differs from its source: {name}: {method.notes}": None
        for name, method in METHODS.items()
        if name in made and method.notes
    }
    return list(remarks)


@dataclass(frozen=True, slots=True)
class _Point:
    """The repetitions of a point with equal outcome."""

    rows: tuple[Row, ...]

    def cells(self, shown: Sequence[Measure], *, repeated: bool) -> tuple[str, ...]:
        timed = sorted(self.rows, key=lambda row: row.generation_s or 0)
        row = timed[(len(timed) - 1) // 2]
        begin = (row.topology, row.series, "" if row.gpus is None else str(row.gpus))
        if row.status is not Status.OK:
            return (*begin, str(row.status))
        extra = (self._spread(), str(len(self.rows))) if repeated else ()
        return (*begin, *_with(shown, lambda one: self._text(one, row), extra))

    def _text(self, measure: Measure, row: Row) -> str:
        times = self._times()
        if measure.name == "generation_s" and times:
            return duration(statistics.median(times))
        return measure.text(row)

    def _times(self) -> list[float]:
        return [row.generation_s for row in self.rows if row.generation_s is not None]

    def _spread(self) -> str:
        times = self._times()
        return f"{duration(min(times))}..{duration(max(times))}" if len(times) > 1 else ""


def _with(
    shown: Sequence[Measure], cell: Callable[[Measure], str], extra: tuple[str, ...]
) -> Iterator[str]:
    """Cells of the measures, with a remark on the time after it."""
    for one in shown:
        yield cell(one)
        if one.name == "generation_s":
            yield from extra


def _repetitions(rows: Sequence[Row]) -> list[list[Row]]:
    """Group the rows that differ only by the repetition, in the order of the first of each."""
    same: dict[tuple[object, ...], list[Row]] = defaultdict(list)
    for row in rows:
        what = (row.experiment, row.cluster, row.topology, row.collective, row.series)
        how = (row.root, row.weights, row.group, row.size_bytes, row.status)
        same[(*what, *how)].append(row)
    return list(same.values())


def _any(rows: Sequence[Row], column: str) -> bool:
    return any(getattr(row, column) is not None for row in rows)
