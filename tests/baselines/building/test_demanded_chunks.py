"""Demands as parameters, and their chunks."""

from typing import Any

import pytest

from baselines.building.demanded_chunks import check_unicast, chunks_of, equal_parts, given_demand
from forestcoll.errors import InvalidParameterError, UnsupportedError
from forestcoll.problem.demand import Demand
from forestcoll.topology import load_topology

RING = load_topology("ring:nodes=3")
TO_BOTH = Demand.of_chunks(3, [(0, 7, [1, 2]), (2, 4, [1])])


def test_a_demand_is_read_from_text() -> None:
    found = given_demand(RING, "sendrecv:size=6B", None)
    assert found is not None
    assert found.matrix.tolist() == [[0, 6, 0], [0, 0, 6], [6, 0, 0]]
    assert given_demand(RING, None, "allgather") is None
    assert given_demand(RING, TO_BOTH, "all-to-all") is TO_BOTH


@pytest.mark.parametrize(
    ("demand", "collective", "message"),
    [
        (TO_BOTH, "allgather", r"leave out the collective allgather"),
        ("zipfel", None, r"zipfel"),
        (Demand.of_matrix([[0, 1], [1, 0]], "two"), None, r"two is of 2 GPUs; ring.* has 3"),
        ([[0, 1], [1, 0]], None, r"demand is a list; give a Demand or text"),
    ],
)
def test_demands_of_another_network_or_collective_are_refused(
    demand: Any, collective: str | None, message: str
) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        given_demand(RING, demand, collective)


def test_chunks_of_a_demand_have_their_bytes_and_any_single_target() -> None:
    chunks = chunks_of(TO_BOTH, 10)
    assert (chunks.size.tolist(), chunks.whole) == ([70, 40], 110)
    assert (chunks.root.tolist(), chunks.target.tolist()) == ([0, 2], [-1, 1])


def test_equal_parts_are_one_for_each_pair() -> None:
    chunks = equal_parts(4, 5)
    assert (len(chunks), chunks.whole, set(chunks.size.tolist())) == (12, 20, {5})
    assert (chunks.root != chunks.target).all()


def test_unicast_methods_refuse_chunks_for_several_gpus() -> None:
    check_unicast("some", None)
    check_unicast("some", Demand.of_matrix([[0, 1], [1, 0]]))
    with pytest.raises(UnsupportedError, match=r"^unsupported: demand has chunks .* some sends"):
        check_unicast("some", TO_BOTH)
