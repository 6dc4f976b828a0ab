"""Bounds over all placements: never above the best of all, and met where cuts decide."""

from itertools import combinations_with_replacement, permutations

import numpy as np
import pytest

from forestcoll.topology import load_topology
from lp.placement.cut_times import CutTimes
from lp.placement.parallel_kinds import Kind
from lp.placement.placement_bound import (
    _least_exchanged,
    _times_by_touched,
    placement_bound_us,
)
from lp.placement.placement_search import best_placement
from tests.lp.placement.test_placement_search import random_network, two_boxes

COLLECTIVES = ("allgather", "reduce-scatter", "allreduce", "all-to-all")


@pytest.mark.first_rows(2)
@pytest.mark.parametrize("seed", range(6))
def test_no_placement_is_below_the_bound(seed: int) -> None:
    """All 720 orders of six GPUs, for one kind and two, by their sum and the slowest."""
    bounds_of = random_network(seed)
    one, other = (COLLECTIVES[(seed + i) % 4] for i in (0, 1))
    for kinds in (
        [Kind("a", 3, one, 10**6)],
        [Kind("a", 2, one, 10**6), Kind("b", 3, other, 10**6)],
    ):
        bounds = CutTimes(bounds_of, kinds)
        for objective, together in (("sum", sum), ("slowest", max)):
            best = min(
                together(bounds.times_us(np.array(order))) for order in permutations(range(6))
            )
            found = placement_bound_us(bounds, objective)
            assert 0 < found <= best * (1 + 1e-9)


def test_by_hand_two_kinds_cannot_both_stay_in_a_box() -> None:
    """Groups of 4 fill boxes of 4, so all pairs of the other kind cross: 4 half MB by 4 GB/s.

    Pairs within boxes are 4 GPUs of two groups of 4 each: those cross twice as much.
    """
    large, small = Kind("l", 4, "allgather", 64 * 10**6), Kind("s", 2, "allgather", 10**6)
    bounds = CutTimes(two_boxes(), [large, small])
    inside = CutTimes(two_boxes(), [large]).times_us(np.arange(8))[0]
    found = placement_bound_us(bounds, "sum")
    assert found == pytest.approx(inside + 4 * 0.5 * 10**6 / 4 / 1000)
    assert found == pytest.approx(sum(bounds.times_us(np.arange(8)[[0, 1, 2, 3, 4, 5, 6, 7]])))


def test_a_large_cluster_has_a_placement_that_is_proved_best() -> None:
    """Sixteen GPUs: tensor groups in the boxes, where pairs have the least to send across."""
    data, tensor = Kind("d", 2, "allgather", 8 * 10**6), Kind("t", 8, "allreduce", 64 * 10**6)
    found = best_placement(load_topology("dgx_a100:boxes=2"), [data, tensor])
    assert not found.exhaustive
    assert found.is_best
    assert found.distance == pytest.approx(0, abs=1e-9)


def test_the_distance_is_reported_if_the_bound_is_not_met() -> None:
    kind = Kind("k", 4, "allgather", 10**6)
    found = best_placement(load_topology("torus:dims=4x4"), [kind])
    assert found.least_us <= float(found.best.time_us("sum"))
    assert found.is_best == (found.distance <= 1e-9)


@pytest.mark.parametrize("size", range(2, 7))
def test_the_fewest_parts_that_leave_against_all_choices(size: int) -> None:
    """A split group with i GPUs inside sends i (size - i) parts out; all choices are compared."""
    for split in range(4):
        choices = list(combinations_with_replacement(range(1, size), split))
        for left in {sum(choice) for choice in choices}:
            least = min(
                sum(inside * (size - inside) for inside in choice)
                for choice in choices
                if sum(choice) == left
            )
            assert _least_exchanged(size, left, split) == least


def test_no_more_groups_are_touched_than_there_are() -> None:
    """Of 8 GPUs in groups of 4, three inside a set may be of one group or of both."""
    found = _times_by_touched(Kind("k", 4, "allgather", 4000), 3, 8, 1.0, 1.0)
    assert sorted(found) == [1, 2]
