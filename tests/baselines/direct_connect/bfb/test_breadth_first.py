"""Exact times, and the pieces that attain them."""

from fractions import Fraction

import numpy as np
import pytest

from baselines.direct_connect.bfb.alike import Alike
from baselines.direct_connect.bfb.breadth_first import broadcast, broadcast_times
from baselines.direct_connect.bfb.broadcast_network import BroadcastNetwork
from forestcoll.errors import CapacityOverflowError
from forestcoll.topology import load_topology
from tests.baselines.direct_connect.bfb.networks import hops, random_network
from tests.hand_networks import network_of


def test_an_even_ring_s_last_step_is_half_as_long() -> None:
    """Of six GPUs: a shard on each link, twice; half a shard of the one opposite."""
    times = broadcast_times(BroadcastNetwork.of(load_topology("ring:nodes=6")), Alike.none(6))
    assert times.longest == (1, 1, Fraction(1, 2))
    assert times.pieces == 2
    assert times.time_s_per_gb == Fraction(5, 12)


@pytest.mark.parametrize("seed", range(20))
def test_the_pieces_of_the_longest_steps_are_enough(seed: int) -> None:
    """Links carry no more than U in the pieces that the longest steps ask for, fewer than all."""
    topology = random_network(seed)
    network = BroadcastNetwork.of(topology)
    times = broadcast_times(network, Alike.none(topology.num_compute))
    sends = broadcast(network, Alike.none(topology.num_compute), times.pieces)
    load: dict[tuple[int, int, int], int] = {}
    amounts = np.ones(len(sends), np.int64) if sends.interval is None else sends.interval.amount
    for step, tail, head, amount in zip(sends.step, sends.tail, sends.head, amounts, strict=True):
        key = (int(step), int(tail), int(head))
        load[key] = load.get(key, 0) + int(amount)
    capacity = {
        (link.tail, link.head): int(c)
        for link, c in zip(topology.links, network.capacity, strict=True)
    }
    busiest = [Fraction(0)] * len(times.longest)
    for (step, tail, head), amount in load.items():
        time = Fraction(amount, times.pieces * capacity[tail, head])
        busiest[step] = max(busiest[step], time)
    assert tuple(busiest) == times.longest
    assert len(busiest) == hops(topology).max()


def test_numbers_beyond_62_bits_are_refused() -> None:
    net = network_of("a b c", f"a > b: {2**61}, b > c, c > a: 3", "wide")
    with pytest.raises(CapacityOverflowError):
        broadcast(BroadcastNetwork.of(net), Alike.none(3), 2**61)
