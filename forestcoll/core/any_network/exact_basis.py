"""Exact solution of a linear program's basis, in fractions.

Problem: a solver's floats show which rows and columns bind; solve these equations in fractions.
Input:   a square system of whole numbers, a dict for each row; right-hand sides.
Output:  the solution as Fractions, or None if the system is singular.
Cost:    Gaussian elimination on sparse rows, the row and column with fewest entries first; bases
         of cut programs hold small whole numbers, mostly 1 and -1, and fill in little.
Source:  Markowitz's rule. Exact linear programming by a float solver's basis is the method of
         QSopt_ex (Applegate, Cook, Dash and Espinoza, 2007).
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from fractions import Fraction

from forestcoll.errors import TimeLimitError

__all__ = ["Row", "solve_exactly", "transposed"]

Row = dict[int, int]
"""Coefficients by column; all others are 0."""


def solve_exactly(
    rows: Sequence[Row], sides: Sequence[Fraction | int], deadline: float = math.inf
) -> list[Fraction] | None:
    """Solve a square system.

    Raises TimeLimitError at the deadline.

    Parameters
    ----------
    rows : sequence of dict
        As many as there are columns, which are numbered from 0.
    sides : sequence of Fraction or int
        The right-hand side of each row.
    deadline : float
        A time of ``time.monotonic``: fractions may grow long, and rows fill in.

    Examples
    --------
    >>> solve_exactly([{0: 2, 1: 1}, {0: 1, 1: -1}], [5, 1])
    [Fraction(2, 1), Fraction(1, 1)]
    >>> solve_exactly([{0: 1, 1: 1}, {0: 2, 1: 2}], [1, 2]) is None
    True
    """
    work = [{column: Fraction(value) for column, value in row.items() if value} for row in rows]
    right = [Fraction(side) for side in sides]
    holders: list[set[int]] = [set() for _ in rows]
    for number, row in enumerate(work):
        for column in row:
            holders[column].add(number)
    left = set(range(len(rows)))
    order: list[tuple[int, int]] = []
    while left:
        if time.monotonic() > deadline:
            raise TimeLimitError("no time is left to solve a basis in fractions")
        # Markowitz: the pivot with the fewest entries fills in least.
        number = min(left, key=lambda one: (len(work[one]), one))
        if not work[number]:
            return None
        column = min(work[number], key=lambda one: (len(holders[one]), one))
        _eliminate(work, right, holders, number, column)
        left.remove(number)
        order.append((number, column))
    solution = [Fraction(0)] * len(rows)
    for number, column in reversed(order):
        rest = sum(value * solution[at] for at, value in work[number].items() if at != column)
        solution[column] = (right[number] - rest) / work[number][column]
    return solution


def _eliminate(
    work: list[dict[int, Fraction]],
    right: list[Fraction],
    holders: list[set[int]],
    number: int,
    column: int,
) -> None:
    """Clear a column in all rows that are left, but for the pivot's own."""
    pivot = work[number]
    for at in pivot:
        holders[at].discard(number)
    for other in list(holders[column]):
        row = work[other]
        factor = row[column] / pivot[column]
        for at, value in pivot.items():
            now = row.get(at, 0) - factor * value
            if now:
                row[at] = now
                holders[at].add(other)
            elif at in row:
                del row[at]
                holders[at].discard(other)
        right[other] -= factor * right[number]


def transposed(rows: Sequence[Row]) -> list[Row]:
    """Return the rows of the transposed square matrix."""
    columns: list[Row] = [{} for _ in rows]
    for number, row in enumerate(rows):
        for column, value in row.items():
            columns[column][number] = value
    return columns
