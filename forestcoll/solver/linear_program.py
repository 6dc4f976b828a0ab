"""Linear and mixed-integer programs as matrices, with settings, solutions and dual bounds.

Problem: minimise or maximise c x subject to l <= A x <= u, lower <= x <= upper, some x_j
         integer.
Input:   numpy vectors, and a matrix, dense or scipy's sparse; infinite bounds are ``numpy.inf``.
Output:  a checked program; the violation of a point; the bound that a dual vector proves.
Cost:    one or two products with the matrix.
Source:  weak duality of linear programs: for any y, every feasible x has
         c x = y (A x) + (c - A'y) x >= the sum over rows and columns of the least of y_i [l_i, u_i]
         and of (c - A'y)_j [lower_j, upper_j]. So a bound needs no trust in the solver, but for
         rounding and where such an interval has an infinite end: a reduced cost of the wrong sign
         then counts as zero if it is within the tolerance, as a fraction of the largest cost, else
         there is no bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from enum import IntEnum
from numbers import Integral, Real
from typing import Any

import numpy as np
import numpy.typing as npt

from forestcoll.errors import InvalidParameterError

__all__ = [
    "LEAST_ENTRY",
    "Basis",
    "Place",
    "Program",
    "Settings",
    "Solution",
    "Vector",
    "dual_bound",
    "violation",
]

Vector = npt.NDArray[np.float64]

LARGEST_TOLERANCE = 1e-3
"""Beyond it a result says nothing."""

LEAST_ENTRY = 1e-12
"""HiGHS's option ``small_matrix_value``, at the least value that HiGHS allows.

It leaves smaller entries out of the matrix without a word, so a program that has some is refused.
Nothing is compared with this number but entries of float programs.
"""

MOST_THREADS = 1024

LARGEST_SEED = 2_000_000_000
"""Gurobi's limit; the others take a little more."""


class Place(IntEnum):
    """Where a basis has a column or a row: at a bound, or between them."""

    LOWER = 0
    BASIC = 1
    UPPER = 2


@dataclass(frozen=True, slots=True, eq=False)
class Basis:
    """A corner of a linear program, from which a simplex method can go on.

    Parameters
    ----------
    columns, rows : int8 array, one entry a column or row
        Values of :class:`Place`.
    """

    columns: npt.NDArray[np.int8]
    rows: npt.NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class Program:
    """A linear program; with ``whole`` a mixed-integer one.

    Parameters
    ----------
    cost : float array, one entry a column
    matrix : float array or scipy sparse matrix
        A row for each constraint; dense as given, else in compressed rows.
    row_lower, row_upper : float array, one entry a row
    lower, upper : float array, one entry a column
    maximise : bool
    whole : bool array, one entry a column, optional
        Which variables are whole numbers; none if not given.
    start : Basis, optional
        Of a similar program, for the method "highs" to begin with; the optimum is the same.

    Raises
    ------
    InvalidParameterError
        If the shapes disagree, a number is NaN, or a lower bound is above its upper bound.
    """

    cost: Vector
    matrix: Any
    row_lower: Vector
    row_upper: Vector
    lower: Vector
    upper: Vector
    maximise: bool = False
    whole: npt.NDArray[np.bool_] | None = None
    start: Basis | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if hasattr(self.matrix, "tocsr"):
            from scipy.sparse import csr_array  # here: with dense matrices it is not loaded

            matrix = csr_array(self.matrix, dtype=np.float64)
        else:
            matrix = np.asarray(self.matrix, dtype=np.float64)
        object.__setattr__(self, "matrix", matrix)
        rows, columns = matrix.shape
        if not np.isfinite(matrix if isinstance(matrix, np.ndarray) else matrix.data).all():
            raise InvalidParameterError("the program's matrix holds NaN or infinity")
        for name, size in (
            *(("cost", columns), ("lower", columns), ("upper", columns)),
            *(("row_lower", rows), ("row_upper", rows)),
        ):
            vector = np.asarray(getattr(self, name), dtype=np.float64)
            if vector.shape != (size,):
                raise InvalidParameterError(
                    f"the program's {name} has shape {vector.shape}; its matrix asks for ({size},)"
                )
            if np.isnan(vector).any():
                raise InvalidParameterError(f"the program's {name} holds NaN")
            object.__setattr__(self, name, vector)
        for low, high, what in (
            (self.row_lower, self.row_upper, "row"),
            (self.lower, self.upper, "column"),
        ):
            if (low > high).any():
                where = int(np.argmax(low > high))
                raise InvalidParameterError(
                    f"{what} {where} of the program is bounded by {low[where]} from below and by "
                    f"{high[where]} from above"
                )
        if self.start is not None and (len(self.start.rows), len(self.start.columns)) != (
            rows,
            columns,
        ):
            raise InvalidParameterError(
                f"the program's start is of {len(self.start.rows)} rows and "
                f"{len(self.start.columns)} columns; its matrix has {rows} and {columns}"
            )

    @property
    def as_minimisation(self) -> Program:
        """The same program, minimised."""
        return replace(self, cost=-self.cost, maximise=False) if self.maximise else self


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Settings of a solve; none is left to a solver's own defaults.

    Parameters
    ----------
    seconds : float
        Wall-clock seconds.
    method : str
        One of :data:`forestcoll.solver.solve.METHODS`.
    threads : int
        1 to :data:`MOST_THREADS`.
    seed : int
        0 to :data:`LARGEST_SEED`.
    tolerance : float
        By how much a row or a bound may be off, times one plus the bound, and a reduced cost, times
        the largest cost; at most :data:`LARGEST_TOLERANCE`. The first-order methods take it
        relative to the size of all of the program's numbers together.
    gap : float
        For whole variables: the relative gap at which to stop, below 1.

    Raises
    ------
    InvalidParameterError
        If a number is of another type or out of its range.
    """

    seconds: float
    method: str = "highs"
    threads: int = 1
    seed: int = 0
    tolerance: float = 1e-9
    gap: float = 1e-9

    def __post_init__(self) -> None:
        if not isinstance(self.method, str):
            raise InvalidParameterError(f"method is {self.method!r}; it must be a name")
        for name, least, most in (("threads", 1, MOST_THREADS), ("seed", 0, LARGEST_SEED)):
            given = getattr(self, name)
            if not isinstance(given, Integral) or isinstance(given, bool):
                raise InvalidParameterError(f"{name} is {given!r}; it must be a whole number")
            if not least <= int(given) <= most:
                raise InvalidParameterError(f"{name} is {given}; it must be {least} to {most}")
            object.__setattr__(self, name, int(given))
        for name, limit in (
            ("seconds", math.inf),
            ("tolerance", LARGEST_TOLERANCE),
            ("gap", 1.0),
        ):
            object.__setattr__(self, name, self._checked(name, limit))

    def _checked(self, name: str, limit: float) -> float:
        """Return one of the real numbers: finite, positive (the gap may be 0), within a limit."""
        given = getattr(self, name)
        if not isinstance(given, Real) or isinstance(given, bool):
            raise InvalidParameterError(f"{name} is {given!r}; it must be a number")
        number = float(given)
        low = number < 0 if name == "gap" else not number > 0
        if low or not math.isfinite(number) or number > limit:
            allowed = "0 or more" if name == "gap" else "positive"
            end = f"at most {limit:g}" if math.isfinite(limit) else "finite"
            raise InvalidParameterError(f"{name} is {given}; it must be {allowed} and {end}")
        return number


@dataclass(frozen=True, slots=True)
class Solution:
    """A feasible point with its objective and a bound.

    Parameters
    ----------
    status : str
        "optimal"; "feasible" where a limit stopped the solver.
    x : float array, one entry a column
    objective : float
        c x, of the program as it was stated.
    bound : float
        No feasible point is better; infinite if unknown. For a linear program it is computed from
        the solver's multipliers (weak duality), not taken from the solver's report.
    row_duals : float array, one entry a row, optional
        Change of the objective per change of the row's bound; None with integer variables, or for
        a solution that is not optimal.
    violation : float
        The largest amount by which a row or a bound is missed, computed from x.
    settings : Settings
        With the method and tolerances that were used.
    basis : Basis, optional
        Of the optimum, if a simplex method of HiGHS found it.
    """

    status: str
    x: Vector = field(repr=False)
    objective: float
    bound: float
    row_duals: Vector | None = field(repr=False)
    violation: float
    settings: Settings
    basis: Basis | None = field(default=None, repr=False)


def violation(program: Program, x: Vector) -> float:
    """Return the largest amount by which a point misses a row or a bound."""
    rows = program.matrix @ x
    off = [
        *(program.row_lower - rows, rows - program.row_upper),
        *(program.lower - x, x - program.upper),
    ]
    return float(max([0.0, *(part.max() for part in off if len(part))]))


def dual_bound(program: Program, row_duals: Vector, tolerance: float) -> float:
    """Return the bound on the objective that multipliers of the rows prove.

    Parameters
    ----------
    program : Program
        Whole variables may be fractions here.
    row_duals : float array, one entry a row
        Of any origin; the better, the better the bound.
    tolerance : float
        A reduced cost of a variable without a bound on its side counts as zero up to this times
        the largest cost; 0 for a bound that holds without any trust.

    Returns
    -------
    float
        Minus infinity (infinity for a maximisation) if they prove nothing.

    Examples
    --------
    Minimise x subject to 2 x >= 3 and x >= 0: half of the row proves 3/2.

    >>> one = np.ones(1)
    >>> program = Program(one, [[2.0]], 3 * one, np.inf * one, 0 * one, np.inf * one)
    >>> dual_bound(program, 0.5 * one, 1e-9)
    1.5
    """
    if program.maximise:
        return -dual_bound(program.as_minimisation, -row_duals, tolerance)
    y = np.where(np.isinf(program.row_lower), np.minimum(row_duals, 0), row_duals)
    y = np.where(np.isinf(program.row_upper), np.maximum(y, 0), y)
    reduced = program.cost - program.matrix.T @ y
    small = tolerance * float(np.abs(program.cost).max(initial=0))
    return _least(y, program.row_lower, program.row_upper, 0.0) + _least(
        reduced, program.lower, program.upper, small
    )


def _least(factor: Vector, lower: Vector, upper: Vector, small: float) -> float:
    """Add up the least values of factor times something between lower and upper."""
    end = np.where(factor > 0, lower, upper)
    negligible = (factor == 0) | (np.isinf(end) & (np.abs(factor) <= small))
    return float(np.dot(factor[~negligible], end[~negligible]))
