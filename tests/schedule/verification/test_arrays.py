"""Whether arrays can be read at all: shapes, types, ranges, rows."""

import re
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from forestcoll.schedule.forest import Forest, Routes
from forestcoll.schedule.verification import arrays as arrays_module
from tests.schedule.made.hand import star3
from tests.schedule.verification.rejecting import rejected


def _claiming(**fields: Any) -> Forest:
    return replace(star3(), **fields)


def _routes_with(**arrays: Any) -> Forest:
    correct = star3()
    return replace(correct, routes=replace(correct.routes, **arrays))


@pytest.mark.parametrize(
    ("broken", "fault"),
    [
        (replace(star3(), root=np.zeros(2, np.int32)), "multiplicity has shape"),
        (replace(star3(), root=np.array([0, 1, 3], np.int32)), "root holds 3"),
        (_claiming(root=[0, 1, 2]), "root holds list; it must be a numpy array"),
        (_claiming(multiplicity=np.ones(3)), "multiplicity holds float64"),
        (replace(star3(), parent=star3().parent.astype(np.uint32)), "parent holds uint32"),
        (replace(star3(), parent=star3().parent[:, :2]), r"parent has shape \(3, 2\)"),
        (replace(star3(), parent=np.full((3, 3), -2, np.int32)), "parent holds -2"),
        (replace(star3(), k=0), "k is 0"),
        (replace(star3(), k=True), "k is True"),
        (_claiming(k=1.0), "k is 1.0"),
        (replace(star3(), congestion=Fraction(0)), "congestion claimed is Fraction"),
        (_claiming(congestion=1.0), "congestion claimed is 1.0"),
        (_routes_with(tail=np.array([0, 1, 7], np.int32)), "routes.tail holds 7"),
        (_routes_with(hop=np.full(9, 4, np.int32)), "routes.hop holds 4"),
        (_routes_with(first_path=np.array([0, 1, 2])), r"first_path has shape \(3,\)"),
        (_routes_with(first_path=np.array([0, 2, 1, 3])), "row 1 the entries 2 to 1"),
        (_routes_with(first_path=np.array([0, 1, 1, 3])), "row 1 the entries 1 to 1"),
        (_routes_with(first_path=np.array([1, 1, 2, 3])), "runs from 1 to 3"),
        (_routes_with(first_hop=np.array([0, 3, 8, 9])), "row 2 the entries 8 to 9"),
        (_routes_with(first_hop=np.array([0, 3, 6, 8])), "runs from 0 to 8"),
        (_routes_with(tail=np.array([1, 0, 2], np.int32)), "a -> c is out of order"),
    ],
)
def test_malformed_arrays_are_rejected(broken: Forest, fault: str) -> None:
    """Wrong shapes, types, ranges and rows are reported before anything is indexed with them."""
    assert re.search(fault, rejected(broken))


@pytest.mark.parametrize("together", [1, 4, 2**16])
@pytest.mark.parametrize("wrong", [-2, 3])
def test_a_value_out_of_range_is_found_in_any_part(
    together: int, wrong: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In each place of the parents of three trees."""
    monkeypatch.setattr(arrays_module, "_TOGETHER", together)
    for place in range(9):
        parent = star3().parent.copy()
        parent.flat[place] = wrong
        message = rejected(replace(star3(), parent=parent))
        assert message == f"array parent holds {wrong}; its values lie between -1 and 2"


def test_weights_are_a_tuple_and_reduction_is_a_truth_value() -> None:
    assert "the weights are list; they must be a tuple" in rejected(_claiming(weights=[1, 1, 1]))
    assert "reduction is 1; it must be True or False" in rejected(_claiming(reduction=1))


def test_link_listed_twice_is_rejected() -> None:
    """Two entries for a -> b, each half of what runs over it, are one too many."""
    correct = star3()
    doubled = Routes(
        tail=np.array([0, 0, 1, 2], np.int32),
        head=np.array([1, 1, 2, 0], np.int32),
        first_path=np.arange(5),
        multiplicity=np.array([1, 1, 2, 2]),
        first_hop=np.arange(0, 13, 3),
        hop=np.array([0, 3, 1, 0, 3, 1, 1, 3, 2, 2, 3, 0], np.int32),
    )
    message = rejected(replace(correct, routes=doubled))
    assert "logical link a -> b is listed twice" in message


@pytest.mark.parametrize("method", [None, 7, b"by hand", "", "by\nhand"])
def test_a_method_is_a_printable_name(method: object) -> None:
    """Neither another type, nor nothing, nor two lines."""
    assert "it must be the printable name" in rejected(_claiming(method=method))
