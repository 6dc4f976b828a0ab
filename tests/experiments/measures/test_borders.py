"""Borders: bounds by hand, the same as of cuts, and what rings send twice."""

from fractions import Fraction

import pytest

from baselines.registry import METHODS
from experiments.measures.borders import border_bound, box_traffic, boxes, gpus, linked_pairs
from forestcoll import generate, load_topology, optimum
from forestcoll.problem.cuts import Cut
from forestcoll.schedule import cost
from tests.random_topologies import random_topology


@pytest.mark.parametrize(
    ("count", "gpu", "box"),
    [(2, Fraction(16 * 325, 15), Fraction(400)), (4, Fraction(32 * 325, 31), Fraction(800, 3))],
)
def test_the_slides_bounds_of_dgx_a100(count: int, gpu: Fraction, box: Fraction) -> None:
    """N 325 / (N - 1) and 200 n / (n - 1): the box is the narrower one with four."""
    topology = load_topology(f"dgx_a100:boxes={count}")
    assert border_bound(topology, gpus(topology)) == gpu
    assert border_bound(topology, boxes(topology)) == box
    assert border_bound(topology, linked_pairs(topology)) is None
    assert optimum(topology).algbw_gb_s == min(gpu, box)


def test_the_slides_bounds_of_mi250() -> None:
    """A module of two GPUs takes N - 2 shards over 332 GB/s; a single box has no border."""
    topology = load_topology("mi250:boxes=2")
    assert border_bound(topology, linked_pairs(topology)) == Fraction(32 * 332, 30)
    assert border_bound(topology, boxes(topology)) == 512
    assert (
        border_bound(load_topology("mi250:boxes=1"), boxes(load_topology("mi250:boxes=1"))) is None
    )


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("reduction", [False, True])
def test_borders_of_gpus_are_cuts(seed: int, reduction: bool) -> None:
    """The border of a GPU is the cut of all the others, for any weights."""
    topology = random_topology("directed", seed)
    weights = tuple(1 + (seed + rank) % 3 for rank in range(topology.num_compute))
    everything = set(range(len(topology.nodes)))
    cuts = [
        Cut(topology, everything - {gpu}, weights, reduction=reduction).algbw_gb_s
        for gpu in topology.compute
    ]
    found = border_bound(topology, gpus(topology), weights, reduction=reduction)
    assert found == min(cuts)


def test_a_gpu_with_all_data_has_no_border() -> None:
    topology = load_topology("ring:nodes=3")
    assert border_bound(topology, gpus(topology), (1, 0, 0)) == 2
    assert border_bound(topology, boxes(topology)) is None


def test_rings_send_nearly_twice_the_least_traffic_into_two_boxes() -> None:
    """ForestColl figure 2: 15 shards into each box where 8 would do, as single trees send."""
    topology = load_topology("dgx_a100:boxes=2")
    ring, low = cost(METHODS["ring"].run(topology)), cost(generate(topology, k=1).schedule)
    assert box_traffic(topology, ring.loads, ring.whole) == Fraction(15, 8)
    assert box_traffic(topology, low.loads, low.whole) == 1
    alone = load_topology("dgx_a100:boxes=1")
    made = cost(generate(alone).schedule)
    assert box_traffic(alone, made.loads, made.whole) is None
