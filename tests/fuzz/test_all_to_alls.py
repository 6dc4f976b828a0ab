"""40 all-to-alls against the linear program; 1000 in ``make test-all``."""

import random

import pytest

from forestcoll.all_to_all import best_flow
from forestcoll.all_to_all.two_tiers import two_tiers
from forestcoll.topology.symmetry.parallel_planes import merged_planes
from tests.fuzz import all_to_alls

BLOCKS, CASES = 25, 40


@pytest.mark.parametrize(
    "block", [0, *(pytest.param(block, marks=pytest.mark.slow) for block in range(1, BLOCKS))]
)
def test_all_to_alls_have_the_rate_of_the_program(block: int) -> None:
    """On boxes whole and damaged, in groups, fabrics, and random networks in turn."""
    kinds = list(all_to_alls.KINDS)
    for number in range(block * CASES, (block + 1) * CASES):
        kind, seed = kinds[number % len(kinds)], number // len(kinds)
        outcome = all_to_alls.examine(kind, seed, lambda *_: None)
        assert not outcome.failure, f"{outcome.command}: {outcome.failure}"


@pytest.mark.parametrize(
    ("kind", "least"), [("box-hubs", 30), ("box-faults", 22), ("box-groups", 22), ("fabrics", 15)]
)
def test_most_clusters_are_recognised(kind: str, least: int) -> None:
    """Of 30 of a kind; others are left to the program."""
    networks = (
        all_to_alls.KINDS[kind](random.Random(f"all-to-all, {kind} {seed}")) for seed in range(30)
    )
    assert sum(two_tiers(merged_planes(one).merged) is not None for one in networks) >= least


def test_paths_that_are_not_the_best_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those over boxes and hubs are kept even where their cut does not prove them."""
    monkeypatch.setattr(best_flow.Attained, "is_optimal", True)
    failures = (all_to_alls.examine("box-groups", seed, lambda *_: None).failure for seed in (4, 5))
    assert any("rate" in failure for failure in failures)
