"""Measured times of collectives from a CSV file, as curves.

Problem: read which schedule was measured on which network, at which sizes.
Input:   columns ``topology``, ``collective``, ``method``, ``size`` or ``size_bytes``, and
         ``time_us`` or ``algbw_gb_s``. Optional: ``schedule_for``, the network that the schedule
         was made for, if the simulation is to count other bandwidths.
Output:  measurements; those of one topology, collective and method are a curve.
Cost:    linear in the lines, at most some 20,000.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from forestcoll.bounded_read import read_text_at_most
from forestcoll.errors import InvalidParameterError
from forestcoll.problem.sizes import read_size

__all__ = ["Curve", "Measurement", "curves_of", "is_simulated", "named", "read_measurements"]

_MOST_BYTES = 2**21
_NEEDED = ("topology", "collective", "method")
_MOST_US = 1e12


@dataclass(frozen=True, slots=True, order=True)
class Curve:
    """A schedule on a network.

    Parameters
    ----------
    topology : str
        The network of the simulation, as ``load_topology`` takes it.
    collective : str
    method : str
        As experiments name it, with parameters as ``taccl:chunks=1``.
    schedule_for : str
        The network that the schedule is made for: the same nodes and links, perhaps with other
        bandwidths. The topology itself if empty.
    """

    topology: str
    collective: str
    method: str
    schedule_for: str = ""

    @property
    def name(self) -> str:
        """Name in patterns and tables: the collective and the plain name of the method."""
        return f"{self.collective}/{self.method.partition(':')[0]}"


@dataclass(frozen=True, slots=True)
class Measurement:
    """A measured time of one size."""

    curve: Curve
    size_bytes: int
    time_s: float

    @property
    def algbw_gb_s(self) -> float:
        """Size over time, in GB/s."""
        return self.size_bytes / 1e9 / self.time_s


def curves_of(measured: Sequence[Measurement]) -> list[Curve]:
    """Return the curves in their order."""
    return list(dict.fromkeys(one.curve for one in measured))


def named(curve: Curve, patterns: Sequence[str]) -> bool:
    """Whether a shell pattern, as ``allreduce/*``, names a curve."""
    return any(fnmatchcase(curve.name, pattern) for pattern in patterns)


def is_simulated(path: Path) -> bool:
    """Whether a file names schedules to simulate, and not steps and shares of a cost model.

    Raises
    ------
    InvalidParameterError
        If there is no such file, or it is too large.
    """
    text = read_text_at_most(path, _MOST_BYTES, InvalidParameterError)
    return "topology" in (csv.DictReader(io.StringIO(text, newline="")).fieldnames or ())


def read_measurements(path: Path) -> list[Measurement]:
    """Read a CSV file.

    Raises
    ------
    InvalidParameterError
        Naming the file, the line and the column.
    """
    text = read_text_at_most(path, _MOST_BYTES, InvalidParameterError)
    rows = csv.DictReader(io.StringIO(text, newline=""))
    columns = set(rows.fieldnames or ())
    for wanted in (
        *((name,) for name in _NEEDED),
        ("size_bytes", "size"),
        ("time_us", "algbw_gb_s"),
    ):
        if not columns & set(wanted):
            raise InvalidParameterError(
                f"{path}: has no column {' or '.join(wanted)}; the columns are topology, "
                f"collective, method, size_bytes, and time_us or algbw_gb_s"
            )
    found = [_measurement(row, f"{path}: line {rows.line_num}") for row in rows]
    if not found:
        raise InvalidParameterError(f"{path}: has no measurements; write a line for each")
    return found


def _measurement(row: Mapping[str, str | None], where: str) -> Measurement:
    topology, collective, method = (row[name] or "" for name in _NEEDED)
    for name, text in zip(_NEEDED, (topology, collective, method), strict=True):
        if not text:
            raise InvalidParameterError(f"{where}: {name} is empty")
    size_text = row.get("size_bytes") or row.get("size") or ""
    try:
        size = read_size(size_text)
    except ValueError as error:
        raise InvalidParameterError(f"{where}: size {error}") from None
    curve = Curve(topology, collective, method, row.get("schedule_for") or "")
    if row.get("time_us"):
        return Measurement(curve, size, _number(row["time_us"], "time_us", where) / 1e6)
    return Measurement(curve, size, size / 1e9 / _number(row["algbw_gb_s"], "algbw_gb_s", where))


def _number(text: str | None, column: str, where: str) -> float:
    try:
        number = float(text or "")
    except ValueError:
        number = math.nan
    if not 0 < number <= _MOST_US:
        raise InvalidParameterError(
            f"{where}: {column} is {(text or '')[:40]!r}; it must be a number above 0, at most 1e12"
        )
    return number
