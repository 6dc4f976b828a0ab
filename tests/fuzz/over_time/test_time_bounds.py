"""No simulated schedule of any method ends before the bound of its size; more in ``make fuzz``."""

import random
from fractions import Fraction

import pytest

from forestcoll.cut_over_time.simulated_bound import SimulatedBound
from tests.fuzz.over_time import time_bounds
from tests.hand_networks import network_of


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 10))]
)
def test_no_simulation_ends_before_the_bound(seed: int) -> None:
    for kind in time_bounds.KINDS:
        outcome = time_bounds.examine(kind, seed, lambda *_: None)
        assert not outcome.failure, f"{outcome.command}: {outcome.failure}"


def test_a_bound_that_is_too_high_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    network = network_of("a b", "a - b: 2 1")
    _, seen = time_bounds.compare(network, random.Random(1))
    assert seen["triples"] > 0
    assert seen["equal"] > 0
    found = SimulatedBound.least_s
    monkeypatch.setattr(SimulatedBound, "least_s", lambda *given: found(*given) * 1.01)
    monkeypatch.setattr(time_bounds, "ROUNDING", 1e-9)
    with pytest.raises(AssertionError, match=r"below|above the model's"):
        time_bounds.compare(network, random.Random(1))


def test_latencies_are_random_and_exact() -> None:
    network = time_bounds.late(network_of("a b [s]", "a b - s: 1"), random.Random(0))
    assert {link.latency_us for link in network.links} <= {Fraction(n) for n in (0, 1, 3, 10)}
