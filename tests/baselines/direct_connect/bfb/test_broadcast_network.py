"""Links and latencies in whole numbers, exactly."""

from fractions import Fraction

import pytest

from baselines.direct_connect.bfb.broadcast_network import BroadcastNetwork
from forestcoll.errors import InvalidParameterError, UnsupportedError
from forestcoll.topology import load_topology
from tests.baselines.direct_connect.bfb.networks import random_network


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("num_bytes", [0, 1, 10**6])
def test_the_time_of_a_shard_follows_from_size_and_latency(seed: int, num_bytes: int) -> None:
    """Per GB: 1 / (N b), and the latency over the size; capacity (T - delay) = size at T."""
    topology = random_network(seed, latencies=True)
    network = BroadcastNetwork.of(topology, num_bytes)
    for i, link in enumerate(topology.links):
        expected = 1 / (link.bandwidth_gb_s * topology.num_compute)
        if num_bytes:
            expected += link.latency_us / 10**6 * Fraction(10**9, num_bytes)
        done = int(network.delay[i]) + Fraction(network.size, int(network.capacity[i]))
        assert done * network.unit_s_per_gb == expected


def test_plain_links_are_counted_in_shards() -> None:
    network = BroadcastNetwork.of(load_topology("ring:nodes=4,bandwidth=25"))
    assert (network.size, set(network.capacity), set(network.delay)) == (1, {25}, {0})


def test_switches_and_negative_sizes_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="unwind the switches first"):
        BroadcastNetwork.of(load_topology("dgx_a100:boxes=1"))
    with pytest.raises(InvalidParameterError, match="-1 bytes; it must be 0 or more"):
        BroadcastNetwork.of(load_topology("ring:nodes=4"), -1)
