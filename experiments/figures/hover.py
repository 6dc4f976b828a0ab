"""Hover text of a point in a figure.

The text is plain lines; the page inserts them as text, not as HTML.
"""

from __future__ import annotations

import statistics
import textwrap
from collections.abc import Iterable, Sequence

from experiments.measures.declared import DRAWN
from experiments.measures.measure import duration
from experiments.published import Mark
from experiments.results.rows import Row, Status
from forestcoll.problem.sizes import size_text

__all__ = ["number", "of_bound", "of_loss", "of_mark", "of_runs", "written"]

_MOST = 3
"""Limit of names in a list; the rest are counted."""

_ALGBW = {
    "algbw_gb_s": "pipelined",
    "algbw_synchronous_gb_s": "in steps",
    "algbw_makespan_gb_s": "at the finish",
}

_ALSO = ("algbw_simulated_gb_s", "time_simulated_s", "bandwidth_runtime")


def of_runs(rows: Sequence[Row]) -> str:
    """Describe a point with a result: the repetitions of one method at one place.

    The text is the same in all figures, which share it.
    """
    done = [row for row in rows if row.status is Status.OK]
    also = [_measured(done, column) for column in _ALSO]
    return written(done[0].series, *_where(rows), *also, _time(done), _rates(done), _ended(rows))


def of_loss(row: Row) -> str:
    """Describe a point without a result."""
    reason = row.reason.removeprefix(f"{row.status}: ")
    why = f"status: {row.status}{': ' if reason else ''}{textwrap.shorten(reason, 300)}"
    limits = f"limits: {row.limit_s:g} s, {row.limit_memory_gb:g} GB"
    return written(row.series, *_where([row]), why, limits)


def of_bound(name: str, value: float, y: str, *more: str) -> str:
    """Describe a place on a bound or a limit."""
    return written(name, f"{number(value)} {DRAWN[y].unit}".rstrip(), *more)


def of_mark(mark: Mark, y: str) -> str:
    """Describe a published value."""
    size = [f"size: {size_text(mark.size_bytes)}"] if mark.size_bytes else []
    kind = "derived from what is published" if mark.derived else "published"
    method = [f"method: {mark.method}"] if mark.method else []
    value = f"{number(mark.value)} {DRAWN[y].unit}".rstrip()
    where = f"{mark.cluster}, {mark.gpus} GPUs"
    return written(mark.label, *method, where, *size, f"{kind}: {value}")


def written(heading: str, *lines: str) -> str:
    """Join a heading and lines, each on one line."""
    return "\n".join(" ".join(line.split()) for line in (heading, *lines) if line)


def number(value: float) -> str:
    """Format a number with at most four digits.

    Examples
    --------
    >>> number(346.6667), number(1994), number(0.00012345)
    ('346.7', '1994', '0.0001234')
    """
    return f"{value:.4g}" if value < 1000 else f"{value:,.0f}".replace(",", "")


def _where(rows: Sequence[Row]) -> list[str]:
    row = rows[0]
    gpus = "GPUs unknown" if row.gpus is None else f"{row.gpus} GPUs"
    size = [f"size: {size_text(row.size_bytes)}"] if row.size_bytes else []
    return [
        f"topology: {_listed(one.topology for one in rows)}",
        f"{gpus}, {row.collective}",
        *size,
    ]


def _listed(names: Iterable[str]) -> str:
    known = list(dict.fromkeys(names))
    more = f" and {len(known) - _MOST} more" if len(known) > _MOST else ""
    return ", ".join(known[:_MOST]) + more


def _measured(rows: Sequence[Row], y: str) -> str:
    value = _median(rows, y)
    return "" if value is None else f"{DRAWN[y].label}: {number(value)} {DRAWN[y].unit}".rstrip()


def _time(rows: Sequence[Row]) -> str:
    time = _median(rows, "generation_s")
    runs = f" (median of {len(rows)})" if len(rows) > 1 else ""
    return "" if time is None else f"generation time: {duration(time)}{runs}"


def _rates(rows: Sequence[Row]) -> str:
    found = {name: _median(rows, column) for column, name in _ALGBW.items()}
    rates = [f"{number(rate)} {name}" for name, rate in found.items() if rate is not None]
    return f"theoretical algbw, GB/s: {', '.join(rates)}" if rates else ""


def _median(rows: Sequence[Row], column: str) -> float | None:
    numbers = [number for row in rows if (number := getattr(row, column)) is not None]
    return statistics.median(numbers) if numbers else None


def _ended(rows: Sequence[Row]) -> str:
    counts = {row.status: 0 for row in rows}
    for row in rows:
        counts[row.status] += 1
    if len(counts) == 1:
        return f"status: {rows[0].status}"
    return "status: " + ", ".join(f"{status} ({count})" for status, count in counts.items())
