"""Sums without overflow, and the first fault."""

import numpy as np
import pytest

from forestcoll.schedule.exact_sums import exact, first


@pytest.mark.parametrize(
    ("amounts", "terms", "kind"),
    [
        ([2**62], 1, np.int64),
        ([2**62], 2, object),
        ([1, 2**31], 2**32 - 1, np.int64),
        ([1, 2**31], 2**32, object),
        ([2**63 - 1], 0, np.int64),
        ([], 10**9, np.int64),
    ],
)
def test_integer_types_hold_their_sum(amounts: list[int], terms: int, kind: type) -> None:
    """Below 2^63 in 64 bits, else as Python's whole numbers; 2^31 (2^32 - 1) fits."""
    found = exact(np.array(amounts, dtype=np.int64), terms)
    assert found.dtype == kind
    assert found.tolist() == amounts


def test_small_types_do_not_wrap_round() -> None:
    """100 + 100 is 200, not what eight bits make of it."""
    assert exact(np.array([100, 100], dtype=np.int8), 2).sum() == 200
    assert exact(np.array([2**62] * 3), 3).sum() == 3 * 2**62


def test_the_first_fault_is_found_row_by_row() -> None:
    """Counted through a table; none among none."""
    assert first(np.array([False, True, True])) == 1
    assert first(np.array([[False, False], [True, False]])) == 2
    assert first(np.zeros(4, dtype=np.bool_)) is None
    assert first(np.zeros(0, dtype=np.bool_)) is None
