"""Logical links in the place of switches, and forests carried back over what they are made of."""

from fractions import Fraction

import numpy as np
import pytest

from baselines.networks.switch_free import Share, Unwound
from baselines.networks.switch_paths import build_forest
from forestcoll.schedule import Forest, Path, cost, verify
from forestcoll.schedule.forest import Routes
from forestcoll.topology import Topology
from tests.hand_networks import network_of

A, B, U, V = range(4)


def two_ways(wide: int = 3, narrow: int = 1) -> Topology:
    """GPUs a and b over switch u (with 2 us a link), and over v (with 5)."""
    return network_of("a b [u] [v]", f"a b - u: {wide} 2, a b - v: {narrow} 5", "two ways")


def unwound(net: Topology) -> Unwound:
    wide, narrow = (net.link_between[A, switch].bandwidth_gb_s for switch in (U, V))
    paths = {
        (tail, head): (Share((tail, U, head), wide), Share((tail, V, head), narrow))
        for tail, head in ((A, B), (B, A))
    }
    return Unwound.from_paths("joined", net, paths)


def swap(topology: Topology, trees: int = 1) -> Forest:
    """Both GPUs send to each other over their link."""
    return build_forest(
        topology,
        "by hand",
        root=np.array([0, 1], dtype=np.int32),
        multiplicity=np.array([trees, trees]),
        parent=np.array([[-1, 0], [1, -1]], dtype=np.int32),
        paths=Routes.from_paths({(a, b): [Path((a, b), trees)] for a, b in ((0, 1), (1, 0))}),
    )


def test_a_logical_link_is_as_wide_as_its_paths_and_as_late_as_the_slowest() -> None:
    """3 + 1 GB/s; 2 + 2 us over u and 5 + 5 over v."""
    logical = unwound(two_ways()).topology
    assert [node.name for node in logical.nodes] == ["a", "b"]
    assert [(link.tail, link.head) for link in logical.links] == [(0, 1), (1, 0)]
    assert {link.bandwidth_gb_s for link in logical.links} == {4}
    assert {link.latency_us for link in logical.links} == {10}


def test_trees_are_shared_out_by_bandwidth() -> None:
    """Three quarters go over u and one over v: four trees for each, and the time is the same."""
    net = two_ways()
    logical = unwound(net)
    forest = swap(logical.topology)
    carried = logical.carry(forest, net, "carried")
    assert carried.routes.paths()[0, 1] == (Path((A, U, B), 3), Path((A, V, B), 1))
    assert (carried.k, carried.multiplicity.tolist()) == (4, [4, 4])
    assert (carried.method, carried.topology) == ("carried", net)
    assert verify(carried).collective == "allgather"
    assert cost(carried).time_s_per_gb == cost(forest).time_s_per_gb == Fraction(1, 2) / 4


def test_trees_that_can_be_shared_out_are_not_multiplied() -> None:
    net = two_ways()
    logical = unwound(net)
    carried = logical.carry(swap(logical.topology, trees=8), net, "carried")
    assert carried.multiplicity.tolist() == [8, 8]
    assert carried.routes.paths()[0, 1] == (Path((A, U, B), 6), Path((A, V, B), 2))


def test_shares_are_rounded_if_exact_ones_need_too_many_trees() -> None:
    """By 2^89 - 1 : 2 no whole trees below 2^40 divide: the carried forest is still a right one."""
    net = two_ways(wide=2**89 - 1, narrow=2**80)
    logical = unwound(net)
    carried = logical.carry(swap(logical.topology), net, "carried")
    wide, narrow = (path.multiplicity for path in carried.routes.paths()[0, 1])
    assert wide + narrow == carried.k <= 2**40
    assert narrow == pytest.approx(carried.k / 513, rel=1e-6)
    verify(carried)
