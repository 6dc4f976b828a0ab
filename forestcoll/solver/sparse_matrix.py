"""Sparse matrix by rows, for programs of commands that take less time than scipy's import.

Problem: state a small program without scipy.sparse, which takes 0.1 s to load.
Input:   dense rows, or entries.
Output:  the arrays of a compressed sparse row matrix, as scipy's ``csr_array`` has them.
Cost:    a sort of the entries, where their order changes.
Source:  the usual format; methods of scipy's names do the same as there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["SparseMatrix"]

_Floats = npt.NDArray[np.float64]
_Places = npt.NDArray[np.int64]


class SparseMatrix:
    """A matrix of floats.

    Parameters
    ----------
    data : float array
        The entries, row by row.
    indices : int64 array
        The column of each entry; each column at most once a row, in ascending order.
    indptr : int64 array
        Place of the first entry of each row, and the number of entries.
    width : int
        Number of columns.

    Examples
    --------
    >>> found = SparseMatrix.stacked([SparseMatrix.of([[0, 2.0]]), SparseMatrix.of([[3, 4.0]])])
    >>> found.toarray(), found @ np.array([1.0, 10.0])
    (array([[0., 2.],
           [3., 4.]]), array([20., 43.]))
    """

    __slots__ = ("data", "indices", "indptr", "shape")

    def __init__(self, data: _Floats, indices: _Places, indptr: _Places, width: int) -> None:
        self.data, self.indices, self.indptr = data, indices, indptr
        self.shape = len(indptr) - 1, width

    @classmethod
    def of(cls, dense: npt.ArrayLike) -> SparseMatrix:
        """Return the matrix of dense rows."""
        rows = np.asarray(dense, dtype=np.float64)
        row, column = np.nonzero(rows)
        return cls(rows[row, column], column, _starts(row, len(rows)), rows.shape[1])

    @classmethod
    def of_entries(
        cls, row: _Places, column: _Places, value: _Floats, shape: tuple[int, int]
    ) -> SparseMatrix:
        """Return the matrix of entries in any order; those of one place are added up."""
        place, which = np.unique(row * shape[1] + column, return_inverse=True)
        data = np.bincount(which.reshape(-1), value, minlength=len(place)).astype(np.float64)
        return cls(data, place % shape[1], _starts(place // shape[1], shape[0]), shape[1])

    @classmethod
    def empty(cls, rows: int, columns: int) -> SparseMatrix:
        """Return a matrix of zeros."""
        none = np.zeros(0, dtype=np.int64)
        return cls(np.zeros(0), none, np.zeros(rows + 1, dtype=np.int64), columns)

    @classmethod
    def stacked(cls, parts: Sequence[SparseMatrix]) -> SparseMatrix:
        """Return parts of equally many columns, one below the other; there must be one."""
        return cls(
            np.concatenate([part.data for part in parts]),
            np.concatenate([part.indices for part in parts]),
            _joined_starts(parts),
            parts[0].shape[1],
        )

    @classmethod
    def blocks(cls, parts: Sequence[SparseMatrix]) -> SparseMatrix:
        """Return parts along the diagonal, with zeros elsewhere; there must be one."""
        ends = np.cumsum([part.shape[1] for part in parts]).tolist()
        columns = [
            part.indices + end - part.shape[1] for part, end in zip(parts, ends, strict=True)
        ]
        data = np.concatenate([part.data for part in parts])
        return cls(data, np.concatenate(columns), _joined_starts(parts), ends[-1])

    @classmethod
    def beside(cls, parts: Sequence[SparseMatrix]) -> SparseMatrix:
        """Return parts of equally many rows, side by side; there must be one."""
        wide = cls.blocks(parts)
        row = np.concatenate([part.row for part in parts])
        order = np.argsort(row, kind="stable")
        starts = _starts(row, parts[0].shape[0])
        return cls(wide.data[order], wide.indices[order], starts, wide.shape[1])

    @property
    def row(self) -> _Places:
        """The row of each entry."""
        return np.repeat(np.arange(self.shape[0]), np.diff(self.indptr))

    @property
    def T(self) -> SparseMatrix:  # noqa: N802 - scipy's name
        """The transposed matrix."""
        order = np.argsort(self.indices, kind="stable")
        starts = _starts(self.indices, self.shape[1])
        return SparseMatrix(self.data[order], self.row[order], starts, self.shape[0])

    def tocsc(self) -> SparseMatrix:
        """Return the arrays of the compressed columns: those of the transposed matrix."""
        return self.T

    def toarray(self) -> _Floats:
        """Return the dense rows."""
        dense = np.zeros(self.shape)
        dense[self.row, self.indices] = self.data
        return dense

    def below(self, row: int) -> SparseMatrix:
        """Return the rows from one on."""
        first = int(self.indptr[row])
        starts = self.indptr[row:] - first
        return SparseMatrix(self.data[first:], self.indices[first:], starts, self.shape[1])

    def with_factors(self, factor: npt.ArrayLike) -> SparseMatrix:
        """Return the matrix with a factor for each row, or one for all."""
        factors = np.broadcast_to(np.asarray(factor, dtype=np.float64), self.shape[0])
        return SparseMatrix(self.data * factors[self.row], self.indices, self.indptr, self.shape[1])

    @property
    def largest(self) -> _Floats:
        """The largest absolute value of each row."""
        found = np.zeros(self.shape[0])
        np.maximum.at(found, self.row, np.abs(self.data))
        return found

    def __matmul__(self, x: _Floats) -> _Floats:
        added = np.bincount(self.row, self.data * x[self.indices], minlength=self.shape[0])
        return added.astype(np.float64)

    def as_scipy(self) -> Any:
        """Return the same as scipy's ``csr_array``."""
        from scipy.sparse import csr_array  # for solvers and callers that need one

        return csr_array((self.data, self.indices, self.indptr), shape=self.shape)


def _starts(row: _Places, rows: int) -> _Places:
    return np.concatenate([[0], np.cumsum(np.bincount(row, minlength=rows))]).astype(np.int64)


def _joined_starts(parts: Sequence[SparseMatrix]) -> _Places:
    lengths = np.concatenate([np.diff(part.indptr) for part in parts])
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
