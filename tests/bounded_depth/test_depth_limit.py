"""Schedules within a depth: limits are kept, bounds hold, errors are reported."""

import itertools
import re
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forestcoll import (
    Allreduce,
    Forest,
    Topology,
    best_k,
    generate,
    latency,
    load_topology,
    rate_by_depth,
    verify,
)
from forestcoll.bounded_depth.depth_limit import DepthPoint, least_depth
from forestcoll.errors import (
    CapacityOverflowError,
    InfeasibleError,
    InvalidParameterError,
    UnsupportedError,
)
from forestcoll.problem.options import Options
from forestcoll.problem.request import Request
from forestcoll.schedule import FactoredForest
from tests.bounded_depth.test_hop_distances import by_networkx
from tests.random_topologies import random_topology
from tests.strategies import topologies

BOXES = "dgx_a100:boxes=2"


@settings(max_examples=10, deadline=None)
@given(
    topologies(["bidirectional"]), st.integers(0, 2), st.sampled_from(["allgather", "allreduce"])
)
def test_the_limit_is_kept(topology: Topology, slack: int, collective: str) -> None:
    most = least_depth(Request.of(topology, Options(collective=collective))) + slack
    schedule = generate(
        topology, collective=collective, max_depth=most, lp_time_limit_s=0.0
    ).schedule
    assert latency(schedule).depth <= most
    assert verify(schedule).time_s_per_gb == schedule.time_s_per_gb


def test_an_optimal_forest_within_the_limit_is_kept() -> None:
    within = generate("dgx_a100:boxes=4", max_depth=2).schedule
    assert verify(within).optimal
    assert within == generate("dgx_a100:boxes=4").schedule


@pytest.mark.slow
def test_few_trees_and_factored_forests_keep_it_too() -> None:
    few = generate("mi250:boxes=2", max_depth=6, k=1, factored=True).schedule
    assert isinstance(few, FactoredForest)
    verdict = verify(few)
    assert (verdict.k, verdict.depth <= 6) == (1, True)
    assert all(one.depth <= 6 for one in best_k("mi250:boxes=2", 2, max_depth=6).choices)


def test_a_rooted_allreduce_is_within_both_phases() -> None:
    """Over one GPU of a star of leaves: a hop up to it and one down."""
    options = {"collective": "allreduce", "root": 0}
    least = generate("dgx_a100:boxes=1", max_depth=2, **options).schedule
    assert [phase.collective for phase in least.phases] == ["reduce", "broadcast"]
    assert latency(least).depth == 2


@pytest.mark.slow
def test_an_allreduce_is_no_slower_for_a_higher_limit() -> None:
    """What the core makes for a root is 6 hops tall, and as fast as any pair found within 9."""
    options: Any = {"collective": "allreduce", "root": 0, "lp_time_limit_s": 0.0}
    within = [
        generate(BOXES, max_depth=most, **options).schedule.algbw_gb_s for most in range(4, 10)
    ]
    assert within == [40, 40, *[Fraction(2400, 19)] * 4]
    few = [
        generate(BOXES, max_depth=most, k=1, **options).schedule.algbw_gb_s for most in range(4, 10)
    ]
    assert few == sorted(few)


@settings(max_examples=6, deadline=None)
@given(topologies(["bidirectional"]), st.sampled_from([None, 0]), st.sampled_from([None, 1]))
def test_an_allreduce_within_a_limit_is_the_fastest_found_as_low(
    topology: Topology, root: int | None, k: int | None
) -> None:
    options: Any = {"collective": "allreduce", "root": root, "k": k, "lp_time_limit_s": 0.0}
    points = rate_by_depth(topology, **options)
    for most in range(points[0].depth, points[-1].depth + 2):
        found = generate(topology, max_depth=most, **options).schedule
        assert latency(found).depth <= most
        assert found.algbw_gb_s == max(point.algbw_gb_s for point in points if point.depth <= most)


@pytest.mark.parametrize(
    ("spec", "collective", "most", "least"),
    [("ring:nodes=8", "allgather", 3, 4), ("ring:nodes=8", "allreduce", 7, 8)],
)
def test_below_the_eccentricity_there_is_nothing(
    spec: str, collective: str, most: int, least: int
) -> None:
    text = f"no {collective} has trees of {most} hops .* largest eccentricity of a root is {least}"
    with pytest.raises(InfeasibleError, match=text) as refused:
        generate(spec, collective=collective, max_depth=most)
    assert re.search("give a depth of", str(refused.value))
    assert refused.value.exit_code == 3


@pytest.mark.parametrize("depth", [0, -1, 1.5, True, "2"])
def test_a_height_is_a_whole_number(depth: object) -> None:
    with pytest.raises(InvalidParameterError, match="the greatest depth is"):
        generate("ring:nodes=4", max_depth=depth)  # type: ignore[call-overload]


def test_the_paper_and_multicast_refuse_a_depth() -> None:
    with pytest.raises(UnsupportedError, match="the method forestcoll"):
        generate("ring:nodes=4", max_depth=2, method="paper")
    with pytest.raises(UnsupportedError, match="multicast switches have no depth limit"):
        generate("dgx_h100:boxes=1", max_depth=2, multicast=True)


def test_a_single_gpu_has_nothing_to_limit() -> None:
    network = load_topology("ring:nodes=2").without("gpu1")
    assert generate(network, max_depth=1).schedule.num_trees == 0


def test_numbers_too_large_for_the_search_are_refused() -> None:
    """A chain of a broadcast is 63 hops tall, and 2^30 trees are too many to lower."""
    spec = "fat_tree:leaves=8,hosts=8,spines=4"
    with pytest.raises(CapacityOverflowError, match="take fewer trees"):
        generate(spec, collective="broadcast", root=0, k=2**30, max_depth=1)


@pytest.mark.slow
def test_patience_finds_optimal_trees_of_two_mi250_boxes_within_nine_hops() -> None:
    """Without a limit they are 11 hops tall, and take a hundredth of the time."""
    forest = generate("mi250:boxes=2", max_depth=9).schedule
    assert latency(forest, physical=False).depth == 9
    assert verify(forest).optimal


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


@pytest.mark.slow
def test_mi250_boxes_are_nearly_as_fast_at_a_third_of_the_height() -> None:
    """17 hops at the optimum's 83 trees, no more than 7 for nine tenths of its rate."""
    points = rate_by_depth("mi250:boxes=2")
    fast = [point for point in points if point.algbw_gb_s >= points[-1].algbw_gb_s * 9 / 10]
    assert fast[0].depth <= 7
    assert points[0].depth == 1
    assert points[0].proved


@pytest.mark.slow
def test_a_limit_ends_the_list() -> None:
    points = rate_by_depth("mi250:boxes=2", max_depth=4, k=1)
    assert points[-1].depth <= 4
    within = generate("mi250:boxes=2", max_depth=4, k=1).schedule
    assert within.algbw_gb_s == points[-1].algbw_gb_s


def test_a_single_gpu_has_no_heights() -> None:
    with pytest.raises(UnsupportedError, match="has no depth"):
        rate_by_depth(load_topology("ring:nodes=2").without("gpu1"))
