"""Matrices of programs: the same whether dense or sparse."""

from typing import Any

import numpy as np
import pytest

from forestcoll.solver import matrix_blocks
from forestcoll.solver.matrix_blocks import (
    beside,
    by_column,
    compact,
    diagonal,
    from_entries,
    largest_entries,
    rows_times,
    stacked,
)

FIRST = np.array([[0.0, 2.0, 0.0], [-3.0, 0.0, 1.0]])
SECOND = np.array([[4.0, 0.0, 5.0]])


@pytest.fixture(params=["dense", "sparse"])
def is_dense(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Matrices of any width are dense, or sparse."""
    if request.param == "sparse":
        monkeypatch.setattr(matrix_blocks, "WIDE", 0)
    return bool(request.param == "dense")


def entries(matrix: Any, is_dense: bool) -> Any:
    assert isinstance(matrix, np.ndarray) == is_dense
    return (matrix if is_dense else matrix.toarray()).tolist()


def test_blocks_are_put_together(is_dense: bool) -> None:
    above, below = compact(FIRST), compact(SECOND)
    assert entries(stacked([above, below]), is_dense) == [*FIRST.tolist(), *SECOND.tolist()]
    assert entries(beside([below, below]), is_dense) == [[4, 0, 5, 4, 0, 5]]
    assert entries(diagonal([below, above]), is_dense) == [
        [4, 0, 5, 0, 0, 0],
        [0, 0, 0, 0, 2, 0],
        [0, 0, 0, -3, 0, 1],
    ]


def test_entries_at_one_place_are_added_up(is_dense: bool) -> None:
    row, column = np.array([0, 1, 1]), np.array([2, 0, 0])
    made = from_entries((2, 3), row, column, np.array([1.0, 2.0, 4.0]))
    assert entries(made, is_dense) == [[0, 0, 1], [6, 0, 0]]


def test_rows_are_measured_and_scaled(is_dense: bool) -> None:
    matrix = compact(FIRST)
    assert largest_entries(matrix).tolist() == [2, 3]
    assert entries(rows_times(matrix, np.array([2.0, 4.0])), is_dense) == [[0, 4, 0], [-12, 0, 4]]
    assert largest_entries(compact(np.zeros((2, 3)))).tolist() == [0, 0]


def test_entries_are_listed_by_column(is_dense: bool) -> None:
    start, row, value = by_column(compact(np.vstack([FIRST, SECOND])))
    assert start.tolist() == [0, 2, 3, 5]
    assert row.tolist() == [1, 2, 0, 1, 2]
    assert value.tolist() == [-3, 4, 2, 1, 5]


def test_wide_matrices_are_sparse() -> None:
    """Sparse as a whole, though each block is narrow."""
    half = np.ones((1, matrix_blocks.WIDE // 2))
    assert isinstance(beside([half, half]), np.ndarray)
    for wide in (beside([half, half, half]), diagonal([half, half, half])):
        assert not isinstance(wide, np.ndarray)
        assert wide.sum() == 3 * half.sum()
    assert not isinstance(compact(np.ones((1, matrix_blocks.WIDE + 1))), np.ndarray)
