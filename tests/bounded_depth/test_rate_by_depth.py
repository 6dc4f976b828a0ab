"""What a depth costs: every point proved, none dominated, from the least depth to the optimum."""

import itertools
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forestcoll import Allreduce, Forest, Topology, generate, latency, load_topology, verify
from forestcoll.bounded_depth.rate_by_depth import DepthPoint, rate_by_depth
from forestcoll.errors import UnsupportedError
from tests.bounded_depth.test_hop_distances import by_networkx
from tests.random_topologies import random_topology
from tests.strategies import topologies


def check(points: tuple[DepthPoint, ...], fastest: Forest | Allreduce[Forest]) -> None:
    for point in points:
        verdict = verify(point.schedule)
        assert verdict.algbw_gb_s == point.algbw_gb_s
        assert latency(point.schedule).depth == point.depth
        assert point.at_most_gb_s is None or point.algbw_gb_s <= point.at_most_gb_s
    for low, tall in itertools.pairwise(points):
        assert low.depth < tall.depth
        assert low.algbw_gb_s < tall.algbw_gb_s
    if isinstance(fastest, Forest):
        assert points[-1].algbw_gb_s == fastest.algbw_gb_s
    else:  # forests that are less fast may share the links better
        assert points[-1].algbw_gb_s >= fastest.algbw_gb_s


@settings(max_examples=10, deadline=None)
@given(topologies(), st.sampled_from(["allgather", "broadcast"]))
def test_from_the_eccentricity_to_the_optimum(topology: Topology, collective: str) -> None:
    root = None if collective == "allgather" else topology.num_compute - 1
    points = rate_by_depth(topology, collective=collective, root=root)
    fastest = generate(topology, collective=collective, root=root).schedule
    assert isinstance(fastest, Forest)
    check(points, fastest)
    roots = range(topology.num_compute) if root is None else [root]
    assert points[0].depth == max(by_networkx(topology, one) for one in roots)
    last = points[-1].schedule
    assert isinstance(last, Forest)
    assert verify(last).optimal
    assert points[-1].proved


@pytest.mark.parametrize("collective", ["reduce-scatter", "reduce", "allreduce"])
@pytest.mark.parametrize("seed", [1, 2])
def test_reductions_and_both_phases(seed: int, collective: str) -> None:
    topology = random_topology(seed, "bidirectional")
    root = 0 if collective == "reduce" else None
    options = {"collective": collective, "root": root, "lp_time_limit_s": 0.0}
    check(rate_by_depth(topology, **options), generate(topology, **options).schedule)


def test_weights_and_a_number_of_trees() -> None:
    weights = [2, 1, 1, 1, 3]
    points = rate_by_depth("ring:nodes=5", weights=weights, k=2)
    check(points, generate("ring:nodes=5", weights=weights, k=2).schedule)
    assert {point.k for point in points} == {2}


def test_between_a100_boxes_the_second_hop_brings_nearly_all() -> None:
    """At depth 1 each of 8 GPUs takes 24 shards over its NIC of 25 GB/s, 32 * 25 / 24 at most; at
    depth 2 a box takes 24 over eight.
    """
    direct, optimal = rate_by_depth("dgx_a100:boxes=4")
    assert (direct.depth, direct.algbw_gb_s) == (1, Fraction(32 * 25, 24))
    assert (optimal.depth, optimal.algbw_gb_s) == (2, Fraction(800, 3))
    assert direct.proved
    assert optimal.proved


def test_mi250_boxes_are_nearly_as_fast_at_a_third_of_the_height() -> None:
    """17 hops at the optimum's 83 trees, no more than 7 for nine tenths of its rate."""
    points = rate_by_depth("mi250:boxes=2")
    fast = [point for point in points if point.algbw_gb_s >= points[-1].algbw_gb_s * 9 / 10]
    assert fast[0].depth <= 7
    assert points[0].depth == 1
    assert points[0].proved


def test_a_limit_ends_the_list() -> None:
    points = rate_by_depth("mi250:boxes=2", max_depth=4, k=1)
    assert points[-1].depth <= 4
    within = generate("mi250:boxes=2", max_depth=4, k=1).schedule
    assert within.algbw_gb_s == points[-1].algbw_gb_s


def test_a_single_gpu_has_no_heights() -> None:
    with pytest.raises(UnsupportedError, match="has no depth"):
        rate_by_depth(load_topology("ring:nodes=2").without("gpu1"))
