"""Hops over switches by prices, and their latencies."""

import numpy as np

from tests.forest_over_time.on_paths import Parts, path_of_three
from tests.hand_networks import network_of


def test_hops_end_at_the_first_gpu():
    """A and c of the path have no hop: b is between them."""
    hops = Parts.of(path_of_three()).hops.hops()
    assert np.isinf(hops.cost[0, 2])
    assert hops.latency[0, 1] == 1
    assert hops.path(0, 1) == (0, 1)


def test_the_fastest_hop_without_prices_and_the_cheapest_with_them():
    """From a to b over the switch v in 2 us, over w in 6 us."""
    network = network_of("a b [v] [w]", "a b - v: 1 1, a b - w: 1 3")
    parts = Parts.of(network)
    assert parts.hops.hops().path(0, 1) == (0, 2, 1)
    assert parts.hops.hops().latency[0, 1] == 2
    prices = np.array([float(2 in (e.tail, e.head)) for e in network.links])
    dear = parts.hops.hops(prices)
    assert dear.path(0, 1) == (0, 3, 1)
    assert dear.latency[0, 1] == 6
    assert dear.cost[0, 1] < 1e-6


def test_alpha_is_paid_by_the_gpu_that_sends():
    parts = Parts.of(network_of("a b [v]", "a b - v: 1 1"), alpha_us=10)
    assert parts.hops.hops().latency[0, 1] == 12
    assert parts.hops.latency_of((0, 2, 1)) == 12
