"""Rows for people and machines: a table for the terminal, one as CSV, and exact JSON.

Names come from files, so tables take them as text: nothing in them is markup.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from experiments.results.rows import EXACT, Row, Status

__all__ = ["document", "duration", "heading", "table", "write_summary"]

SUMMARY = (
    "cluster", "topology", "gpus", "method", "parameters", "repetition", "status", "reason",
    "generation_s", "algbw_gb_s", "algbw", "algbw_in_steps_gb_s", "algbw_in_steps",
    "algbw_at_finish_gb_s", "algbw_at_finish", "optimum_gb_s", "optimum", "optimum_by", "ratio",
    "made_by", "k", "num_trees", "num_batches", "height", "chunks", "steps", "verified",
    "peak_memory_mb", "commit", "time",
)  # fmt: skip
"""Columns of summary.csv."""


def write_summary(rows: Sequence[Row], path: Path) -> Path:
    """Write the rows as CSV, for reading and for spreadsheets."""
    from experiments.results.frames import (
        to_frame,  # pandas is slow to import, and only needed here
    )

    frame = to_frame(rows)[list(SUMMARY)]
    frame["parameters"] = [row.series.partition("(")[2].rstrip(")") for row in rows]
    frame.to_csv(path, index=False, float_format="%.6g", lineterminator="\n")
    return path


def document(row: Row) -> dict[str, Any]:
    """Return a row as :func:`forestcoll.report.as_json` writes it: what is exact as fractions."""
    texts = {column: getattr(row, column) for column in EXACT}
    exact = {name: None if text is None else Fraction(text) for name, text in texts.items()}
    algbw, optimum = exact["algbw"], exact["optimum"]
    ratio = algbw / optimum if algbw is not None and optimum else row.ratio
    return {**dataclasses.asdict(row), **exact, "ratio": ratio}


def heading(title: str) -> Text:
    """Return the title of a table."""
    return Text(title, style="table.title")


def table(rows: Sequence[Row], title: str) -> Table:
    """Return the rows as a table for the terminal; measures that no row has are left out."""
    result = Table(
        title=heading(title), box=SIMPLE_HEAD, padding=0, pad_edge=False,
        caption="flowing, in steps, finish: theoretical algbw in GB/s",
    )  # fits 80 columns  # fmt: skip
    result.add_column("topology", overflow="fold")
    result.add_column("method", overflow="fold")
    shown = [name for name, (column, _) in _CELLS.items() if column is None or _any(rows, column)]
    for name in shown:
        result.add_column(name, justify="right", no_wrap=True)
    previous = ""
    for row in rows:
        begins = row.topology != previous
        cells = [_CELLS[name][1](row) for name in shown]
        if row.status is not Status.OK:
            cells = [cells[0], f"[red]{row.status}[/red]"]
        result.add_row(Text(row.topology if begins else ""), Text(row.series), *cells)
        previous = row.topology
    return result


def _any(rows: Sequence[Row], column: str) -> bool:
    return any(getattr(row, column) is not None for row in rows)


def _rate(gb_s: float | None) -> str:
    return "" if gb_s is None else f"{gb_s:.2f}"


def _count(number: int | None) -> str:
    return "" if number is None else str(number)


_CELLS: Mapping[str, tuple[str | None, Callable[[Row], str]]] = {
    "GPUs": (None, lambda row: _count(row.gpus)),
    "time": (None, lambda row: duration(row.generation_s)),
    "flowing": (None, lambda row: _rate(row.algbw_gb_s)),
    "in steps": ("algbw_in_steps_gb_s", lambda row: _rate(row.algbw_in_steps_gb_s)),
    "finish": ("algbw_at_finish_gb_s", lambda row: _rate(row.algbw_at_finish_gb_s)),
    "optimal": (None, lambda row: "" if row.ratio is None else f"{row.ratio:.1%}"),
    "k": (None, lambda row: _count(row.k)),
    "trees": (None, lambda row: _count(row.num_trees)),
    "steps": (None, lambda row: _count(row.height if row.steps is None else row.steps)),
}
"""Columns of the table: which column of the rows it needs to be there at all, and what it shows.

Hop by hop, a forest takes as many steps as its tallest tree is high.
"""


def duration(time: float | None) -> str:
    """Return a time, in seconds, in a unit that suits it.

    Examples
    --------
    >>> duration(0.00123), duration(12.3)
    ('1.2 ms', '12.3 s')
    """
    if time is None:
        return ""
    return f"{time:.1f} s" if time >= 1 else f"{1000 * time:.1f} ms"
