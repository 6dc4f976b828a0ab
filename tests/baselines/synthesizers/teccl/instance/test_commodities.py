"""Collectives as demands."""

from fractions import Fraction

import pytest

from baselines.synthesizers.teccl.instance.commodities import Demand, demand_of


def test_an_allgather_wants_everything_everywhere() -> None:
    demand = demand_of(3, "allgather", 2, 6000)
    assert demand.roots == (0, 0, 1, 1, 2, 2)
    assert demand.wants[2] == {0, 2}
    assert demand.chunk_kb == 1


def test_a_broadcast_wants_the_chunks_of_its_root() -> None:
    demand = demand_of(3, "broadcast", 2, 6000, root=1)
    assert (demand.roots, demand.wants, demand.chunk_kb) == ((1, 1), (frozenset({0, 2}),) * 2, 3)


@pytest.mark.parametrize("chunks", [1, 2])
def test_an_all_to_all_wants_a_chunk_of_its_own_for_each_pair(chunks: int) -> None:
    """What a GPU keeps for itself is part of M."""
    demand = demand_of(3, "all-to-all", chunks, 6000)
    assert len(demand.roots) == 6 * chunks
    for root, target, wants in zip(
        demand.roots, demand.chunks.target.tolist(), demand.wants, strict=True
    ):
        assert wants == {target} != {root}
    assert demand.chunk_kb == Fraction(2, chunks)


def test_demands_add_up_and_are_divided_again() -> None:
    parts = [demand_of(3, "allgather", 1, 3000), demand_of(3, "all-to-all", 1, 3000)]
    whole = Demand.joined(parts)
    assert (whole.roots, whole.chunk_kb) == (parts[0].roots + parts[1].roots, 1)
    for part, (first, end) in zip(parts, [(0, 3), (3, 9)], strict=True):
        again = whole.part(first, end)
        assert (again.roots, again.wants) == (part.roots, part.wants)
        assert again.chunks.target.tolist() == part.chunks.target.tolist()
