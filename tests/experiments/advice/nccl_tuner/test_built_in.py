"""NCCL's algorithms in simulation: times by hand."""

from fractions import Fraction

import pytest

from experiments.advice.nccl_tuner.built_in import boxes_of, built_in
from forestcoll.errors import UnsupportedError
from forestcoll.runtimes.scoring.threadblock_rates import machine_rate
from forestcoll.topology import load_topology

ALL = ("ll", "ll128", "simple")
A100, MI300X = machine_rate("a100"), machine_rate("mi300x")
assert A100
assert MI300X


def by_name(spec: str, collective: str) -> dict[str, object]:
    return {one.name: one for one in built_in(load_topology(spec), collective, A100, ALL)[0]}


def test_a_ring_pays_each_hop_once() -> None:
    """Two boxes of 8: 13 hops inside at 0.6 us and 2 between at 2.7 us, after 6.6 us a call.

    The farthest shard passes both hops between the boxes; NCCL's model counts one.
    """
    found = by_name("dgx_a100:boxes=2", "allgather")
    assert found["ring/ll"].time_s(1) == pytest.approx((6.6 + 13 * 0.6 + 2 * 2.7) * 1e-6, rel=0.02)
    assert found["ring/simple"].time_s(1) == pytest.approx(
        (8.4 + 13 * 3.4 + 2 * 14) * 1e-6, rel=0.02
    )


def test_large_data_take_the_rate_of_the_protocol() -> None:
    """One box of 8 A100: 300 GB/s a GPU, of which 7/8 of 1 GB pass; LL has half of it."""
    found = by_name("dgx_a100:boxes=1", "allgather")
    simple, low = (found[name].time_s(2**32) for name in ("ring/simple", "ring/ll"))
    assert simple == pytest.approx(2**32 * 7 / 8 / 300e9, rel=0.02)
    assert low == pytest.approx(2 * simple, rel=0.02)
    assert found["ring/ll"].at_least_s(2**32) <= low


def test_channels_carry_what_the_busiest_gpu_sends() -> None:
    """7/8 of the data at 262.5 GB/s is 13.1 channels of 20 GB/s; LL has 10 GB/s a channel."""
    found = by_name("dgx_a100:boxes=1", "allgather")
    assert found["ring/simple"].busiest == Fraction(7, 8)
    assert found["ring/simple"].channels(3 * 10**9, 0.01) == 14
    assert found["ring/ll"].channels(3 * 10**9, 0.01) == 27
    assert found["ring/ll"].channels(3 * 10**9, 0.001) == 32
    assert found["ring/ll"].channels(1, 1) == 1


def test_what_is_left_out_says_why() -> None:
    topology = load_topology("dgx_a100:boxes=1")
    found, notes = built_in(topology, "allreduce", A100, ("simple",))
    assert [one.name for one in found] == ["tree/simple", "ring/simple"]
    assert notes[0] == "nvls: not with these protocols, boxes or machine"
    assert notes[-1].startswith("collnet_chain: unsupported:")
    with pytest.raises(UnsupportedError, match=r"NCCL's tuner chooses for broadcast, .*all-to-all"):
        built_in(topology, "all-to-all", A100, ALL)
    with pytest.raises(UnsupportedError, match=r"costs are those of v100, .*, not of mi300x"):
        built_in(topology, "allreduce", MI300X, ALL)


def test_boxes_are_those_with_gpus() -> None:
    assert boxes_of(load_topology("dgx_a100:boxes=3")) == 3
    assert boxes_of(load_topology("ring:nodes=4")) is None
