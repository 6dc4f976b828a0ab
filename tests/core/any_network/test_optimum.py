"""The optimum of any network: by hand, against an outside program, never raised by damage."""

import functools
import random
from dataclasses import replace
from fractions import Fraction

import pytest

from forestcoll import fixed_k, generate, optimum, verify
from forestcoll.core.any_network.optimum import bound_by_program, optimum_by_program
from forestcoll.core.optimality import optimum as core_optimum
from forestcoll.core.optimality import rate_bound
from forestcoll.errors import TimeLimitError
from forestcoll.problem.optimum import Optimum
from forestcoll.schedule.verification.prices import priced_inverse_rate
from forestcoll.topology import load_topology
from tests.core.any_network.flow_program import optimal_rate
from tests.core.any_network.networks import (
    damaged_network,
    fan,
    four_routes,
    half_duplex,
    with_less,
)
from tests.random_topologies import seeds

A100 = "dgx_a100:boxes=4"


def test_a_nic_that_is_dead_one_way_costs_the_lost_ingress_of_the_switch():
    """775 GB/s enter ib, which must send 24 of 32 shards to each of 4 boxes: 32 x 775 / 96 GB/s.

    Lowering links one by one had said 233.33.
    """
    best = optimum(load_topology(A100).without("b0.gpu0 -> ib"))
    assert best.algbw_gb_s == Fraction(32 * 775, 96)
    assert best.is_proved
    assert best.prices is not None
    assert len(best.prices.cuts) == 4
    (priced,) = best.prices.switches
    assert best.topology.nodes[priced.switch].name == "ib"
    assert "switch ib: of 800 GB/s out, only 775 GB/s enter" in best.what_binds()


def test_a_box_that_need_not_send_loses_nothing():
    """A broadcast from box 1 enters box 0 over 8 links of 25 GB/s, whatever box 0 sends."""
    network = load_topology("dgx_a100:boxes=2").without("b0.gpu0 -> ib")
    root = [int(node.name == "b1.gpu0") for node in network.nodes if node.is_gpu]
    assert optimum(network, weights=root).algbw_gb_s == 200


def test_half_duplex_wires():
    """4 shards are sent 3 times and received 3 times each, over 4 x 64 GB/s: x = 256 / 24."""
    best = optimum(half_duplex())
    assert best.inverse_rate == Fraction(24, 256)
    assert best.algbw_gb_s == Fraction(128, 3)
    assert {one.name for one in best.prices.shared} == {f"wire {i}" for i in range(4)}
    verdict = verify(generate(half_duplex()).schedule)
    assert verdict.optimal
    assert verdict.algbw_gb_s == Fraction(128, 3)


def test_a_switch_that_only_forwards_serves_three_gpus_a_third_each():
    """With switches that multicast the cut is all there is: 1 GB/s."""
    root = (1, 0, 0, 0)
    assert optimum(fan(), weights=root).algbw_gb_s == Fraction(1, 3)
    copies = tuple(replace(node, multicast=node.is_switch) for node in fan().nodes)
    marked = replace(fan(), nodes=copies)
    assert rate_bound(marked, weights=root, multicast=True).algbw_gb_s == 1
    assert rate_bound(marked, weights=root).algbw_gb_s == Fraction(1, 3)


def test_whole_trees_may_miss_the_fractional_optimum():
    """x* = 2 by halves of four routes; two trees that take a route each break a shared limit."""
    best = optimum(four_routes(), weights=(1, 0))
    assert best.inverse_rate == Fraction(1, 2)
    assert best.k == 4  # half a tree per GB/s on each of four routes
    found = fixed_k(four_routes(), 2, weights=(1, 0))
    assert (found.bound, found.congestion, found.exact) == (1, 2, False)
    verdict = verify(generate(four_routes(), collective="broadcast", root="a", k=2).schedule)
    assert verdict.algbw_gb_s == 1
    assert (
        verify(generate(four_routes(), collective="broadcast", root="a").schedule).algbw_gb_s == 2
    )


@pytest.mark.parametrize("groups", [False, True])
@pytest.mark.parametrize("seed", seeds(60, 24))
@pytest.mark.each_value_once
def test_it_equals_an_outside_program_and_is_attained(seed: int, groups: bool):
    """On damaged directed networks, exactly: candidate and prices meet, and verify agrees."""
    if (made := damaged_network(seed, groups=groups)) is None:
        return
    network, weights = made
    reduction = seed % 2 == 1
    best = optimum(network, weights=weights, reduction=reduction)
    outside = optimal_rate(network, best.weights, reduction=reduction)
    assert float(1 / best.inverse_rate) == pytest.approx(outside, rel=1e-6)
    assert best.is_proved
    assert priced_inverse_rate(best.bound, copies=False) == best.inverse_rate
    collective = "reduce-scatter" if reduction else "allgather"
    verdict = verify(generate(network, collective=collective, weights=weights).schedule)
    assert verdict.optimal
    assert verdict.congestion == verdict.k * best.inverse_rate


@pytest.mark.parametrize("seed", seeds(40, 15))
def test_taking_bandwidth_away_never_raises_it(seed: int):
    """Nor that with one or two trees a GPU: what is allowed was allowed before."""
    if (made := damaged_network(seed, groups=seed % 2 == 0)) is None:
        return
    network, weights = made
    chance = random.Random(seed)
    less = with_less(network, chance)
    before, after = (optimum(one, weights=weights) for one in (network, less))
    assert after.inverse_rate >= before.inverse_rate
    for k in (1, 2):
        poor, rich = (fixed_k(one, k, weights=weights) for one in (less, network))
        assert poor.bound >= rich.bound
        assert poor.congestion >= rich.bound


def test_without_time_both_sides_are_reported_and_neither_is_the_optimum():
    """What is feasible is below the optimum, what is proved is above."""
    network = load_topology(A100).without("b0.gpu0 -> ib")
    with pytest.raises(TimeLimitError, match=r"at least \S+ and at most \S+ GB/s") as caught:
        optimum_by_program(network, (1,) * 32, False, 0.0)
    least, most = caught.value.incumbent, caught.value.bound
    assert isinstance(least, Optimum)
    assert isinstance(most, Fraction)
    assert 0 < least.algbw_gb_s <= Fraction(32 * 775, 96) <= most
    assert not least.is_proved


def test_a_hurried_search_still_makes_a_schedule(monkeypatch: pytest.MonkeyPatch):
    """It verifies, and claims no optimum."""
    network = load_topology(A100).without("b0.gpu0 -> ib")
    hurried = functools.partial(core_optimum, seconds=0.0)
    monkeypatch.setattr("forestcoll.core.pipeline.optimum", hurried)
    forest = generate(network).schedule
    verdict = verify(forest)
    assert not verdict.optimal
    assert 0 < verdict.algbw_gb_s < Fraction(32 * 775, 96)


def test_a_bound_is_known_at_once():
    """Of the first set: 24 shards must enter a box at 200 GB/s, or 31 a GPU at 325."""
    network = load_topology(A100).without("b0.gpu0 -> ib")
    bound = bound_by_program(network, (1,) * 32, False, 0.0, multicast=False)
    assert bound.algbw_gb_s >= Fraction(32 * 775, 96)


@pytest.mark.slow
def test_equal_classes_of_links_are_one_variable():
    """1024 GPUs, one NIC dead one way: 1023 x 25 GB/s enter ib, 1016 shards leave it 128 times."""
    network = load_topology("dgx_a100:boxes=128").without("b0.gpu0 -> ib")
    best = optimum(network)
    assert best.algbw_gb_s == Fraction(1024 * 1023 * 25, 1016 * 128)
    assert best.k == 1023
