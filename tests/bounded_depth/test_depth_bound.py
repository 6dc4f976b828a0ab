"""What no trees of a depth exceed: by hand, and never below what was found."""

from fractions import Fraction

import pytest
from hypothesis import given, settings

from forestcoll import Topology, load_topology, optimum
from forestcoll.bounded_depth.depth_bound import depth_bound, most_within
from forestcoll.bounded_depth.depth_bounded_trees import depth_bounded_trees, seeds
from forestcoll.bounded_depth.hop_distances import eccentricities
from forestcoll.errors import InvalidTopologyError
from tests.random_topologies import rounds
from tests.strategies import topologies


def test_the_bound_counts_shards_that_no_neighbour_in_the_box_can_forward() -> None:
    """Height 1: 8 GPUs of a box take 8 shards each over its 8 x 25 GB/s, 8 * 8 / 200; a GPU sends
    8 shards beside its box over one link of 25 and 7 inside over one of 300, 15 / 325; pairs the
    same. At depth 2 one GPU of a box passes on to 7: 8 / 200.
    """
    network = load_topology("dgx_a100:boxes=2")
    assert depth_bound(network, [1] * 16, 1) == Fraction(64, 200)
    assert depth_bound(network, [1] * 16, 2) == Fraction(8, 200)


def test_pairs_that_no_link_joins_meet_at_switches() -> None:
    """GPUs of four MI250 boxes have links to 4 of 63 others; the 59 shards of those beyond
    come over the one of 16 GB/s from the switch, were it at depth 1 - but for GPUs with 3.
    """
    network = load_topology("mi250:boxes=4")
    fewest = min(
        sum(link.head == v and not network.nodes[link.tail].is_switch for link in network.links)
        for v in network.compute
    )
    assert depth_bound(network, [1] * 64, 1) == Fraction(63 - fewest, 16)


@pytest.mark.parametrize(("hops", "most"), [(0, 1), (1, 3), (2, 5), (3, 6), (9, 6)])
def test_a_ball_on_a_ring_grows_by_two(hops: int, most: int) -> None:
    assert most_within(load_topology("ring:nodes=6"), range(6), hops) == most


def test_a_ball_stays_among_the_nodes() -> None:
    """Of three in a row the middle one sees both in a hop, with the first left out one."""
    ring = load_topology("ring:nodes=6")
    assert most_within(ring, [0, 1, 2], 1) == 3
    assert most_within(ring, [1, 2], 5) == 2


@settings(max_examples=rounds(30), deadline=None)
@given(topologies())
def test_no_forest_found_is_faster_than_its_bound(topology: Topology) -> None:
    """For every depth up to the number of GPUs, in both directions."""
    weights = [1] * topology.num_compute
    for network, reduction in ((topology, False), (topology.reversed(), True)):
        least = max(eccentricities(network, range(topology.num_compute)))
        try:
            best = optimum(topology, reduction=reduction)
        except InvalidTopologyError:  # an unbalanced network has allgathers only
            continue
        for depth in range(least, topology.num_compute):
            bound = depth_bound(network, weights, depth)
            made = depth_bounded_trees(
                network, weights, seeds(weights, 2), depth, bound, looks=2**16
            )
            assert made.congestion / 2 >= max(bound, best.inverse_rate)
