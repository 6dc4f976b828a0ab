"""Table of all rows, which a script of the page writes, sorts and filters."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from experiments.measures.declared import MEASURES, reading_order
from experiments.measures.measure import Measure
from experiments.report.sources import Source
from experiments.results.rows import Row, Status

__all__ = ["Head", "RowsTable", "details"]

_MEASURES = [one for one in reading_order(MEASURES.values()) if one.heading]
"""As in the table of ``forestcoll results show``."""


Cell = str | list[str]
"""A text, or a text and what it is sorted by; for a status, its name and the reason."""


@dataclass(frozen=True, slots=True)
class Head:
    """The heading of a column, which sorts it."""

    text: str
    kind: Literal["text", "name", "status", "number"] = "text"
    unit: str = ""
    title: str | None = None


class RowsTable:
    """The table, for ``assets/page.html``."""

    def __init__(self, sources: Sequence[Source]) -> None:
        names = _names(sources)
        self.rows = [row for source in sources for row in source.rows]
        self._several = len(sources) > 1
        self._runs = any(row.repetition for row in self.rows)
        self._shown = [
            one
            for one in _MEASURES
            if one.always or any(getattr(row, one.name) is not None for row in self.rows)
        ]
        self._places = [
            name for name, source in zip(names, sources, strict=True) for _ in source.rows
        ]
        statuses = {row.status for row in self.rows}
        self.choices = {
            "experiment": names if self._several else [],
            "cluster": sorted({row.cluster for row in self.rows}),
            "method": sorted({row.method for row in self.rows}),
            "status": [str(status) for status in Status if status in statuses],
        }
        rates = ", ".join(one.heading for one in self._shown if one.bounded)
        self.caption = f"{rates}: theoretical algbw in GB/s. Headings sort; + shows all of a row."

    def heads(self) -> Iterator[Head]:
        """Yield the headings, without that of the details."""
        if self._several:
            yield Head("experiment")
        yield from (Head("topology", "name"), Head("method"), Head("GPUs", "number"))
        if self._runs:
            yield Head("run", "number")
        yield Head("status", "status")
        for one in self._shown:
            unit = one.unit if one.cell is None else ""
            yield Head(one.heading, "number", unit, one.label or one.meaning)

    def lines(self) -> Iterator[tuple[list[str], list[Cell]]]:
        """Yield the filter values, in the order of ``choices``, and the cells of each row."""
        for place, row in zip(self._places, self.rows, strict=True):
            by = [place, row.cluster, row.method, str(row.status)]
            yield by, list(self._cells(place, row))

    def _cells(self, place: str, row: Row) -> Iterator[Cell]:
        if self._several:
            yield place
        yield from (row.topology, row.series, "" if row.gpus is None else str(row.gpus))
        if self._runs:
            yield str(row.repetition + 1)
        reason = row.reason.removeprefix(f"{row.status}: ")
        yield [str(row.status), reason]
        for one in self._shown:
            yield _measured(one, row) if row.status is Status.OK else ""


def _names(sources: Sequence[Source]) -> list[str]:
    """Name each source by its experiment; add its place if several have the same."""
    names = [source.experiment for source in sources]
    return [
        one.experiment if names.count(one.experiment) == 1 else f"{one.experiment} ({one.place})"
        for one in sources
    ]


def _measured(one: Measure, row: Row) -> Cell:
    value, text = getattr(row, one.name), one.text(row)
    plain = one.cell is None or value is None  # else the text is not a number to sort by
    return text if plain or text == str(value) else [text, f"{value:.9g}"]


def details(rows: Sequence[Row]) -> dict[str, Any]:
    """Return all columns of all rows in a compact form: column names, values, and rows.

    A row alternates positions of columns and of values. Empty columns are left out, and values that
    several rows share appear once.
    """
    columns: dict[str, int] = {}
    values: dict[str, int] = {}
    lines = []
    for row in rows:
        line: list[int] = []
        for name, value in row.as_dict().items():
            if value is not None and value not in ("", {}):
                text = json.dumps(value, sort_keys=False)
                line.append(columns.setdefault(name, len(columns)))
                line.append(values.setdefault(text, len(values)))
        lines.append(line)
    return {"columns": list(columns), "values": [json.loads(v) for v in values], "rows": lines}
