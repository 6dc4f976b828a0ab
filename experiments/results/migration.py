"""Stored results under the current names of columns and parameters.

Files are replaced atomically, and no value changes (:mod:`forestcoll.former_names`). The identity
of a point is a hash that covers the names of its parameters, so it changes with them. It is
recomputed where the row alone suffices: for unchanged networks from a family.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.config.points import identity_of
from experiments.results.rows import MOST_BYTES, with_current_columns
from forestcoll.atomic_write import write_text
from forestcoll.bounded_read import read_at_most
from forestcoll.errors import InvalidExperimentError
from forestcoll.former_names import COLUMNS, PARAMETERS

__all__ = ["Migrated", "current_row", "migrate"]


@dataclass(frozen=True, slots=True)
class Migrated:
    """The renamed parts of one file."""

    path: Path
    rows: int  # rows with a former name, or 1 for a table with one in its heading


def migrate(folder: Path) -> list[Migrated]:
    """Rename former columns and parameters in all results below a folder.

    Raises
    ------
    InvalidExperimentError
        If there are no results in it, or a file cannot be read.
    """
    if not folder.is_dir():
        raise InvalidExperimentError(f"{folder}: no such folder; name one that holds results")
    rows, tables = sorted(folder.rglob("rows*.jsonl")), sorted(folder.rglob("*.csv"))
    if not rows and not tables:
        raise InvalidExperimentError(f"{folder}: no results in it; name a folder that has some")
    found = [*map(_migrate_rows, rows), *map(_migrate_table, tables)]
    return [one for one in found if one.rows]


def current_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row, as read from JSON, under the current names.

    Examples
    --------
    >>> current_row({"height": 2, "sizes": {"1000": {"time_in_steps_s": 1.5}}})
    {'depth': 2, 'sizes': {'1000': {'time_synchronous_s': 1.5}}}
    """
    new = with_current_columns(row)
    parameters = new.get("parameters")
    if isinstance(parameters, dict) and not PARAMETERS.keys().isdisjoint(parameters):
        new["parameters"] = {PARAMETERS.get(name, name): v for name, v in parameters.items()}
        if identity_of(row) == row.get("point"):
            new["point"] = identity_of(new)
    if isinstance(simulated := new.get("simulated"), str):
        new["simulated"] = _current_words(simulated)
    return new


def _current_words(simulated: str) -> str:
    """Return the assumptions of simulations as :func:`experiments.config.points.assumed` does."""
    for former, current in ((" pieces", " pipeline chunks"), (" piece", " pipeline chunk")):
        if simulated.endswith(former):
            return simulated.removesuffix(former) + current
    return simulated


def _migrate_rows(path: Path) -> Migrated:
    lines = _text(path).splitlines(keepends=True)
    new = [_current_line(path, number, line) for number, line in enumerate(lines, start=1)]
    changed = sum(old != line for old, line in zip(lines, new, strict=True))
    if changed:
        write_text(path, "".join(new))
    return Migrated(path, changed)


def _current_line(path: Path, number: int, line: str) -> str:
    if not line.endswith("\n"):  # cut short by a kill: the next run drops it
        return line
    try:
        row = json.loads(line)
    except ValueError as error:
        raise InvalidExperimentError(f"{path}, line {number}: not JSON; remove the line") from error
    new = current_row(row)
    return line if new == row else json.dumps(new, allow_nan=False) + "\n"


def _migrate_table(path: Path) -> Migrated:
    text = _text(path)
    heading, newline, rest = text.partition("\n")
    names = next(csv.reader([heading.rstrip("\r")]), [])
    new = [COLUMNS.get(name, name) for name in names]
    if new == names:
        return Migrated(path, 0)
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(new)
    whole = line.getvalue() + ("\r" if heading.endswith("\r") else "") + newline + rest
    write_text(path, whole)
    return Migrated(path, 1)


def _text(path: Path) -> str:
    return read_at_most(path, MOST_BYTES, InvalidExperimentError).decode()
