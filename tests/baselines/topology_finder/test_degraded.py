"""One dead link: the worst of all, and what it costs any schedule."""

from __future__ import annotations

from fractions import Fraction

import pytest

from baselines.direct_connect.bfb.alike import Alike
from baselines.direct_connect.bfb.breadth_first import broadcast_times
from baselines.direct_connect.bfb.broadcast_network import BroadcastNetwork
from baselines.topology_finder.degraded import least_time, worst_failure
from forestcoll.errors import TimeLimitError
from forestcoll.topology import load_topology


@pytest.mark.parametrize(
    ("spec", "degree"),
    [
        ("torus:dims=3x3", 4),
        ("generalized_kautz:degree=3,nodes=10", 3),
        ("diamond", 2),
        ("generalized_kautz:degree=2,nodes=9", 2),  # the first link is the worst
        ("random_regular:nodes=12,degree=3,seed=1", 3),  # one in the middle is
    ],
)
def test_the_worst_is_that_of_all_links_one_by_one(spec: str, degree: int) -> None:
    topology = load_topology(spec)
    hops, time, optimal = 0, Fraction(0), Fraction(0)
    slowest: dict[Fraction, set[str]] = {}
    for link in topology.links:
        name = " -> ".join(topology.nodes[node].name for node in (link.tail, link.head))
        damaged = topology.without(name)
        times = broadcast_times(BroadcastNetwork.of(damaged), Alike.none(topology.num_compute))
        hops = max(hops, len(times.longest))
        time = max(time, times.time_s_per_gb * degree)
        slowest.setdefault(times.time_s_per_gb * degree, set()).add(name)
        optimal = max(optimal, least_time(damaged, degree))
    worst = worst_failure(topology, degree)
    assert (worst.hops, worst.time, worst.optimal_time) == (hops, time, optimal)
    assert worst.connected
    assert worst.link in slowest[time]
    assert worst.links == len(topology.links)


def test_links_that_a_symmetry_exchanges_are_tried_once() -> None:
    worst = worst_failure(load_topology("torus:dims=4x4"), 4)
    assert worst.tried < worst.links == 64


def test_a_ring_of_one_direction_falls_apart() -> None:
    worst = worst_failure(load_topology("uni_ring:degree=1,nodes=4"), 1)
    assert not worst.connected
    assert worst.hops is worst.time is worst.optimal_time is None


def test_the_least_time_of_an_optimal_network_is_the_bound() -> None:
    assert least_time(load_topology("torus:dims=4x4"), 4) == Fraction(15, 16)


def test_a_time_limit_holds() -> None:
    with pytest.raises(TimeLimitError, match="kinds of links were tried in 1e-09 s"):
        worst_failure(load_topology("generalized_kautz:degree=3,nodes=40"), 3, seconds=1e-9)
