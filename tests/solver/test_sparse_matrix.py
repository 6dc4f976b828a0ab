"""Sparse matrices without scipy, compared with scipy's."""

import numpy as np
import pytest
import scipy.sparse as sp

from forestcoll.solver.linear_program import Program
from forestcoll.solver.scaling import scaled
from forestcoll.solver.solve import available_methods, solve
from forestcoll.solver.sparse_matrix import SparseMatrix
from tests.solver.programs import INF, settings


def drawn(seed: int, rows: int, columns: int) -> np.ndarray:
    """Small whole numbers, two thirds of them zero, the second row all."""
    numbers = np.random.default_rng(seed)
    dense = numbers.integers(-9, 10, (rows, columns)) * (numbers.random((rows, columns)) < 1 / 3)
    dense[1:2] = 0
    return dense.astype(np.float64)


def assert_same(found: SparseMatrix, expected: sp.csr_array) -> None:
    expected.eliminate_zeros()
    expected.sort_indices()
    assert found.shape == expected.shape
    assert found.indptr.tolist() == expected.indptr.tolist()
    assert found.indices.tolist() == expected.indices.tolist()
    assert found.data.tolist() == expected.data.tolist()
    assert found.toarray().tolist() == expected.toarray().tolist()
    assert (found.as_scipy() != expected).nnz == 0


@pytest.mark.parametrize("seed", range(5))
def test_parts_join_as_scipys(seed: int) -> None:
    """One below the other, side by side, along the diagonal, transposed and cut."""
    one, other, wide = drawn(seed, 5, 4), drawn(seed + 9, 3, 4), drawn(seed + 99, 5, 7)
    a, b, c = map(SparseMatrix.of, (one, other, wide))
    assert_same(a, sp.csr_array(one))
    assert_same(SparseMatrix.stacked([a, b]), sp.csr_array(np.vstack([one, other])))
    assert_same(SparseMatrix.beside([a, c]), sp.csr_array(np.hstack([one, wide])))
    assert_same(SparseMatrix.blocks([a, c, b]), sp.csr_array(sp.block_diag([one, wide, other])))
    assert_same(a.T, sp.csr_array(one.T))
    assert_same(a.below(2), sp.csr_array(one[2:]))
    factors = np.arange(1.0, 6)
    assert_same(c.with_factors(factors), sp.csr_array(factors[:, None] * wide))
    assert_same(c.with_factors(3), sp.csr_array(3 * wide))


@pytest.mark.parametrize("seed", range(5))
def test_products_and_largest_entries(seed: int) -> None:
    dense = drawn(seed, 6, 4)
    matrix, x, y = SparseMatrix.of(dense), np.arange(4.0), np.arange(6.0)
    assert (matrix @ x).tolist() == (dense @ x).tolist()
    assert (matrix.T @ y).tolist() == (dense.T @ y).tolist()
    assert matrix.largest.tolist() == np.abs(dense).max(axis=1).tolist()


def test_entries_of_one_place_are_added_up() -> None:
    """2 and 3 at (1, 2), and 5 at (0, 1); a third row is empty."""
    row, column = np.array([1, 0, 1]), np.array([2, 1, 2])
    found = SparseMatrix.of_entries(row, column, np.array([2.0, 5.0, 3.0]), (3, 3))
    assert found.toarray().tolist() == [[0, 5, 0], [0, 0, 5], [0, 0, 0]]


def test_without_entries() -> None:
    empty = SparseMatrix.empty(2, 3)
    assert_same(empty, sp.csr_array((2, 3)))
    assert_same(empty.T, sp.csr_array((3, 2)))
    assert (empty @ np.ones(3)).tolist() == empty.largest.tolist() == [0, 0]


@pytest.mark.parametrize("method", available_methods())
def test_every_solver_takes_one(method: str) -> None:
    """Maximise x + y with x + 2y <= 4 and 2x + y <= 4 times 2^-30: 8/3, whatever the scale."""
    dense, two = np.array([[1.0, 2.0], [2.0, 1.0]]) * 2.0**-30, np.ones(2)
    sparse = SparseMatrix.of(dense)
    program, usual = (
        Program(two, matrix, -INF * two, 2.0**-28 * two, 0 * two, 9 * two, True)
        for matrix in (sparse, dense)
    )
    assert (
        scaled(program)[0].matrix.toarray().tolist() == scaled(usual)[0].matrix.toarray().tolist()
    )
    found = solve(program, settings(method))
    assert found.objective == pytest.approx(8 / 3, rel=1e-6)
    assert found.bound == pytest.approx(8 / 3, rel=1e-6)
