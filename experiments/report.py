"""Rows for people and machines: a table for the terminal, one as CSV, and exact JSON.

Names come from files, so tables take them as text: nothing in them is markup.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from experiments.rows import Row, Status

__all__ = ["document", "duration", "heading", "table", "write_summary"]

SUMMARY = (
    "cluster", "topology", "gpus", "method", "parameters", "repetition", "status", "reason",
    "generation_s", "algbw_gb_s", "algbw", "optimum_gb_s", "optimum", "ratio", "k", "num_trees",
    "num_batches", "height", "verified", "peak_memory_mb", "commit", "time",
)  # fmt: skip
"""Columns of summary.csv."""


def write_summary(rows: Sequence[Row], path: Path) -> Path:
    """Write the rows as CSV, for reading and for spreadsheets."""
    from experiments.frames import to_frame  # pandas is slow to import, and only needed here

    frame = to_frame(rows)[list(SUMMARY)]
    frame["parameters"] = [row.series.partition("(")[2].rstrip(")") for row in rows]
    frame.to_csv(path, index=False, float_format="%.6g", lineterminator="\n")
    return path


def document(row: Row) -> dict[str, Any]:
    """Return a row as :func:`forestcoll.report.as_json` writes it: what is exact as fractions."""
    algbw = None if row.algbw is None else Fraction(row.algbw)
    optimum = None if row.optimum is None else Fraction(row.optimum)
    ratio = algbw / optimum if algbw is not None and optimum else row.ratio
    return {**dataclasses.asdict(row), "algbw": algbw, "optimum": optimum, "ratio": ratio}


def heading(title: str) -> Text:
    """Return the title of a table."""
    return Text(title, style="table.title")


def table(rows: Sequence[Row], title: str) -> Table:
    """Return the rows as a table for the terminal."""
    result = Table(
        title=heading(title), box=SIMPLE_HEAD, padding=0, pad_edge=False
    )  # fits 80 columns
    result.add_column("topology", overflow="fold")
    result.add_column("method", overflow="fold")
    for name in ("GPUs", "time", "GB/s", "optimal", "k", "trees", "height"):
        result.add_column(name, justify="right", no_wrap=True)
    previous = ""
    for row in rows:
        begins = row.topology != previous
        result.add_row(Text(row.topology if begins else ""), Text(row.series), *_cells(row))
        previous = row.topology
    return result


def _cells(row: Row) -> list[str]:
    gpus = "" if row.gpus is None else str(row.gpus)
    if row.status is not Status.OK:
        return [gpus, f"[red]{row.status}[/red]"]
    return [
        gpus,
        duration(row.generation_s),
        "" if row.algbw_gb_s is None else f"{row.algbw_gb_s:.2f}",
        "" if row.ratio is None else f"{row.ratio:.1%}",
        *("" if number is None else str(number) for number in (row.k, row.num_trees, row.height)),
    ]


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
