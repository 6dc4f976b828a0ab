"""Bounds, and tests of optimality against each other and by hand."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest

from baselines.direct_connect.bfb.alike import Alike
from baselines.direct_connect.bfb.bfb import generate
from baselines.direct_connect.bfb.breadth_first import BroadcastTimes, broadcast_times
from baselines.direct_connect.bfb.broadcast_network import BroadcastNetwork
from baselines.direct_connect.bfb.theory import (
    least_steps,
    least_steps_both_ways,
    least_time,
    why_not_optimal,
)
from forestcoll.errors import InvalidParameterError
from forestcoll.schedule.cost_model import synchronous
from forestcoll.topology import load_topology
from tests.baselines.direct_connect.bfb.networks import hops


def times_of(spec: str) -> BroadcastTimes:
    network = BroadcastNetwork.of(load_topology(spec))
    return broadcast_times(network, Alike.none(network.topology.num_compute))


@pytest.mark.parametrize(
    ("nodes", "directed", "both_ways"),
    [(6, 2, 2), (21, 2, 3), (26, 3, 3), (80, 3, 4), (189, 4, 5), (728, 5, 6)],
)
def test_least_steps_of_table_8(nodes: int, directed: int, both_ways: int) -> None:
    assert (least_steps(nodes, 4), least_steps_both_ways(nodes, 4)) == (directed, both_ways)


def test_sizes_that_cannot_be() -> None:
    with pytest.raises(InvalidParameterError, match="both must be 1 or more"):
        least_steps(0, 4)
    with pytest.raises(InvalidParameterError, match="cannot be connected"):
        least_steps_both_ways(3, 1)


@pytest.mark.parametrize("degree", [2, 4, 8])
def test_generalized_kautz_graphs_are_a_step_from_moore_s_bound(degree: int) -> None:
    """Theorem 21."""
    for nodes in (degree + 1, 3 * degree, 60, 61, 64):
        steps = int(hops(load_topology(f"generalized_kautz:degree={degree},nodes={nodes}")).max())
        assert least_steps(nodes, degree) <= steps <= least_steps(nodes, degree) + 1


@pytest.mark.parametrize(
    ("spec", "optimal"),
    [
        ("torus:dims=3x5", True),
        ("distance_regular:graph=heawood-line-graph", True),
        ("directed_circulant:degree=4", True),
        ("generalized_kautz:degree=4,nodes=64", False),
        ("de_bruijn:degree=2,length=3", False),
        ("circulant:nodes=15,offsets=1+4+5", False),
        ("diamond", False),
    ],
)
def test_theorem_17_agrees_with_the_attained_time(spec: str, optimal: bool) -> None:
    topology = load_topology(spec)
    made = generate(topology)
    attained = synchronous(made).time_s_per_gb * max(topology.egress_gb_s)
    assert (why_not_optimal(times_of(spec)) is None) == optimal
    assert (attained == least_time(topology.num_compute)) == optimal


def test_conjecture_1_fails_at_fifteen_gpus() -> None:
    """Six sources share the four links from 1, 14, 4 and 11; by hand in docs/baselines/bfb.md."""
    why = why_not_optimal(times_of("circulant:nodes=15,offsets=1+4+5"))
    assert why is not None
    assert (why.rank, why.step, why.sources, why.time) == (0, 1, 8, Fraction(3, 2))
    distance = hops(load_topology("circulant:nodes=15,offsets=1+4+5"))
    only = [v for v in range(15) if distance[v, 0] == 2 and distance[v, 5] > 1 < distance[v, 10]]
    assert only == [2, 3, 7, 8, 12, 13]


@pytest.mark.parametrize("spec", ["torus:dims=3x4", "generalized_kautz:degree=2,nodes=7"])
def test_theorem_19_is_hall_s_condition(spec: str) -> None:
    """Brute force: U is the largest share of sources that a set of links must bring alone."""
    topology, times = load_topology(spec), times_of(spec)
    distance = hops(topology)
    for row, u in enumerate(times.rank.tolist()):
        tails = [link.tail for link in topology.links if link.head == u]
        for step in range(distance.max()):
            jobs = [
                {w for w in tails if distance[v, w] == step}
                for v in range(topology.num_compute)
                if distance[v, u] == step + 1
            ]
            worst = max(
                Fraction(sum(job <= set(links) for job in jobs), count)
                for count in range(1, len(tails) + 1)
                for links in combinations(tails, count)
            )
            assert times.at(row, step) == worst


def intersection_numbers(hops: npt.NDArray[np.int64]) -> list[tuple[int, int, int]] | None:
    """Return N_x, a_x and b_x for x = 1, 2, ... if all three are constants (Theorem 18).

    N_x counts the nodes x away from u; a_x those of them that are x - 1 from a neighbour w of u;
    b_x the neighbours of u that are x - 1 from a node v x away. If there are such numbers, on an
    undirected graph, sending 1 / b_x of each shard over each link that leads to it is optimal.

    Parameters
    ----------
    hops : int64 array, N x N
        Of a graph whose links go both ways.
    """
    found = []
    near = hops == 1
    for x in range(1, int(hops.max()) + 1):
        at, before = hops == x, hops == x - 1
        spheres = np.unique(at.sum(axis=1))
        # Pairs of u and w, of u and v: the nodes at x from the one and x - 1 from the other.
        shared = np.unique((at.astype(np.int64) @ before.astype(np.int64))[near])
        leading = np.unique((near.astype(np.int64) @ before.astype(np.int64))[at])
        if max(len(spheres), len(shared), len(leading)) > 1:
            return None
        found.append((int(spheres[0]), int(shared[0]), int(leading[0])))
    return found


def test_intersection_numbers_of_the_octahedron_and_of_none() -> None:
    """Theorem 18. Four neighbours, of which two lie beside each; one opposite, behind all four."""
    octahedron = hops(load_topology("distance_regular:graph=octahedron"))
    assert intersection_numbers(octahedron) == [(4, 1, 1), (1, 1, 4)]
    assert intersection_numbers(hops(load_topology("torus:dims=3x4"))) is None


@pytest.mark.parametrize("graph", ["petersen-line-graph", "odd-4", "pg-2-3"])
def test_theorem_18_gives_the_balance(graph: str) -> None:
    """N_x = d a_x / b_x, and every link carries 1 / b_x of each shard: U = N_x / d."""
    numbers = intersection_numbers(hops(load_topology(f"distance_regular:graph={graph}")))
    assert numbers is not None
    assert all(n * b == 4 * a for n, a, b in numbers)
    times = times_of(f"distance_regular:graph={graph}")
    assert times.longest == tuple(Fraction(n, 4) for n, _, _ in numbers)
    assert np.array_equal(times.rank, np.arange(len(times.rank)))
