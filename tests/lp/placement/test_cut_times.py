"""Bounds on placements from cuts of GPUs."""

import random

import numpy as np
import pytest

from forestcoll.topology import load_topology
from lp.placement.checked_times import CheckedTimes
from lp.placement.cut_times import CutTimes, gpu_sets
from lp.placement.parallel_kinds import COLLECTIVES, Kind
from tests.baselines.once_each import in_turn

PAIR = "dgx_a100:boxes=2"


def times(spec: str, kinds: list[Kind], order: list[int]) -> list[float]:
    return CutTimes(load_topology(spec), kinds).times_us(np.array(order))


def test_a_group_in_a_box_is_bound_by_its_gpus() -> None:
    """7 of 8 kB enter a GPU over 300 + 25 GB/s."""
    kinds = [Kind("t", 8, "allgather", 8_000_000)]
    assert times(PAIR, kinds, list(range(16))) == pytest.approx([7000 / 325])


def test_pairs_across_boxes_are_bound_by_the_box() -> None:
    """Each of 8 pairs sends 4 of 8 MB out of a box, which has 200 GB/s."""
    kinds = [Kind("t", 2, "all-to-all", 8_000_000)]
    across = [gpu for pair in zip(range(8), range(8, 16), strict=True) for gpu in pair]
    assert times(PAIR, kinds, across) == pytest.approx([8 * 4000 / 200])


def test_an_allreduce_is_a_reduce_scatter_and_an_allgather() -> None:
    kinds = [Kind(name, 4, name, 8_000_000) for name in COLLECTIVES[:3]]
    order = random.Random(1).sample(range(16), 16)
    for kind in kinds:
        assert times(PAIR, [kind], order)[0] > 0
    one, two, both = (times(PAIR, [kind], order)[0] for kind in kinds)
    assert both == pytest.approx(one + two)


def test_hops_bound_an_all_to_all_on_a_ring() -> None:
    """Opposite GPUs of a ring of 4: 4 pairs, 2 hops, 8 links of 1 GB/s; a cut allows half of it."""
    ring = load_topology("ring:nodes=4")
    bandwidth = float(ring.links[0].bandwidth_gb_s)
    found = times("ring:nodes=4", [Kind("e", 2, "all-to-all", 2000)], [0, 2, 1, 3])
    assert found == pytest.approx([4 * 2 / (8 * bandwidth)])


def test_sets_of_a_large_network_have_its_boxes_and_rails() -> None:
    sets = {frozenset(np.flatnonzero(row)) for row in gpu_sets(load_topology(RAILS))}
    assert frozenset(range(4)) in sets  # a box
    assert frozenset(range(0, 16, 4)) in sets  # a rail
    assert {frozenset([gpu]) for gpu in range(16)} <= sets


def test_sets_of_a_ring_reach_four_hops() -> None:
    """Of 12 GPUs those within 1, 2, 3 and 4 hops of each: 3, 5, 7 and 9 in a row."""
    sizes = gpu_sets(load_topology("ring:nodes=12")).sum(axis=1).tolist()
    assert sorted(set(sizes)) == [1, 3, 5, 7, 9]


def test_no_set_is_empty_or_whole() -> None:
    """Within a hop of a spine there are leaves only; within two, all hosts."""
    sets = gpu_sets(load_topology("fat_tree:leaves=3,hosts=3,spines=1"))
    assert sets.any(axis=1).all()
    assert not sets.all(axis=1).any()


RAILS = "rail_optimized:boxes=4,gpus_per_box=4"


@pytest.mark.first_rows(5)
@pytest.mark.parametrize(
    ("spec", "collective"), in_turn(["ring:nodes=6", "torus:dims=2x4", RAILS, PAIR], COLLECTIVES)
)
def test_no_verified_schedule_is_faster_than_the_bound(spec: str, collective: str) -> None:
    topology = load_topology(spec)
    kind = Kind("k", 2, collective, 2000)
    bounds = CutTimes(topology, [kind])
    checked = CheckedTimes(topology, 60)
    rng = random.Random(spec)
    for _ in range(3):
        order = np.array(rng.sample(range(topology.num_compute), topology.num_compute))
        found = checked.of(kind, order[bounds.groups[0]])
        assert bounds.times_us(order)[0] <= float(found.time_us) * (1 + 1e-9)
        assert found.bound_us <= float(found.time_us) * (1 + 1e-6)
