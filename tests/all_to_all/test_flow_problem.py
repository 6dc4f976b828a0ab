"""What is asked for, checked."""

import pytest

from forestcoll.all_to_all.flow_problem import flow_problem
from forestcoll.errors import (
    InvalidParameterError,
)
from forestcoll.topology import (
    load_topology,
)


@pytest.mark.parametrize(
    ("amounts", "fault"),
    [
        ([[0, 1]], "shape"),
        ([[0, -1], [1, 0]], "negative"),
        ([[0, float("nan")], [1, 0]], "NaN"),
        ([[1, 1], [1, 0]], "for itself"),
        ([[0, 0], [0, 0]], "no demand"),
        ([[0, 1], [1]], "no table of numbers"),
        ("abc", "no table of numbers"),
        ([[0, 1e-310], [1, 0]], "another unit"),
    ],
)
def test_impossible_amounts_are_refused(amounts, fault: str) -> None:
    with pytest.raises(InvalidParameterError, match=fault):
        flow_problem(load_topology("ring:nodes=2"), amounts)
