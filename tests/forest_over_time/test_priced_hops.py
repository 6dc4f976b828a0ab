"""Hops over switches by prices, and their latencies."""

import numpy as np

from forestcoll.forest_over_time.priced_hops import HopNetwork
from forestcoll.problem.over_time.timed_links import TimedLinks
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


def test_links_that_data_pass_at_two_times_after_a_start():
    """The link from v to b is 1 us behind the start from a, and 5 us from c."""
    network = network_of("a b c [v]", "a - v: 1 1, b - v: 1 1, c - v: 1 5")
    links = TimedLinks.of(network, 0, reduction=False)  # type: ignore[arg-type]
    hops = HopNetwork(links, network.compute)
    assert hops.has_one_offset([(0, 3, 1), (0, 3, 2)])
    assert not hops.has_one_offset([(0, 3, 1), (2, 3, 1)])
