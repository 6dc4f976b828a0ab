"""Allreduce forests from shares in floats: exact, verified, and as fast as the program says."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from forestcoll.allreduce.cutting_planes import allreduce_optimum
from forestcoll.allreduce.rounding import GRIDS, allreduce_forest, natural_grids, rounded
from forestcoll.allreduce.shares import common_divisor
from forestcoll.errors import SolverError
from forestcoll.schedule import verify
from forestcoll.schedule.cost_model.measures import cost
from forestcoll.solver.linear_program import Settings
from forestcoll.topology import Topology, load_topology
from lp.allreduce.reference import allreduce_reference
from tests.lp.networks import BETTER, star, two_boxes
from tests.random_topologies import random_topology

SETTINGS = Settings(seconds=60)


@pytest.mark.parametrize(("topology", "best", "combined"), BETTER, ids=lambda given: str(given))
def test_the_forest_attains_the_lp(topology: Topology, best: Fraction, combined: Fraction) -> None:
    """Exactly the rate found by hand, with the loads of both phases added up on every link."""
    schedule = allreduce_forest(allreduce_optimum(topology, SETTINGS))
    verify(schedule)
    assert cost(schedule).algbw_gb_s == best > combined
    assert schedule.topology == topology
    assert {phase.method for phase in schedule.phases} == {"allreduce-lp"}


@pytest.mark.parametrize(
    ("kind", "seed"), [("directed", 6), ("directed", 26), ("directed", 52), ("unbalanced", 0)]
)
def test_random_networks_attain_it_on_finer_grids(kind: str, seed: int) -> None:
    found = allreduce_optimum(random_topology(seed, kind), SETTINGS)
    schedule = allreduce_forest(found)
    verify(schedule)
    rate = cost(schedule).algbw_gb_s
    assert float(rate) == pytest.approx(found.algbw_gb_s, rel=1e-7)
    assert rate >= rounded(found).algbw_gb_s


@pytest.mark.parametrize(
    ("values", "grid", "noise"),
    [
        (["1/4", "5/16", "1"], 16, 1e-10),
        (["9/34", "53/51120", "550103/1738080"], 1738080, 1e-14),  # the last is near n/60041, too
        (["1/1999", "2/1997", "1/3"], 1999 * 1997 * 3, 1e-10),
        (["1/99991"], 99991, 1e-12),
    ],
)
def test_common_denominators_are_found_in_floats(
    values: list[str], grid: int, noise: float
) -> None:
    exact = np.array([float(Fraction(value)) for value in values])
    for error in (-noise, 0, noise):
        assert grid in natural_grids(exact * (1 + error))


def test_values_without_a_common_denominator_have_no_grid() -> None:
    assert natural_grids(np.sqrt([2, 3, 5, 7, 11])) == set()


def test_coarse_grids_are_slower_and_still_right() -> None:
    """79/40 on a grid of tenths; rounded down to whole shares, what is left fits and is less."""
    found = allreduce_optimum(random_topology(6, "directed"), SETTINGS)
    uneven = np.random.default_rng(1).uniform(0.998, 0.999, len(found.gather_gb_s))
    odd = replace(found, gather_gb_s=found.gather_gb_s * uneven)  # no simple fractions
    rates = [rounded(odd, [grid]).algbw_gb_s for grid in (2, 5, 10, GRIDS[-1])]
    assert all(0 < rate <= Fraction(79, 40) for rate in rates)
    assert rates[0] < rates[-1]
    assert float(rates[-1]) == pytest.approx(0.999 * 79 / 40, rel=1e-3)
    assert rounded(found).step_gb_s * 10 == common_divisor(
        [link.bandwidth_gb_s for link in found.topology.links]
    )


def test_shares_lowered_at_switches_stay_within_the_network() -> None:
    """Any floats will do: random shares, rounded to tenths, unbalance no switch."""
    topology = two_boxes(2, 3)
    found = allreduce_optimum(topology, SETTINGS)
    chance = np.random.default_rng(0)
    bandwidth = np.array([float(e.bandwidth_gb_s) for e in topology.links])
    share = bandwidth * chance.uniform(0.2, 0.5, len(bandwidth))
    odd = replace(found, gather_gb_s=share, reduce_gb_s=bandwidth - share)
    shares = rounded(odd, [10])
    for network, sign in ((shares.gather, 1), (shares.reduce, -1)):
        for switch in network.switches:
            assert sign * (network.ingress_gb_s[switch] - network.egress_gb_s[switch]) >= 0
    for (tail, head), link in topology.link_between.items():
        parts = (net.link_between.get((tail, head)) for net in (shares.gather, shares.reduce))
        assert sum(p.bandwidth_gb_s for p in parts if p) <= link.bandwidth_gb_s
    schedule = allreduce_forest(odd)
    verify(schedule)
    assert cost(schedule).algbw_gb_s < found.algbw_gb_s


def test_shares_without_a_rounding_are_refused() -> None:
    """Shares of logical links; parts or shares that round to nothing."""
    with pytest.raises(SolverError, match="logical links only"):
        rounded(allreduce_reference(star(1, 1, 2), SETTINGS))
    found = allreduce_optimum(load_topology("ring:nodes=4"), SETTINGS)
    for nothing in ({"parts_gb_s": np.full(4, 1e-9)}, {"reduce_gb_s": np.full(8, 1e-9)}):
        with pytest.raises(SolverError, match="no shares that connect all"):
            rounded(replace(found, **nothing))
    assert rounded(found).step_gb_s == Fraction(1, 4)
