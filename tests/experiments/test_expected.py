"""What a collective should reach, as nccl-tests print it."""

from __future__ import annotations

from fractions import Fraction

import pytest

from experiments.expected import ALL, busbw_factor, expected
from forestcoll import optimum
from forestcoll.errors import InvalidParameterError, UnsupportedError
from forestcoll.topology import load_topology


def rates(spec: str, collective: str) -> dict[str, Fraction | None]:
    found = expected(load_topology(spec), collective)
    return {one.what: one.busbw_gb_s for one in (*found.bounds, *found.rates)}


def test_a_box_reaches_its_links_and_with_nvls_almost_twice_that() -> None:
    """450 GB/s into each of 8 GPUs: busbw 450, or 7/4 of 450 where the switch adds and copies."""
    found = rates("dgx_h100:boxes=1", "allreduce")
    assert found["bound, switches forward"] == found["NCCL ring"] == 450
    assert found["bound, switches copy and add"] == found["NCCL NVLS"] == Fraction(1575, 2)
    assert found["ForestColl"] == Fraction(1575, 2)
    assert found["NCCL NVLS tree"] is None


def test_busbw_of_a_ring_is_the_rate_of_its_links() -> None:
    """Whatever the collective and the number of GPUs."""
    for gpus in (2, 3, 8):
        for collective in ("allgather", "reduce-scatter", "allreduce"):
            found = rates(f"ring:nodes={gpus},bidirectional=false", collective)
            assert found["NCCL ring"] == found["bound, switches forward"] == 1


@pytest.mark.parametrize("collective", ALL)
def test_every_collective_has_a_bound_that_nothing_beats(collective: str) -> None:
    for spec in ("dgx_a100:boxes=2", "dgx_h100:boxes=2", "torus:dims=3x3"):
        topology = load_topology(spec)
        found = expected(topology, collective)
        best = max(one.algbw_gb_s for one in found.bounds if one.algbw_gb_s is not None)
        reached = [one for one in found.rates if one.algbw_gb_s is not None]
        assert all(one.share is not None and one.share <= 1 for one in reached)
        assert all(one.share == one.algbw_gb_s / best for one in reached if one.algbw_gb_s)
        assert len(found.cuts) == {"allreduce": 2, "all-to-all": 0}.get(collective, 1)
        for one in (*found.bounds, *found.rates):
            assert (one.algbw_gb_s is None) == (one.busbw_gb_s is None)
            assert one.algbw_gb_s is not None or one.note
        if collective in ("allgather", "broadcast"):
            weights = [int(rank == 0) for rank in range(topology.num_compute)]
            whole = None if collective == "allgather" else weights
            assert best == optimum(topology, weights=whole).algbw_gb_s


def test_damage_is_counted() -> None:
    """One of 8 NICs of a box dead: 7/8 of what entered it."""
    whole = load_topology("dgx_a100:boxes=4")
    damaged = whole.without("b1.gpu2 - ib")
    (before,), (after,) = (expected(one, "allgather").bounds for one in (whole, damaged))
    assert before.algbw_gb_s is not None
    assert after.algbw_gb_s == before.algbw_gb_s * Fraction(7, 8)


def test_small_data_is_bounded_by_latency_and_large_data_by_rate() -> None:
    """A ring of 5 with 3 us a link: the farthest GPU is 2 links away."""
    ring = load_topology("ring:nodes=5")
    late = type(ring)(
        ring.name,
        ring.nodes,
        tuple(type(e)(e.tail, e.head, e.bandwidth_gb_s, Fraction(3)) for e in ring.links),
    )
    found = expected(late, "allgather")
    assert found.latency_us == 6
    assert found.least_us(1) == 6
    rate = found.bounds[0].algbw_gb_s
    assert rate is not None
    assert found.least_us(10**9) == 10**9 / (rate * 1000)
    assert expected(ring, "allgather").latency_us == 0
    path = late.without("gpu4 - gpu0")
    assert expected(path, "broadcast", root="gpu2").latency_us == 6
    assert expected(path, "reduce", root="gpu0").latency_us == 12
    one_way = late.without(
        "gpu1 -> gpu0", "gpu2 -> gpu1", "gpu3 -> gpu2", "gpu4 -> gpu3", "gpu0 - gpu4"
    )
    assert expected(one_way, "broadcast", root="gpu0").latency_us == 12


def test_bad_questions_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="must be one of allgather"):
        expected(load_topology("ring:nodes=4"), "gossip")
    with pytest.raises(InvalidParameterError, match="ranks are 0 to 3"):
        expected(load_topology("ring:nodes=4"), "reduce", root=9)


def test_factors_are_those_of_nccl_tests() -> None:
    assert busbw_factor("reduce", 5) == 1
    assert busbw_factor("all-to-all", 4) == busbw_factor("reduce-scatter", 4) == Fraction(3, 4)
