"""Distinct values and rows of integer arrays, by counting instead of sorting.

Problem: ``np.unique`` for millions of walks or nodes, which are small numbers.
Input:   whole numbers from 0 up.
Output:  the distinct ones in ascending order, and the place of each entry among them.
Cost:    linear in the entries and in the largest number; if that is too large, a sort.
Source:  counting sort.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["distinct", "distinct_rows"]

_SPARE = 2**16  # numbers beyond the count of entries for which a table is still small

_Ints = npt.NDArray[Any]


def distinct(values: _Ints) -> tuple[_Ints, npt.NDArray[np.int64]]:
    """Return the distinct values, ascending, and the index of each value among them.

    Examples
    --------
    >>> [array.tolist() for array in distinct(np.array([7, 2, 7]))]
    [[2, 7], [1, 0, 1]]
    """
    size = int(values.max(initial=-1)) + 1
    if size > 4 * len(values) + _SPARE:
        found, place = np.unique(values, return_inverse=True)
        return found, place.reshape(-1).astype(np.int64)
    there = np.zeros(size, dtype=bool)
    there[values] = True
    found = np.flatnonzero(there).astype(values.dtype)
    return found, (np.cumsum(there) - 1)[values]


def distinct_rows(table: _Ints) -> tuple[_Ints, npt.NDArray[np.int64]]:
    """Return the distinct rows in lexical order, and the index of each row among them.

    Examples
    --------
    >>> [array.tolist() for array in distinct_rows(np.array([[1, 0], [0, 3], [1, 0]]))]
    [[[0, 3], [1, 0]], [1, 0, 1]]
    """
    rows, width = table.shape
    base = int(table.max(initial=0)) + 1
    if not rows or base**width >= 2**63:
        found, place = np.unique(table, axis=0, return_inverse=True)
        return found, place.reshape(-1).astype(np.int64)
    code = np.zeros(rows, dtype=np.int64)
    for column in table.T:
        code = code * base + column
    codes, place = distinct(code)
    columns = []
    for _ in range(width):
        codes, column = np.divmod(codes, base)
        columns.append(column)
    return np.stack(columns[::-1], axis=1).astype(table.dtype), place
