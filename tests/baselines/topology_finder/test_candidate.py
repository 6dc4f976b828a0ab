"""Which candidates are kept."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from baselines.topology_finder.candidate import Candidate, pareto

RING = Candidate(
    name="BiRing(2,8)",
    spec="bi_ring:degree=2,nodes=8",
    nodes=8,
    degree=2,
    hops=4,
    time=Fraction(7, 8),
    reverse_hops=4,
    reverse_time=Fraction(7, 8),
    bidirectional=True,
    reverse_symmetric=True,
    breadth_first=True,
    factor=True,
    cycle=2,
)


@pytest.mark.parametrize(
    "worse",
    [
        {"hops": 5},
        {"reverse_hops": 5},
        {"time": Fraction(1)},
        {"reverse_time": Fraction(1)},
        {"bidirectional": False},
        {"reverse_symmetric": False},
        {"breadth_first": False},
        {"factor": False},
        {"cycle": 0},
        {"self_loops": True},
    ],
)
def test_every_measure_and_every_property_counts(worse: dict[str, object]) -> None:
    other = replace(RING, **worse)
    assert RING.covers(other)
    assert not other.covers(RING)
    assert pareto([other, RING]) == pareto([RING, other]) == [RING]


def test_the_first_of_equal_candidates_is_kept() -> None:
    same = replace(RING, name="another")
    assert pareto([RING, same]) == [RING]


def test_candidates_that_are_better_and_worse_are_both_kept() -> None:
    lower = replace(RING, hops=3, time=Fraction(1))
    assert pareto([RING, lower]) == [RING, lower]


def test_a_candidate_is_optimal_in_both_directions_or_not() -> None:
    assert RING.optimal
    assert not replace(RING, reverse_time=Fraction(1)).optimal
    assert not replace(RING, time=Fraction(1)).optimal
