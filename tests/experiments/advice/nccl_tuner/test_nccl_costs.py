"""Costs of NCCL's algorithms: values of its source, and what it does not have."""

from fractions import Fraction

import pytest

from baselines.registry import METHODS
from experiments.advice.nccl_tuner.nccl_costs import (
    ALGORITHMS,
    COLLECTIVES,
    PROTOCOLS,
    Cost,
    cost_of,
)


def test_every_algorithm_is_a_baseline_for_its_collectives() -> None:
    for collective, names in COLLECTIVES.items():
        for name in names:
            assert collective in METHODS[ALGORITHMS[name]].collectives


@pytest.mark.parametrize(
    ("pair", "due"),
    [
        (("ring", "simple"), Cost(Fraction("8.4"), Fraction("3.4"), Fraction(14), Fraction(1))),
        (("ring", "ll"), Cost(Fraction("6.6"), Fraction("0.6"), Fraction("2.7"), Fraction(1, 2))),
        (
            ("tree", "ll128"),
            Cost(Fraction(14), Fraction("1.25"), Fraction("8.5"), Fraction(92, 100) * 15 / 16),
        ),
        (
            ("nvls_tree", "simple"),
            Cost(Fraction(25), Fraction(0), Fraction("20.9"), Fraction(17, 20)),
        ),
    ],
)
def test_costs_are_those_of_nccl(pair: tuple[str, str], due: Cost) -> None:
    """16 H100 in two boxes."""
    assert cost_of(*pair, 16, 2, "h100") == due


def test_a_tree_in_one_box_has_another_efficiency() -> None:
    found = cost_of("tree", "ll128", 8, 1, "a100")
    assert found is not None
    assert found.efficiency == Fraction(92, 100) * Fraction(7, 9)


def test_what_nccl_does_not_have_has_no_cost() -> None:
    """NVLS before Hopper, NVLS with LL, PAT with several GPUs a box."""
    assert cost_of("nvls", "simple", 16, 2, "a100") is None
    assert cost_of("nvls", "ll", 16, 2, "h100") is None
    assert cost_of("pat", "simple", 16, 2, "h100") is None
    pat = cost_of("pat", "simple", 4, 4, "h100")
    assert pat is not None
    assert pat.call_us == 8 + 4 * Fraction("2.8")
    assert [p for p in PROTOCOLS if cost_of("pat", p, 4, 4, "h100")] == ["simple"]
