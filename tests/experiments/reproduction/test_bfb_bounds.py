"""Bounds and baselines of the BFB paper's tables come out by formulas."""

from __future__ import annotations

from fractions import Fraction

import pytest

from experiments.published import printed
from experiments.reproduction.bfb_bounds import BASELINES, differences, halves_rate
from forestcoll.topology.families.wiring import undirected
from lp.alltoall.linear_optimum import all_to_all_rate
from lp.solver.linear_program import Settings


def test_theoretical_bounds_are_those_printed() -> None:
    """Steps, time and rate for each size of table 7; steps and three times of table 4."""
    found = [d for d in differences() if d.what.startswith("bound")]
    assert len(found) == 6 * 3 + 4
    assert [d for d in found if not d.equal] == []


def test_all_to_alls_of_the_baselines_are_those_of_the_caption() -> None:
    """10738 us in print for 10737.4, and 21475 for 21474.8."""
    found = [d for d in differences() if d.what.startswith("all-to-all")]
    assert len(found) == len(BASELINES) == len(printed("bfb_bounds.csv")) - 7
    assert all(abs(d.share) < 1e-4 for d in found)


@pytest.mark.parametrize(
    ("name", "nodes", "crossing"),
    [("double binary tree", 8, 4), ("double binary tree", 16, 4), ("shifted ring", 1024, 8)],
)
def test_the_halves_of_a_baseline_bind_its_all_to_all(name: str, nodes: int, crossing: int) -> None:
    """So many links cross, for N^2 / 4 pairs; this is not only a bound: the program attains it."""
    pairs = BASELINES[name](nodes)
    found = all_to_all_rate(undirected(nodes, pairs, 1).build(name), settings=Settings(seconds=60))
    assert halves_rate(nodes, pairs) == Fraction(4 * crossing, nodes**2)
    assert found.rate_gb_s == pytest.approx(4 * crossing / nodes**2)
