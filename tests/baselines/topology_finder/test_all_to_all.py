"""Bounds on all-to-all rates, against linear programs and published rates."""

from __future__ import annotations

from fractions import Fraction

import pytest

from baselines.topology_finder.all_to_all import all_to_all_rate
from forestcoll.all_to_all.linear_optimum import all_to_all_rate as by_a_program
from forestcoll.errors import DisconnectedError, UnsupportedError
from forestcoll.solver.linear_program import Settings
from forestcoll.topology import load_topology
from tests.hand_networks import network_of


@pytest.mark.parametrize(
    "spec",
    [
        "ring:nodes=5",
        "hypercube:dimension=4",
        "torus:dims=4x3",
        "complete_bipartite:degree=3",
        "circulant:nodes=11,offsets=2+3",
        "line_graph:of=(complete_bipartite:degree=2)",
        "generalized_kautz:degree=2,nodes=7",
        "cartesian_product:of=(diamond)(ring:nodes=3)",
        "bi_ring:degree=4,nodes=5",
        "random_regular:nodes=12,degree=3,seed=5",
    ],
)
def test_the_optimum_lies_between_the_bounds(spec: str) -> None:
    topology = load_topology(spec)
    found = all_to_all_rate(topology)
    unit = min(link.bandwidth_gb_s for link in topology.links)
    best = by_a_program(topology, settings=Settings(seconds=60)).rate_gb_s / float(unit)
    assert found.attained <= best * (1 + 1e-6)
    assert best <= float(found.bound) * (1 + 1e-6)


@pytest.mark.parametrize(
    ("spec", "rate"),
    [
        ("hypercube:dimension=4", Fraction(1, 8)),
        ("torus:dims=4x4", Fraction(1, 8)),
        ("ring:nodes=7", Fraction(1, 6)),
        ("complete:nodes=6", Fraction(1)),
    ],
)
def test_both_bounds_meet_on_edge_transitive_networks(spec: str, rate: Fraction) -> None:
    found = all_to_all_rate(load_topology(spec))
    assert found.bound == rate
    assert found.attained == pytest.approx(float(rate), rel=1e-12)


def test_the_mean_distance_is_exact() -> None:
    assert all_to_all_rate(load_topology("ring:nodes=4")).mean_hops == Fraction(4, 3)


def test_a_link_of_twice_the_bandwidth_counts_twice() -> None:
    """Per link of the narrowest width, as parallel links."""
    one, two = (all_to_all_rate(load_topology(f"bi_ring:degree={d},nodes=6")) for d in (2, 4))
    assert (two.bound, two.attained) == (one.bound, one.attained)
    found = all_to_all_rate(
        network_of("gpu0..2", "gpu0 > gpu1: 2, gpu1 > gpu2: 2, gpu2 > gpu0", "unequal")
    )
    assert found.bound == Fraction(5, 9)  # five links, and nine hops for the six pairs
    assert found.attained == pytest.approx(1 / 3)  # the narrow one carries three pairs


def test_switches_and_unreachable_gpus_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="has switches"):
        all_to_all_rate(load_topology("dgx_a100:boxes=1"))
    with pytest.raises(DisconnectedError, match="cannot reach"):
        all_to_all_rate(network_of("first second", "first > second", "one way"))


def test_a_given_unit_makes_wide_links_parallel_ones() -> None:
    """Two links to each neighbour carry twice as much as one."""
    single, double = (load_topology(f"bi_ring:degree={d},nodes=6") for d in (2, 4))
    one, two = (all_to_all_rate(each, Fraction(1)) for each in (single, double))
    assert (two.bound, two.attained) == (2 * one.bound, 2 * one.attained)
