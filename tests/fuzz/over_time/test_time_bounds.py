"""No simulated schedule of any method ends before the bound of its size; more in ``make fuzz``."""

import random
from fractions import Fraction

import pytest

from forestcoll import load_topology
from forestcoll import time_bounds as least
from forestcoll.cut_over_time.simulated_bound import SimulatedBound
from forestcoll.schedule.simulate import AlphaBeta
from tests.fuzz.over_time import time_bounds
from tests.fuzz.over_time.time_bounds import ROUNDING
from tests.hand_networks import network_of


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 10))]
)
def test_no_simulation_ends_before_the_bound(seed: int) -> None:
    for kind in time_bounds.KINDS:
        outcome = time_bounds.examine(kind, seed, lambda *_: None)
        assert not outcome.failure, f"{outcome.command}: {outcome.failure}"


@pytest.mark.parametrize(
    "spec",
    [
        "dgx_h100:boxes=1",
        pytest.param("fat_tree:leaves=1,hosts=4,spines=1,multicast=true", marks=pytest.mark.slow),
        pytest.param("dgx_h100:boxes=2,sharp=true", marks=pytest.mark.slow),
    ],
)
def test_no_method_reduces_and_multicasts_in_one_pass(spec: str) -> None:
    """So none ends before the bound of passes, which is above that of any allreduce somewhere."""
    network, sizes = load_topology(spec), [2**power for power in range(12, 30, 3)]
    bounds, any_allreduce = (
        [one.time_us for one in least(network, "allreduce", sizes, one_pass=flag)]
        for flag in (False, True)
    )
    assert any(one > other for one, other in zip(bounds, any_allreduce, strict=True))
    model = AlphaBeta(alpha_us=10, window="unlimited")
    tried = dict(time_bounds.schedules(network, "allreduce", {}))
    assert {"generate_multicast", "nccl-nvls", "one-shot"} <= tried.keys()
    for name, simulator in tried.items():
        for size, bound in zip(sizes, bounds, strict=True):
            for chunks in (1, 4, 16):
                found = simulator.run(size, model, chunks)
                assert found.time_s * 1e6 >= float(bound) * (1 - ROUNDING), (name, size, chunks)


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
