"""Rows for people and machines: a table for the terminal, one as CSV, and exact JSON.

Names come from files, so tables take them as text: nothing in them is markup.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from experiments.measures.declared import EXACT, MEASURES, reading_order
from experiments.results.rows import Row, Status

__all__ = ["document", "heading", "table", "write_summary"]

SUMMARY = (
    *("cluster", "topology", "gpus", "root", "method", "parameters", "repetition", "size_bytes"),
    *("status", "reason"),
    *(one.name for one in reading_order(MEASURES.values()) if one.summary),
    *("commit", "time"),
)
"""Columns of summary.csv, as far as they are there."""

_SHOWN = [one for one in reading_order(MEASURES.values()) if one.heading]
"""Columns of the table, besides what was run."""


def write_summary(rows: Sequence[Row], path: Path) -> Path:
    """Write the rows as CSV, for reading and for spreadsheets: a line for each size of the data."""
    from experiments.results.frames import to_frame  # pandas is slow to import

    rows = [one for row in rows for one in row.by_size()]
    frame = to_frame(rows)
    frame = frame[[name for name in SUMMARY if name in frame]]
    frame["parameters"] = [row.series.partition("(")[2].rstrip(")") for row in rows]
    frame.to_csv(path, index=False, float_format="%.6g", lineterminator="\n")
    return path


def document(row: Row) -> dict[str, Any]:
    """Return a row as :mod:`forestcoll.cli.facts` writes it: what is exact as fractions."""
    texts = {column: getattr(row, column) for column in EXACT}
    exact = {name: None if text is None else Fraction(text) for name, text in texts.items()}
    algbw, optimum = exact["algbw"], exact["optimum"]
    ratio = algbw / optimum if algbw is not None and optimum else row.ratio
    return {**row.as_dict(), **exact, "ratio": ratio}


def heading(title: str) -> Text:
    """Return the title of a table."""
    return Text(title, style="table.title")


def table(rows: Sequence[Row], title: str) -> Table:
    """Return the rows as a table for the terminal; measures that no row has are left out."""
    shown = [one for one in _SHOWN if one.always or _any(rows, one.name)]
    rates = ", ".join(one.heading for one in _SHOWN if one.bounded)
    result = Table(
        title=heading(title), box=SIMPLE_HEAD, padding=0, pad_edge=False,
        caption=f"{rates}: theoretical algbw in GB/s",
    )  # fits 80 columns  # fmt: skip
    result.add_column("topology", overflow="fold")
    result.add_column("method", overflow="fold")
    for name in ("GPUs", *(one.heading for one in shown)):
        result.add_column(name, justify="right", no_wrap=True)
    previous = ""
    for row in rows:
        begins = row.topology != previous
        cells = ["" if row.gpus is None else str(row.gpus)]
        if row.status is Status.OK:
            cells += [one.text(row) for one in shown]
        else:
            cells += [f"[red]{row.status}[/red]"]
        result.add_row(Text(row.topology if begins else ""), Text(row.series), *cells)
        previous = row.topology
    return result


def _any(rows: Sequence[Row], column: str) -> bool:
    return any(getattr(row, column) is not None for row in rows)
