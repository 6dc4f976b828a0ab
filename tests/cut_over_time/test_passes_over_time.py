"""Times of passes between sets, by hand, beside verify's sum and beside patterns of passes."""

from dataclasses import replace
from fractions import Fraction

import pytest

from forestcoll import time_bound
from forestcoll.cut_over_time.passes_over_time import PassSets, PassTimes, pass_sets
from forestcoll.cut_over_time.time_search import LeastTimes
from forestcoll.errors import VerificationError
from forestcoll.problem.over_time.time_bound import PassesOverTime
from forestcoll.problem.over_time.timed_links import TimedLinks
from forestcoll.schedule.verification.passes import carried_in_passes
from forestcoll.topology import Topology, load_topology
from tests.cut_over_time.gossip_networks import passes_within_the_program
from tests.hand_networks import network_of
from tests.random_topologies import seeds
from tests.reference.gossip_program import most_summed
from tests.schedule.verification.test_passes import BY_HAND, sets_named

THREE = network_of("a b c [s*]", "a b c - s: 1")


def sets_of(network: Topology, sets: tuple[tuple[int, ...], ...]) -> PassSets:
    return PassSets(network, TimedLinks.of(network, Fraction(10), reduction=False), sets)


@pytest.mark.parametrize(
    ("reach", "carried", "least"),
    [(10, 20_000, 20), (10, 50_000, 30), (0, 60_000, 30), (5, 55_000, 30)],
)
def test_three_gpus_by_hand(reach: int, carried: int, least: int) -> None:
    """As in the tests of ``verify``: M is a third of what all links carry, as far as it counts."""
    found = sets_of(THREE, ((0,), (1,), (2,)))
    amount = found.links.amount(Fraction(carried, 3))
    assert PassTimes(found, reach).least_time(amount) == least


@pytest.mark.parametrize(("network", "sets", "reach", "size", "least"), BY_HAND)
def test_one_way_links_and_chains_by_hand(
    network: Topology, sets: str, reach: int, size: int, least: int
) -> None:
    found = sets_of(network, tuple(map(tuple, sets_named(network, sets))))
    assert PassTimes(found, reach).least_time(found.links.amount(Fraction(size))) == least


@pytest.mark.parametrize("spec", ["dgx_h100:boxes=1", "dgx_h100:boxes=2,sharp=true"])
def test_verify_adds_up_the_very_amount(spec: str) -> None:
    network = load_topology(spec)
    links = TimedLinks.of(network, Fraction(10), reduction=False)
    late = [e.latency_us + 10 * network.nodes[e.tail].is_gpu for e in network.links]
    for sets in pass_sets(network):
        for one in PassSets(network, links, sets).times():
            time_us = one.least_time(links.amount(Fraction(2**20))) / links.ticks_per_us
            carried = carried_in_passes(network, late, sets, one.proof.reach_us, time_us)
            assert carried == len(sets) * 2**20


def test_each_gpu_and_boxes_behind_switches_that_reduce_are_tried() -> None:
    found = list(pass_sets(load_topology("dgx_h100:boxes=4,sharp=true")))
    assert [len(sets) for sets in found] == [32, 4]
    assert [len(sets) for sets in pass_sets(load_topology("dgx_h100:boxes=4"))] == [32]
    assert list(pass_sets(load_topology("dgx_a100:boxes=2"))) == []
    assert list(pass_sets(network_of("a b [s+]", "a b - s: 1"))) == []
    assert list(pass_sets(load_topology("dgx_h100:boxes=33"))) == []


def test_nvl72_needs_two_hops_without_one_pass() -> None:
    """M is b (T - 20 us) + 2 b 10 us / 72; with one pass, b (T - 10 us) bounds it."""
    found = LeastTimes(load_topology("nvl72"), "allreduce")
    assert found.bound(2**20).time_us == 10 + Fraction(2**20, 900_000)
    bound = found.bound(2**20, one_pass=False)
    assert isinstance(bound.proof, PassesOverTime)
    assert bound.time_us == 20 + Fraction(2**20, 900_000) - Fraction(20, 72)
    assert bound.in_a_line().endswith("us if no switch reduces and multicasts in one pass")
    assert bound.in_words()[1:] == ["in the last 10 us only the latter", "each GPU is a set"]


def test_distances_beyond_floats_are_left_out() -> None:
    late = replace(THREE.links[0], latency_us=Fraction(2**54))
    network = replace(THREE, links=(late, *THREE.links[1:]))
    assert not isinstance(
        LeastTimes(network, "allreduce").bound(4000, one_pass=False).proof, PassesOverTime
    )


def test_passes_deliver_what_is_possible_by_hand() -> None:
    """Three GPUs take 2/3 us of 1 GB/s by the first hop, and 1 us more for each us beyond two."""
    assert most_summed(THREE, 1, 2, one_pass=False) == pytest.approx(2000 / 3, rel=2e-3)
    assert most_summed(THREE, 1, 4, one_pass=False) == pytest.approx(8000 / 3, rel=2e-3)
    assert most_summed(THREE, 1, 4) == pytest.approx(3000, rel=2e-3)


@pytest.mark.first_rows(3)
@pytest.mark.parametrize("seed", seeds(900, 12))
def test_no_bound_is_above_the_best_patterns_of_passes(seed: int) -> None:
    passes_within_the_program(seed)


@pytest.mark.slow
def test_a_bound_above_the_patterns_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    found = PassTimes.least_time
    monkeypatch.setattr(PassTimes, "least_time", lambda *given: 1 + found(*given))
    with pytest.raises(VerificationError, match="bytes in passes between the sets, more than"):
        [passes_within_the_program(seed) for seed in range(40)]


def test_a_bound_of_one_pass_may_be_lower_only() -> None:
    for size in (1000, 20_000, 200_000):
        one, two = (time_bound(THREE, "allreduce", size, one_pass=flag) for flag in (True, False))
        assert one.time_us < two.time_us
