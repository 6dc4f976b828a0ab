"""Distinct numbers and rows are those of numpy, whether counted or sorted."""

import numpy as np
import pytest

from forestcoll.in_network.numbering import distinct, distinct_rows


@pytest.mark.parametrize("most", [1, 3, 1000, 2**40])
@pytest.mark.parametrize("count", [0, 1, 50])
@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_distinct_numbers_are_those_of_numpy(most: int, count: int, kind: type) -> None:
    """Beyond 65,536 more than four times the entries they are sorted."""
    top = min(most, np.iinfo(kind).max)
    values = np.random.default_rng(count).integers(top, size=count).astype(kind)
    found, place = distinct(values)
    wanted, inverse = np.unique(values, return_inverse=True)
    assert found.dtype == wanted.dtype
    assert np.array_equal(found, wanted)
    assert np.array_equal(place, inverse)


@pytest.mark.parametrize("width", [1, 2, 4, 30])
@pytest.mark.parametrize("rows", [0, 1, 40])
def test_distinct_rows_are_those_of_numpy(width: int, rows: int) -> None:
    """Rows of 30 numbers up to 9 do not fit 63 bits as one number: 10**30."""
    table = np.random.default_rng(rows).integers(10, size=(rows, width)).astype(np.int32)
    table = np.concatenate([table, table[:3]])
    found, place = distinct_rows(table)
    wanted, inverse = np.unique(table, axis=0, return_inverse=True)
    assert found.dtype == wanted.dtype
    assert np.array_equal(found, wanted)
    assert np.array_equal(place, inverse.reshape(-1))
    assert np.array_equal(found[place], table)
