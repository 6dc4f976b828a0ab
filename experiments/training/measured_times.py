"""Alpha, epsilon and 1 / B from measured times of collectives.

Problem: find the numbers of the cost model that fit measurements, and how far off it stays.
Input:   measurements, each with the steps and the share of its schedule: T_L = steps alpha, and
         T_B = share M / B (both directions together for an allreduce).
Output:  alpha, epsilon, 1 / B; residuals; predicted times of other sizes and schedules.
Cost:    a non-negative least-squares problem with three unknowns.
Source:  Zhao et al. (NSDI 2025), appendix A.2: alpha x + epsilon + M y / B. Deviation: all sizes
         are fitted at once by their relative errors, where the paper fits alpha and epsilon at 1 KB
         and B at 1 GB.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

from forestcoll.bounded_read import read_text_at_most
from forestcoll.errors import InvalidParameterError

__all__ = ["MOST_BYTES", "Fit", "Measured", "fit", "read_measured"]

MOST_BYTES = 2**20
"""Limit of a file: some 20,000 measurements."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One measurement.

    Parameters
    ----------
    size_bytes : int
    time_us : float
    steps : float
        Communication steps of the schedule, x.
    share : float
        T_B in M / B, y.
    """

    size_bytes: int
    time_us: float
    steps: float
    share: float


@dataclass(frozen=True, slots=True)
class Fit:
    """The cost model that fits.

    Parameters
    ----------
    alpha_us, epsilon_us : float
        Time of a step, and of the start of a collective.
    us_per_byte : float
        1 / B.
    measured : tuple of Measured
    distinguishable : bool
        Whether the measurements have several numbers of steps, so that alpha and epsilon are known
        one by one; else alpha has all of the latency.
    """

    alpha_us: float
    epsilon_us: float
    us_per_byte: float
    measured: tuple[Measured, ...]
    distinguishable: bool

    @property
    def bandwidth_gb_s(self) -> float:
        """B in GB/s; infinite if no time grows with the size."""
        return 1e-3 / self.us_per_byte if self.us_per_byte else math.inf

    def predicted_us(self, size_bytes: int, steps: float, share: float) -> float:
        """Return the time of a size by a schedule."""
        return self.epsilon_us + self.alpha_us * steps + self.us_per_byte * size_bytes * share

    @property
    def residuals(self) -> tuple[float, ...]:
        """Predicted over measured time, less one, for each measurement."""
        return tuple(
            self.predicted_us(one.size_bytes, one.steps, one.share) / one.time_us - 1
            for one in self.measured
        )


def fit(measured: Sequence[Measured]) -> Fit:
    """Fit the cost model to measurements.

    Raises
    ------
    InvalidParameterError
        If there are fewer than two measurements, or all have the same size.
    """
    from scipy.optimize import nnls  # half a second

    if len({one.size_bytes for one in measured}) < 2:
        raise InvalidParameterError(
            "measurements of two sizes at least are needed: small ones for the latency, large ones "
            "for the bandwidth"
        )
    distinguishable = len({one.steps for one in measured}) > 1
    rows = np.array(
        [(one.steps, float(distinguishable), one.size_bytes * one.share) for one in measured]
    )
    times = np.array([one.time_us for one in measured])
    scale = np.abs(rows).max(axis=0)
    scale[scale == 0] = 1
    found, _ = nnls(rows / scale / times[:, None], np.ones(len(times)))
    alpha, epsilon, per_byte = (found / scale).tolist()
    return Fit(alpha, epsilon, per_byte, tuple(measured), distinguishable)


def read_measured(
    path: Path, steps: float | None = None, share: float | None = None
) -> list[Measured]:
    """Read a CSV file with the columns size_bytes, time_us and, for each row, steps and share.

    ``steps`` and ``share`` are those of rows that do not have them.

    Raises
    ------
    InvalidParameterError
        Naming the file, the line and the column.
    """
    text = read_text_at_most(path, MOST_BYTES, InvalidParameterError)
    rows = csv.DictReader(io.StringIO(text, newline=""))
    columns = rows.fieldnames or []
    if missing := [name for name in ("size_bytes", "time_us") if name not in columns]:
        raise InvalidParameterError(
            f"{path}: has no column {missing[0]!r}; the columns are size_bytes, time_us, steps "
            f"and share"
        )
    given = {"steps": steps, "share": share}
    found = []
    for row in rows:
        where = f"{path}: line {rows.line_num}"
        other = {
            name: _number(row[name], name, where) if row.get(name) else value
            for name, value in given.items()
        }
        for name, value in other.items():
            if value is None:
                raise InvalidParameterError(
                    f"{where}: has no {name}; add the column, or give --{name} for all rows"
                )
        size, time_us = (_number(row[name], name, where) for name in ("size_bytes", "time_us"))
        found.append(
            Measured(int(size), time_us, float(other["steps"] or 0), float(other["share"] or 0))
        )
    if not found:
        raise InvalidParameterError(f"{path}: has no measurements; write a line for each")
    return found


def _number(text: str | None, column: str, where: str) -> float:
    try:
        number = float(Fraction(text)) if text and "/" in text else float(text or "")
    except (ValueError, ZeroDivisionError):
        number = math.nan
    if not 0 < number <= 1e18:
        raise InvalidParameterError(
            f"{where}: {column} is {(text or '')[:40]!r}; it must be a number above 0, at most 1e18"
        )
    return number
