"""Table of all rows, complete without scripts; a script sorts and filters it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from experiments.measures.declared import MEASURES, reading_order
from experiments.measures.measure import Measure
from experiments.report.sources import Source
from experiments.results.rows import Row, Status

__all__ = ["Cell", "Head", "RowsTable", "details"]

_MEASURES = [one for one in reading_order(MEASURES.values()) if one.heading]
"""As in the table of ``forestcoll results show``."""


@dataclass(frozen=True, slots=True)
class Head:
    """The heading of a column, which sorts it."""

    text: str
    unit: str = ""
    title: str | None = None
    number: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell: its text, the number to sort it by, and the reason of a status."""

    text: str
    number: bool = False
    value: str | None = None
    heads: bool = False
    status: bool = False
    reason: str = ""


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
        yield from (Head("topology"), Head("method"), Head("GPUs", number=True))
        if self._runs:
            yield Head("run", number=True)
        yield Head("status")
        for one in self._shown:
            unit = one.unit if one.cell is None else ""
            yield Head(one.heading, unit, one.label or one.meaning, number=True)

    def lines(self) -> Iterator[tuple[dict[str, str], list[Cell]]]:
        """Yield the filter values and the cells of each row."""
        for place, row in zip(self._places, self.rows, strict=True):
            by = {"cluster": row.cluster, "method": row.method, "status": str(row.status)}
            yield {"experiment": place, **by}, list(self._cells(place, row))

    def _cells(self, place: str, row: Row) -> Iterator[Cell]:
        if self._several:
            yield Cell(place)
        yield Cell(row.topology, heads=True)
        yield Cell(row.series)
        yield Cell("" if row.gpus is None else str(row.gpus), number=True)
        if self._runs:
            yield Cell(str(row.repetition + 1), number=True)
        reason = row.reason.removeprefix(f"{row.status}: ")
        yield Cell(str(row.status), status=True, reason=reason)
        for one in self._shown:
            yield _measured(one, row) if row.status is Status.OK else Cell("")


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
    return Cell(text, True, None if plain or text == str(value) else f"{value:.9g}")


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
