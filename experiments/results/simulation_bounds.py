"""Bounds of simulations in stored rows, recomputed without a run of any method.

A row has its network, collective, alpha and optimum, and the simulated time of each size. So the
column ``simulated_over_bound`` follows from the row alone, for unchanged networks from a family and
equal weights. Other rows keep what they have. Files are replaced atomically.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from experiments.results.rows import MOST_BYTES
from forestcoll.atomic_write import write_text
from forestcoll.bounded_read import read_at_most
from forestcoll.cut_over_time.simulated_bound import SimulatedBound
from forestcoll.errors import ForestCollError, InvalidExperimentError
from forestcoll.schedule.simulate import AlphaBeta
from forestcoll.topology import load_topology

__all__ = ["Rebounded", "rebound"]

_ALPHA = re.compile(r"alpha ([0-9./]+) us")
_COLUMN = "simulated_over_bound"


@dataclass(frozen=True, slots=True)
class Rebounded:
    """The changes in one file."""

    path: Path
    rows: int  # with another value than before
    left: int  # with simulations, but without what a bound needs


def rebound(folder: Path) -> list[Rebounded]:
    """Recompute the bounds of simulations in all rows below a folder.

    Raises
    ------
    InvalidExperimentError
        If there are no rows in it, or a file cannot be read.
    """
    files = sorted(folder.rglob("rows*.jsonl")) if folder.is_dir() else []
    if not files:
        raise InvalidExperimentError(f"{folder}: no rows in it; name a folder that holds results")
    known: dict[tuple[str, ...], SimulatedBound | None] = {}
    return [_rebound_file(path, known) for path in files]


def _rebound_file(path: Path, known: dict[tuple[str, ...], SimulatedBound | None]) -> Rebounded:
    text = read_at_most(path, MOST_BYTES, InvalidExperimentError).decode()
    lines, rows, left = [], 0, 0
    for number, line in enumerate(text.splitlines(keepends=True), start=1):
        # One cut short by a kill is dropped by the next run, and most have no simulation.
        if not line.endswith("\n") or f'"{_COLUMN}"' not in line:
            lines.append(line)
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise InvalidExperimentError(
                f"{path}, line {number}: not JSON; remove the line"
            ) from error
        new = _with_bounds(row, known)
        left += new is None
        changed = new is not None and new != row
        rows += changed
        lines.append(json.dumps(new, allow_nan=False) + "\n" if changed else line)
    if rows:
        write_text(path, "".join(lines))
    return Rebounded(path, rows, left)


def _with_bounds(
    row: Mapping[str, Any], known: dict[tuple[str, ...], SimulatedBound | None]
) -> dict[str, Any] | None:
    """Return a row with its bounds; None if it lacks what they need."""
    alpha = _ALPHA.search(str(row.get("simulated")))
    if alpha is None or row.get("weights") or row.get("root") or not row.get("optimum"):
        return None
    key = (row["topology"], row["collective"], alpha[1], row["optimum"])
    if key not in known:
        known[key] = _bound(*key)
    bound = known[key]
    if bound is None:
        return None
    sizes = {}
    for size, values in row["sizes"].items():
        found = dict(values)
        if found.get(_COLUMN) is not None:
            found[_COLUMN] = found["time_simulated_s"] / bound.least_s(int(size))
        sizes[size] = found
    return {**row, "sizes": sizes}


def _bound(spec: str, collective: str, alpha_us: str, optimum: str) -> SimulatedBound | None:
    try:
        topology = load_topology(spec)
    except ForestCollError:  # a changed network, or a file that is not here
        return None
    model = AlphaBeta(alpha_us=alpha_us)
    return SimulatedBound(topology, collective, model, rate_gb_s=Fraction(optimum))
