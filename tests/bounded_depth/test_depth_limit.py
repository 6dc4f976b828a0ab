"""Schedules within a depth: limits are kept, bounds hold, errors are told."""

import re
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forestcoll import Topology, best_k, generate, latency, load_topology, rate_by_depth, verify
from forestcoll.bounded_depth.depth_limit import least_depth
from forestcoll.errors import (
    CapacityOverflowError,
    InfeasibleError,
    InvalidParameterError,
    UnsupportedError,
)
from forestcoll.problem.options import Options
from forestcoll.problem.request import Request
from forestcoll.schedule import FactoredForest
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


def test_where_the_optimum_is_as_low_it_is_that() -> None:
    within = generate("dgx_a100:boxes=4", max_depth=2).schedule
    assert verify(within).optimal
    assert within == generate("dgx_a100:boxes=4").schedule


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
def test_shallow_allreduce_is_fastest(topology: Topology, root: int | None, k: int | None) -> None:
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
def test_no_tree_is_below_eccentricity(spec: str, collective: str, most: int, least: int) -> None:
    said = f"no {collective} has trees of {most} hops .* eccentricity makes it {least} at least"
    with pytest.raises(InfeasibleError, match=said) as refused:
        generate(spec, collective=collective, max_depth=most)
    assert re.search("give a depth of", str(refused.value))
    assert refused.value.exit_code == 3


@pytest.mark.parametrize("depth", [0, -1, 1.5, True, "2"])
def test_a_height_is_a_whole_number(depth: object) -> None:
    with pytest.raises(InvalidParameterError, match="the greatest depth is"):
        generate("ring:nodes=4", max_depth=depth)  # type: ignore[call-overload]


def test_neither_the_paper_nor_copying_switches_know_heights() -> None:
    with pytest.raises(UnsupportedError, match="the method forestcoll"):
        generate("ring:nodes=4", max_depth=2, method="paper")
    with pytest.raises(UnsupportedError, match="switches copy"):
        generate("dgx_h100:boxes=1", max_depth=2, multicast=True)


def test_a_single_gpu_has_nothing_to_limit() -> None:
    network = load_topology("ring:nodes=2").without("gpu1")
    assert generate(network, max_depth=1).schedule.num_trees == 0


def test_numbers_too_large_for_the_search_are_reported() -> None:
    """A chain of a broadcast is 63 hops tall, and 2^30 trees are too many to lower."""
    spec = "fat_tree:leaves=8,hosts=8,spines=4"
    with pytest.raises(CapacityOverflowError, match="take fewer trees"):
        generate(spec, collective="broadcast", root=0, k=2**30, max_depth=1)


def test_patience_finds_optimal_trees_of_two_mi250_boxes_within_nine_hops() -> None:
    """Without a limit they are 11 hops tall, and take a hundredth of the time."""
    forest = generate("mi250:boxes=2", max_depth=9).schedule
    assert latency(forest, physical=False).depth == 9
    assert verify(forest).optimal
