"""What is asked for, checked."""

import numpy as np
import pytest

from forestcoll.all_to_all.flow_problem import flow_problem
from forestcoll.errors import (
    InvalidParameterError,
)
from forestcoll.topology import (
    load_topology,
)
from forestcoll.topology.symmetry.automorphism import find_orbits


@pytest.mark.parametrize(
    ("amounts", "fault"),
    [
        ([[0, 1]], "shape"),
        ([[0, -1], [1, 0]], "negative"),
        ([[0, float("nan")], [1, 0]], "NaN"),
        ([[1, 1], [1, 0]], "for itself"),
        ([[0, 0], [0, 0]], "the demand is empty"),
        ([[0, 1], [1]], "no table of numbers"),
        ("abc", "no table of numbers"),
        ([[0, 1e-310], [1, 0]], "another unit"),
    ],
)
def test_impossible_amounts_are_refused(amounts, fault: str) -> None:
    with pytest.raises(InvalidParameterError, match=fault):
        flow_problem(load_topology("ring:nodes=2"), amounts)


def test_one_source_stands_for_its_orbit() -> None:
    """A ring of four turns round: one source with four times its amounts; even loads."""
    ring = load_topology("ring:nodes=4")
    whole = flow_problem(ring)
    one = whole.folded(find_orbits(ring))
    assert one.sources.tolist() == [ring.compute[0]]
    assert one.amount.tolist() == [[0, 4, 4, 4]]
    price = np.ones(len(ring.links))
    assert one.bound_gb_s(price) == whole.bound_gb_s(price)
    load = np.arange(8.0)
    assert one.even(load).tolist() == [3.5] * 8
    assert whole.even(load) is load


def test_lengths_that_no_pair_needs_prove_nothing() -> None:
    """Only the way round has a length, so pairs reach each other over no length at all."""
    problem = flow_problem(load_topology("ring:nodes=3"))
    length = np.zeros(len(problem.bandwidth))
    length[0] = 1.0
    assert problem.bound_gb_s(length) == np.inf
