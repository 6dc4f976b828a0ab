"""Softened routing: over all paths, the cheap ones most, and its price."""

import time

import numpy as np
import pytest

from forestcoll.all_to_all.dial_routing import LateError, route
from forestcoll.all_to_all.flow_problem import FlowProblem, flow_problem
from forestcoll.topology import Topology, load_topology
from tests.hand_networks import network_of
from tests.random_topologies import random_topology


def kept(demands: FlowProblem, load: np.ndarray) -> np.ndarray:
    """What each node gets, less what it sends."""
    found = np.zeros(len(demands.topology.nodes))
    np.add.at(found, demands.head, load)
    np.subtract.at(found, demands.tail, load)
    return found


def diamond() -> Topology:
    """GPU a sends to b over u or over v."""
    return network_of("a b [u] [v]", "a - u v, u v - b", "diamond")


def shares(prices: tuple[float, float], tau: float) -> tuple[float, float]:
    """How much of what a has for b goes over u and over v, at so much more for the way there."""
    topology = diamond()
    demands = flow_problem(topology, [[0, 1], [0, 0]])
    price = np.zeros(len(topology.links))
    place = {(link.tail, link.head): i for i, link in enumerate(topology.links)}
    ways = [place[0, topology.position_of[name]] for name in "uv"]
    price[ways] = prices
    found = route(demands, price + 1, tau)
    assert found is not None
    back = [place[topology.position_of[name], 0] for name in "uv"]
    return tuple((found.load[ways] - found.load[back]).tolist())


def test_equal_ways_have_equal_shares() -> None:
    assert shares((1, 1), 0.5) == pytest.approx((0.5, 0.5))


def test_the_colder_the_more_goes_the_cheaper_way() -> None:
    """exp(-1 / tau) to 1: a little at 1/4, next to nothing at 1/20; hot, nearly half."""
    cold, cool, hot = (shares((0, 1), tau)[1] for tau in (1 / 20, 1 / 4, 9))
    assert cold < 1e-6
    assert 1e-6 < cool < 0.05
    assert 0.4 < hot < 0.5


@pytest.mark.parametrize("seed", range(6))
def test_every_demand_arrives(seed: int) -> None:
    """All in all, at every node: what is sent to it, less what it has to send."""
    topology = random_topology(seed, "directed")
    demands = flow_problem(topology)
    chance = np.random.default_rng(seed)
    found = route(demands, chance.uniform(0.5, 1, len(topology.links)), 0.2)
    assert found is not None
    wanted = demands.amount.sum(axis=0)
    wanted[list(topology.compute)] -= demands.amount.sum(axis=1)
    np.testing.assert_allclose(kept(demands, found.load), wanted, atol=1e-8)


def test_the_price_softens_that_of_the_cheapest_paths() -> None:
    """And comes down to it as it gets cold: on a ring of 4, 1 + 1 + 2 from each of the four."""
    demands = flow_problem(load_topology("ring:nodes=4"))
    values = []
    for tau in (0.5, 0.1, 0.02):
        found = route(demands, np.ones(8), tau)
        assert found is not None
        values.append(found.value)
    assert values[0] > values[1] > values[2] > 16
    assert values[2] == pytest.approx(16, rel=0.05)


def test_loads_are_the_slope_of_the_price() -> None:
    """What the quasi-Newton steps rely on; by differences of 1e-6."""
    demands = flow_problem(random_topology(3, "directed"))
    price = np.random.default_rng(0).uniform(0.5, 1, len(demands.tail))
    here = route(demands, price, 0.3)
    assert here is not None
    for link in range(0, len(price), 3):
        moved = price.copy()
        moved[link] += 1e-6
        there = route(demands, moved, 0.3)
        assert there is not None
        assert (there.value - here.value) / 1e-6 == pytest.approx(here.load[link], rel=1e-3)


def test_paths_too_dear_for_floats_are_reported() -> None:
    """exp(-1000) is 0."""
    demands = flow_problem(load_topology("ring:nodes=3"))
    assert route(demands, np.ones(6), 1e-3) is None
    assert route(demands, np.ones(6), 1e-2) is not None


def test_a_deadline_that_is_past_stops_it() -> None:
    """On a long ring, where the series has many terms."""
    demands = flow_problem(load_topology("ring:nodes=32"))
    with pytest.raises(LateError):
        route(demands, np.zeros(64), 1.0, deadline=time.perf_counter() - 1)
