"""All that rows say, for the page to show where somebody asks for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from experiments.results.rows import Row

__all__ = ["details"]

_SHARED = ("versions", "host", "commit", "simulated", "optimum_by", "limit_s", "limit_memory_gb")
"""Columns that many rows have alike, kept once."""


def details(rows: Sequence[Row]) -> dict[str, Any]:
    """Return the rows' columns as a table: names, values by row, and the values that are shared.

    Whatever a row does not have is left out: a row is a list of (number of a column, value), and
    in the columns that are ``shared`` the value is a place in ``values``.
    """
    columns: dict[str, int] = {}
    values: dict[str, tuple[int, Any]] = {}
    lines = []
    for row in rows:
        line: list[Any] = []
        for name, value in row.as_dict().items():
            if value is None or value in ("", {}):
                continue
            if name in _SHARED:
                value = values.setdefault(repr(value), (len(values), value))[0]
            line += [columns.setdefault(name, len(columns)), value]
        lines.append(line)
    return {
        "columns": list(columns),
        "shared": [columns[name] for name in _SHARED if name in columns],
        "values": [value for _, value in values.values()],
        "rows": lines,
    }
