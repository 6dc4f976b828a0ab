"""Trees of low price within a latency."""

import itertools

import numpy as np
import pytest

from forestcoll.forest_over_time.priced_hops import Hops
from forestcoll.forest_over_time.priced_trees import arrivals, cheaper_tree, fastest_tree
from tests.forest_over_time.on_paths import Parts
from tests.hand_networks import network_of

TWO_BOXES = "a1..3 - v, b1..3 - v, a1..3 - w: 9, b1..3 - x: 9"


def priced(box: float, between: float) -> Hops:
    """Return hops of two boxes of three GPUs, each with a switch, and a switch between all."""
    network = network_of("a1..3 b1..3 [v] [w] [x]", TWO_BOXES)
    parts = Parts.of(network, alpha_us=10)
    prices = np.array([between if 6 in (e.tail, e.head) else box for e in network.links])
    return parts.hops.hops(prices)


def test_the_fastest_tree_goes_direct():
    parent = fastest_tree(priced(1, 10), 0)
    assert parent.tolist() == [-1, 0, 0, 0, 0, 0]


def test_two_hops_enter_the_other_box_once():
    """One dear hop of 20 and four cheap ones of 2, instead of three dear ones."""
    hops = priced(1, 10)
    parent = cheaper_tree(hops, fastest_tree(hops, 0), 20)
    nodes = np.flatnonzero(parent >= 0)
    assert hops.cost[parent[nodes], nodes].sum() == pytest.approx(20 + 4 * 2, rel=1e-6)
    assert arrivals(hops, parent).max() == 20


def test_no_tree_exceeds_its_limit():
    hops = priced(1, 10)
    assert arrivals(hops, cheaper_tree(hops, fastest_tree(hops, 0), 10)).max() == 10


@pytest.mark.parametrize("seed", range(12))
def test_trees_are_trees_and_near_the_cheapest(seed: int):
    """Beside all trees of five GPUs with random prices: within the limit and never cheaper."""
    chance = np.random.default_rng(seed)
    size, limit = 5, 2
    cost = chance.uniform(1, 9, (size, size))
    pairs = ", ".join(f"a{u} - a{v}: 1 1" for u, v in itertools.combinations(range(1, 6), 2))
    network = Parts.of(network_of("a1..5", pairs)).hops
    prices = np.array(
        [cost[ends] for ends in zip(network.links.tail, network.links.head, strict=True)]
    )
    hops = network.hops(prices)
    assert (np.abs(hops.cost - cost) <= 1e-6)[~np.eye(size, dtype=np.bool_)].all()
    found = cheaper_tree(hops, fastest_tree(hops, 0), limit)
    assert arrivals(hops, found).max() <= limit
    best = min(
        sum(cost[up, v] for v, up in enumerate(parents, start=1))
        for parents in itertools.product(range(size), repeat=size - 1)
        if all(up == 0 or (up != v and parents[up - 1] == 0) for v, up in enumerate(parents, 1))
    )
    assert best <= sum(cost[found[v], v] for v in range(1, size)) <= 2 * best
