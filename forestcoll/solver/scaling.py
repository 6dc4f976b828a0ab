"""Scaling of programs by powers of two, and the reverse for their answers.

Problem: solvers drop small matrix entries and test reduced costs against absolute tolerances, so a
         program in small numbers loses its rows or its objective.
Input:   a minimisation; then a solver's answer.
Output:  the program with rows and objective times powers of two; the answer in original units.
Cost:    one pass over the matrix each way.
Source:  a row times f > 0 is the same row, with multiplier y / f; an objective times f has the
         same solutions, with bound and multipliers f times as large. Powers of two round nothing.
         Rows are only scaled up, so a point within the tolerance of all scaled rows is also within
         the tolerance of the original rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from forestcoll.solver.backends.answer import Answer
from forestcoll.solver.linear_program import Program, Vector
from forestcoll.solver.matrix_blocks import largest_entries, rows_times

__all__ = ["Scaling", "scaled"]

_MOST_DOUBLINGS = 40
"""Of a row: its bounds must stay far from what solvers take for infinite."""


@dataclass(frozen=True, slots=True)
class Scaling:
    """Factors of rows and objective.

    Parameters
    ----------
    row : float array, one entry a row
    cost : float
    """

    row: Vector
    cost: float

    def undone(self, answer: Answer) -> Answer:
        """Return the answer of the unscaled program."""
        duals, bound = answer.row_duals, answer.bound
        return replace(
            answer,
            row_duals=None if duals is None else duals * self.row / self.cost,
            bound=None if bound is None else bound / self.cost,
        )


def scaled(program: Program) -> tuple[Program, Scaling]:
    """Scale rows up to have a largest entry of 1 or more, and the costs to one of 1 to 2.

    Examples
    --------
    >>> one = np.ones(1)
    >>> program = Program(one / 1024, [[0.25]], one, np.inf * one, 0 * one, 9 * one)
    >>> found, scaling = scaled(program)
    >>> found.matrix, found.row_lower, found.cost
    (array([[1.]]), array([4.]), array([1.]))
    """
    row = 2.0 ** np.clip(-_exponent(largest_entries(program.matrix)), 0, _MOST_DOUBLINGS)
    cost = float(2.0 ** -_exponent(np.abs(program.cost).max(initial=0, keepdims=True))[0])
    found = replace(
        program,
        cost=program.cost * cost,
        matrix=rows_times(program.matrix, row),
        row_lower=program.row_lower * row,
        row_upper=program.row_upper * row,
    )
    return found, Scaling(row, cost)


def _exponent(values: Vector) -> Vector:
    """Return the exponents of the powers of two at or next below some numbers; 0 for zero."""
    known = np.where(values > 0, values, 1.0)
    return np.clip(np.floor(np.log2(known)), -1000, 1000)
