"""Times of forests at constant rates, by hand."""

from dataclasses import replace
from fractions import Fraction

import pytest

from forestcoll import generate, time_bound
from forestcoll.forest_over_time.repeated_time import repeated_time_us
from forestcoll.schedule.forest import Forest
from forestcoll.schedule.transform.reversal import transposed
from forestcoll.topology import SharedCapacity
from tests.forest_over_time.on_paths import path_of_three
from tests.hand_networks import network_of
from tests.random_topologies import random_topology


def test_the_path_of_three():
    """1 / (T - 2) + 1 / (T - 1) = 1 at T = (5 + sqrt 5) / 2, rounded up to a picosecond."""
    forest = generate(path_of_three()).schedule
    found = repeated_time_us(forest, 3000, Fraction(0))
    assert 0 <= found - Fraction((5 + 5**0.5) / 2) < Fraction(2, 10**6)


def test_trees_of_one_latency_are_exact():
    """Three GPUs behind a switch: two shards of 1000 bytes enter each over 2 GB/s, after 10 us."""
    star = generate(network_of("a b c [v]", "a b c - v: 2"), max_depth=1).schedule
    assert repeated_time_us(star, 3000, Fraction(10)) == 10 + Fraction(2 * 1000, 2000)


def test_a_reduction_takes_as_long_as_the_gathering_reversed():
    network = network_of("a b c [v]", "a - v: 2 1, b c - v: 3 4")
    forest = generate(network).schedule
    assert isinstance(forest, Forest)
    reduction = transposed(forest, network)
    for alpha in (0, 7):
        one, other = (repeated_time_us(f, 5000, Fraction(alpha)) for f in (forest, reduction))
        assert one == other


def test_shared_capacities_count():
    """Both links of 1 GB/s share 1: a and b send 1000 bytes each in 2 us, not 1."""
    shared = SharedCapacity("cable", ((0, 1), (1, 0)), Fraction(1))
    network = replace(network_of("a b", "a - b: 1"), shared=(shared,))
    forest = generate(network).schedule
    assert repeated_time_us(forest, 2000, Fraction(3)) == 5


@pytest.mark.first_rows(6)
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("kind", ["directed", "bidirectional"])
def test_never_below_the_least_time(seed: int, kind: str):
    network = random_topology(seed, kind)
    forest = generate(network).schedule
    for size in (1, 10_000, 10**8):
        bound = time_bound(network, size=size, alpha_us=3).time_us
        assert repeated_time_us(forest, size, Fraction(3)) >= bound
