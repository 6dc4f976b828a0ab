"""Claims of optimality: proved by their cut, or refused."""

import re
from dataclasses import replace
from fractions import Fraction

import pytest

from tests.schedule.made.hand import ring3, star3
from tests.schedule.mutations_of.forests import OPTIMUM_MUTATIONS
from tests.schedule.verification.rejecting import rejected


@pytest.mark.parametrize("name", OPTIMUM_MUTATIONS)
def test_every_false_claim_of_optimality_is_rejected(name: str) -> None:
    mutate, message = OPTIMUM_MUTATIONS[name]
    assert re.search(message, rejected(mutate(star3())))


def test_weaker_bound_than_attained_time_is_not_optimality() -> None:
    """The cut {a} of the ring proves 1/2 s/GB; the forest takes 1: true, but not optimal."""
    correct = ring3()
    assert correct.optimum is not None
    bound = Fraction(1, 2)
    claim = replace(correct.optimum, cut=(0,), inverse_rate=bound, k=2, congestion=2 * bound)
    message = rejected(replace(correct, optimum=claim))
    assert "claimed to be optimal, but its measured congestion is 1" in message


def test_optimum_of_another_network_is_no_claim_about_this_one() -> None:
    correct = ring3()
    message = rejected(replace(correct, optimum=star3().optimum))
    assert message == "the optimum claimed is that of another topology, star3"


def test_k_and_congestion_of_the_optimum_must_agree() -> None:
    correct = ring3()
    assert correct.optimum is not None
    message = rejected(replace(correct, optimum=replace(correct.optimum, congestion=Fraction(2))))
    assert "k = 1 and congestion 2, but k / x* is 1" in message


def test_more_trees_than_needed_are_no_optimal_k() -> None:
    """At 1/x* = 1 a link of 1 GB/s carries a whole number of trees for k = 1 already."""
    correct = ring3()
    assert correct.optimum is not None
    claim = replace(correct.optimum, k=5, congestion=Fraction(5))
    message = rejected(replace(correct, optimum=claim))
    assert message == (
        "the optimum claims k = 5 trees per root; the least that fills every link with whole trees "
        "is 1"
    )


@pytest.mark.parametrize(
    ("cut", "fault"),
    [((0, 99), "names nodes outside 0 to 3"), ((-1,), "outside"), ((), "no link that leaves it")],
)
def test_cut_that_is_no_cut_is_rejected(cut: tuple[int, ...], fault: str) -> None:
    correct = star3()
    assert correct.optimum is not None
    claim = replace(correct.optimum, cut=cut)
    assert fault in rejected(replace(correct, optimum=claim))
