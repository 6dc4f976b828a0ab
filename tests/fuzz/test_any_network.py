"""40 networks damaged one way, or with shared capacities; 200 in ``make test-all``."""

import random
from fractions import Fraction

import pytest

from forestcoll.core.any_network import optimum as any_optimum
from forestcoll.topology.validation import uses_all_bandwidth
from tests.fuzz import any_network
from tests.random_topologies import seeds

BLOCKS, SOON, SEEDS = 10, 2, 20
"""Networks of all kinds in turn, in so many blocks, of which some are left to test-all."""


@pytest.mark.first_rows(1)
@pytest.mark.parametrize("block", seeds(BLOCKS, SOON))
def test_claims_about_any_network_are_true(block: int) -> None:
    """Optimum, schedule, fixed k, certificate; less bandwidth is never faster."""
    kinds = list(any_network.KINDS)
    for number in range(block * SEEDS, (block + 1) * SEEDS):
        kind, seed = kinds[number % len(kinds)], number // len(kinds)
        outcome = any_network.examine(kind, seed, lambda *_: None)
        assert not outcome.failure, f"{outcome.command}: {outcome.failure}"


def test_most_of_them_need_the_program() -> None:
    """Of 30 of each kind more than half, and of those with shared capacities all."""
    for kind, build in any_network.KINDS.items():
        networks = [build(random.Random(f"any network, {kind} {seed}")) for seed in range(30)]
        needing = sum(not uses_all_bandwidth(one, reduction=False) for one in networks)
        assert needing > (29 if kind == "shared" else 15), kind


def test_a_false_optimum_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is 1 % too fast, with prices that prove less."""
    from dataclasses import replace

    def faster(*arguments: object) -> object:
        best = true(*arguments)
        return replace(best, inverse_rate=best.inverse_rate * Fraction(99, 100))

    true = any_optimum.optimum_by_program
    monkeypatch.setattr(any_optimum, "optimum_by_program", faster)
    failures = [any_network.examine("shared", seed, lambda *_: None).failure for seed in range(3)]
    assert any("its own prices" in failure for failure in failures)
