"""Cuts that trees cannot leave: found exactly when there is one, by every way to cut."""

import random

import numpy as np
import pytest

from forestcoll.core.problem import Problem
from forestcoll.core.violation import violated_cut, violated_cut_between, violated_cut_over
from forestcoll.topology import Topology, load_topology
from tests.hand_networks import network_of
from tests.random_topologies import KINDS, random_topology
from tests.reference.cuts import violated_set


def one_way_ring(capacity: int) -> Problem:
    """GPUs 0 -> 1 -> 2 -> 0, one tree from each."""
    ring = load_topology("ring:nodes=3,bidirectional=false")
    return Problem(ring, np.full(3, capacity), np.ones(3, dtype=np.int64))


def test_two_trees_enter_every_gpu_of_a_ring_over_one_link() -> None:
    """With room for two there is no fault; with room for one, {1, 2} lacks one into GPU 0."""
    assert violated_cut(one_way_ring(2)) is None
    found = violated_cut(one_way_ring(1))
    assert found is not None
    assert (found.passed, found.inside.tolist(), found.shortage) == (0, [False, True, True], 1)


def test_gpus_that_are_known_to_be_reached_are_not_tested() -> None:
    """GPU 0 is taken as passed, and then {0, 2} lacks a tree into GPU 1; with all passed, none."""
    found = violated_cut(one_way_ring(1), passed=1)
    assert found is not None
    assert (found.passed, found.inside.tolist(), found.shortage) == (1, [True, False, True], 1)
    assert violated_cut(one_way_ring(1), passed=3) is None


def test_links_that_no_topology_has() -> None:
    """Two links 0 -> 1 of 2 and 1 carry 3 trees of GPU 0, but not 4: then {0} lacks one."""
    tail, head = np.zeros(2, dtype=np.int32), np.ones(2, dtype=np.int32)
    capacity, target = np.array([2, 1]), np.array([0, 1], dtype=np.uint8)
    passed, cut = violated_cut_over(tail, head, capacity, np.array([3, 0]), target)
    assert (passed, cut.tolist()) == (1, [])
    passed, cut = violated_cut_over(tail, head, capacity, np.array([4, 0]), target)
    assert (passed, cut.tolist()) == (0, [1, 0])


def drawn(seed: int, kind: str) -> tuple[Topology, np.ndarray, np.ndarray]:
    """A random network, with random room for trees on its links, and few trees."""
    topology, chance = random_topology(seed, kind), random.Random(seed)
    capacity = np.array([chance.randint(0, 4) for _ in topology.links], dtype=np.int64)
    trees = np.array([chance.randint(0, 1) for _ in topology.compute], dtype=np.int64)
    return topology, capacity, trees


@pytest.mark.parametrize("kind", KINDS)
def test_a_cut_is_found_exactly_when_there_is_one(kind: str) -> None:
    """40 networks, against all cuts; what is found lacks what it says, and misses the next GPU."""
    faults = 0
    for seed in range(40):
        topology, capacity, trees = drawn(seed, kind)
        found = violated_cut(Problem(topology, capacity, trees))
        links = dict(zip(topology.link_between, capacity.tolist(), strict=True))
        roots = dict(zip(topology.compute, trees.tolist(), strict=True))
        assert (found is None) == (violated_set(links, roots) is None)
        if found is None:
            continue
        faults += 1
        inside = set(np.flatnonzero(found.inside).tolist())
        leaving = sum(
            n for (tail, head), n in links.items() if tail in inside and head not in inside
        )
        assert found.shortage == sum(n for gpu, n in roots.items() if gpu in inside) - leaving > 0
        assert topology.compute[found.passed] not in inside
        again = violated_cut(Problem(topology, capacity, trees), threads=3)
        assert again is not None
        assert again.inside.tolist() == found.inside.tolist()
    assert 0 < faults < 40


def test_switches_may_be_roots_and_targets() -> None:
    """Two trees from the switch to a, which takes one only; b, which wants none, is not asked."""
    net = network_of("[w] a b", "w > a, a > b", "fan")
    one, trees = np.ones(2, dtype=np.int64), np.array([2, 0, 0])
    found = violated_cut_between(net, one, trees, np.array([0, 1, 0], dtype=np.uint8))
    assert found is not None
    assert (found.inside.tolist(), found.shortage) == ([True, False, False], 1)
    assert violated_cut_between(net, one, trees // 2, np.array([0, 1, 1], dtype=np.uint8)) is None
