"""ShiftedRing and ShiftedBFBRing, against the published numbers of steps and times."""

from fractions import Fraction

import numpy as np
import pytest

from baselines.direct_connect.shifted_ring import find_rings, shifted_bfb_ring, shifted_ring
from forestcoll.core.optimality import optimum
from forestcoll.schedule import cost, synchronous, verify
from forestcoll.topology import Topology, load_topology
from tests.baselines.circulants import circulant

TOPOLOGIES = [
    *(load_topology(f"ring:nodes={nodes}") for nodes in (3, 4, 8, 9)),
    *(circulant(*each) for each in [(5, 1, 2), (8, 1, 3), (12, 1, 5), (15, 2, 4)]),
]


@pytest.mark.parametrize("topology", TOPOLOGIES, ids=lambda topology: topology.name)
def test_steps_and_time_are_as_published(topology: Topology) -> None:
    """2 (N - 1) and 2 floor(N / 2) steps for an allreduce (Zhao et al., NSDI 2025, A.2).

    Both are bandwidth-optimal: an allgather takes (N-1)/N M / B, with B = 2 or 4 links of 1 GB/s.
    """
    nodes = topology.num_compute
    degree = len(topology.links) // nodes
    for generate, steps in ((shifted_ring, nodes - 1), (shifted_bfb_ring, nodes // 2)):
        allreduce = verify(generate(topology, "allreduce"))
        assert allreduce.steps == 2 * steps
        assert allreduce.time_s_per_gb == Fraction(2 * (nodes - 1), nodes * degree)
        gather = cost(generate(topology))
        assert gather.time_s_per_gb == 1 / optimum(topology).algbw_gb_s


def test_no_link_is_shared_by_the_rings() -> None:
    """Every link carries the same in all, (N - 1) / N of a quarter of the data."""
    topology = circulant(12, 1, 5)
    for generate in (shifted_ring, shifted_bfb_ring):
        found = cost(generate(topology))
        assert {Fraction(load, found.whole) for load in found.loads} == {Fraction(11, 48)}


def test_the_gpu_opposite_gets_half_from_either_side() -> None:
    """Ring of 6: shard 0 gets to GPU 3 in step 2, half of it from 2 and half from 4."""
    schedule = shifted_bfb_ring(load_topology("ring:nodes=6"))
    sends, chunks = schedule.sends, schedule.chunks
    last = (chunks.root[sends.chunk] == 0) & (sends.head == 3)
    assert sends.step[last].tolist() == [2, 2]
    assert sorted(sends.tail[last].tolist()) == [2, 4]
    assert chunks.size[sends.chunk[last]].tolist() == [1, 1]
    assert chunks.whole == 12


def test_an_odd_ring_needs_no_halves() -> None:
    """Of 7 GPUs nobody is opposite: a shard goes three hops each way, in one piece."""
    schedule = shifted_bfb_ring(load_topology("ring:nodes=7"))
    assert len(schedule.chunks) == schedule.chunks.whole == 7


def test_rings_have_the_strides_of_the_network() -> None:
    """C(8, {1, 3}): round by ones, and round by threes."""
    rings = [ring.tolist() for ring in find_rings(circulant(8, 3, 1))]
    assert rings == [[0, 1, 2, 3, 4, 5, 6, 7], [0, 3, 6, 1, 4, 7, 2, 5]]


@pytest.mark.slow
def test_a_thousand_gpus_take_nearly_the_published_time() -> None:
    """20640 us at N = 1024 with 10 us a step and M/B = 83.886 us (NSDI 2025, table 4).

    2 (N - 1) 10 + 2 (N - 1)/N 83.886 = 20627.6: 0.06 % less.
    """
    schedule = shifted_ring(circulant(1024, 1, 33))
    found = cost(schedule)
    assert synchronous(schedule).steps == 1023
    assert synchronous(schedule).time_s_per_gb == found.time_s_per_gb
    assert found.time_s_per_gb == Fraction(1023, 1024 * 4)
    time_us = 2 * (schedule.num_steps * 10 + float(found.time_s_per_gb) * 4 * 83.886)
    assert time_us == pytest.approx(20640, rel=0.0007)
    assert np.isclose(time_us, 20627.6, atol=0.05)
