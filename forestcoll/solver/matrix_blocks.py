"""Matrices of programs, put together from blocks: numpy's arrays if they are narrow, else scipy's.

Problem: state programs of few columns without scipy, which takes longer to load than such programs
         take to solve.
Input:   entries, or blocks.
Output:  a dense array with up to :data:`WIDE` columns, a sparse one with more.
Cost:    rows times columns if dense, else linear in the entries.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from forestcoll.solver.linear_program import Vector

__all__ = [
    "WIDE",
    "beside",
    "by_column",
    "compact",
    "diagonal",
    "from_entries",
    "largest_entries",
    "rows_times",
    "stacked",
]

WIDE = 1024
"""Most columns of a dense matrix."""

Places = npt.NDArray[np.int64]


def from_entries(shape: tuple[int, int], row: Places, column: Places, value: Vector) -> Any:
    """Return the matrix that has these entries; those at one place are added up."""
    if shape[1] > WIDE:
        from scipy.sparse import coo_array  # here and below: it takes 0.1 s to load

        return coo_array((value, (row, column)), shape=shape).tocsr()
    matrix = np.zeros(shape)
    np.add.at(matrix, (row, column), value)
    return matrix


def compact(matrix: npt.NDArray[np.float64]) -> Any:
    """Return a dense matrix as it is, or as a sparse one if it has many columns."""
    if matrix.shape[1] <= WIDE:
        return matrix
    from scipy.sparse import csr_array

    return csr_array(matrix)


def stacked(blocks: Sequence[Any]) -> Any:
    """Return blocks with equally many columns one below the other."""
    if blocks[0].shape[1] <= WIDE:
        return np.vstack(blocks)
    from scipy.sparse import csr_array, vstack

    return vstack([csr_array(block) for block in blocks], "csr")


def beside(blocks: Sequence[Any]) -> Any:
    """Return blocks with equally many rows one beside the other."""
    if sum(block.shape[1] for block in blocks) <= WIDE:
        return np.hstack(blocks)
    from scipy.sparse import csr_array, hstack

    return hstack([csr_array(block) for block in blocks], "csr")


def diagonal(blocks: Sequence[Any]) -> Any:
    """Return blocks along the diagonal, with zeros around them."""
    rows, columns = (np.cumsum([0, *(block.shape[axis] for block in blocks)]) for axis in (0, 1))
    if columns[-1] > WIDE:
        from scipy.sparse import block_diag

        return block_diag(blocks, "csr")
    matrix = np.zeros((rows[-1], columns[-1]))
    for block, row, column in zip(blocks, rows, columns, strict=False):
        matrix[row : row + block.shape[0], column : column + block.shape[1]] = block
    return matrix


def rows_times(matrix: Any, factors: Vector) -> Any:
    """Return the matrix with each row times its factor."""
    if isinstance(matrix, np.ndarray):
        return matrix * factors[:, None]
    from scipy.sparse import diags_array

    return diags_array(factors) @ matrix


def largest_entries(matrix: Any) -> Vector:
    """Return the largest absolute value of each row; 0 if it is empty."""
    if not isinstance(matrix, np.ndarray):
        matrix = (
            abs(matrix).max(axis=1).toarray().reshape(-1, 1)
            if matrix.nnz
            else np.zeros(matrix.shape)
        )
    largest: Vector = np.abs(matrix).max(axis=1, initial=0.0)
    return largest


def by_column(matrix: Any) -> tuple[Places, Places, Vector]:
    """Return where the entries of each column begin, the row of each entry, and its value."""
    if not isinstance(matrix, np.ndarray):
        columns = matrix.tocsc()
        return columns.indptr, columns.indices, columns.data
    column, row = np.nonzero(matrix.T)
    counts = np.bincount(column, minlength=matrix.shape[1])
    return np.cumsum([0, *counts]), row, matrix[row, column]
