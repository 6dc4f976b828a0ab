"""What is held against the fastest allreduce: the combination, and the scale of the programs."""

from fractions import Fraction

import pytest

from forestcoll.allreduce.cutting_planes import allreduce_optimum
from forestcoll.allreduce.result import combination_algbw, rate_scale, useful_bandwidth
from forestcoll.solver.linear_program import Settings
from tests.hand_networks import network_of
from tests.lp.networks import RANDOM, line, two_boxes
from tests.random_topologies import random_topology

SETTINGS = Settings(seconds=60)


@pytest.mark.parametrize(("kind", "seed"), RANDOM)
def test_the_scale_is_between_the_best_rate_and_its_double(kind: str, seed: int) -> None:
    """Reduce-scatter and allgather have at least half of the best rate, and at most all of it."""
    topology = random_topology(seed, kind)
    best = allreduce_optimum(topology, SETTINGS).algbw_gb_s
    assert best * (1 - 1e-7) <= rate_scale(topology) <= 2 * best * (1 + 1e-7)


def test_no_phase_is_given_more_of_a_link_than_it_can_use() -> None:
    """Of 4 GPUs no link can use more than 8 times the scale, 2 GB/s; the others keep theirs."""
    topology = two_boxes(2, 2, 1000)
    assert rate_scale(topology) == 2
    assert sorted(set(useful_bandwidth(topology).tolist())) == [0.5, 8.0]


def test_the_combination_takes_the_sum_of_both_times() -> None:
    """A one-way pair, 1 GB/s there and 3 back: half of the data each way in either phase.

    1/2 s over the slow link in the one, and again in the other.
    """
    assert combination_algbw(network_of("a b", "a > b, b > a: 3", "one-sided")) == 1


def test_rates_that_agree_to_a_ten_millionth_attain_the_bound() -> None:
    found = allreduce_optimum(line(2), SETTINGS)
    assert found.is_attained_by(found.bound_gb_s)
    assert found.is_attained_by(Fraction(1) - Fraction(1, 10**8))
    assert not found.is_attained_by(Fraction(1) - Fraction(1, 10**6))
