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
    place = np.zeros(len(table), dtype=np.int64)
    base = int(table.max(initial=0)) + 1
    for column in table.T:  # numbers of distinct beginnings stay small, whatever the width
        place = distinct(place * base + column)[1]
    member = np.zeros(int(place.max(initial=-1)) + 1, dtype=np.int64)
    member[place] = np.arange(len(table))
    return table[member], place
