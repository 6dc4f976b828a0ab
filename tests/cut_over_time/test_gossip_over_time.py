"""Times of gossip between sets, by hand and beside simulated allreduces."""

from dataclasses import replace
from fractions import Fraction

import pytest

from forestcoll import time_bound
from forestcoll.cut_over_time.gossip_over_time import (
    GossipTimes,
    GpuDistances,
    forwards,
    gossip_sets,
)
from forestcoll.cut_over_time.time_search import LeastTimes
from forestcoll.errors import VerificationError
from forestcoll.problem.over_time.time_bound import GossipOverTime
from forestcoll.problem.over_time.timed_links import TimedLinks
from forestcoll.schedule.verification import verify_time_bound
from forestcoll.topology import Topology, load_topology
from tests.core.any_network.networks import half_duplex
from tests.cut_over_time.gossip_networks import within_the_program
from tests.hand_networks import network_of
from tests.random_topologies import seeds
from tests.reference.gossip_program import most_summed

PAIRS = network_of("a@0 b@0 c@1 d@1 [s]", "a - b: 1, c - d: 1, a b c d - s: 1")
"""Two boxes of two GPUs, a NIC of 1 GB/s each."""


def least_us(network: Topology, sets: tuple[tuple[int, ...], ...], size: int) -> Fraction:
    links = TimedLinks.of(network, Fraction(10), reduction=False)
    gossip = GossipTimes(GpuDistances(network, links), sets)
    return gossip.least_time(links.amount(Fraction(size))) / links.ticks_per_us


@pytest.mark.parametrize(("size", "least"), [(4000, 18), (8000, 22), (24_000, 32)])
def test_two_boxes_of_two_by_hand(size: int, least: int):
    """M bytes each way over 2 GB/s, 10 us a hop, so that 2 x 1000 bytes go in a us.

    At 10 + x us all transfers are sent before a sum is known, and arrive too late to be sent on:
    they count a quarter, and x is 8 for 4 KB. At 20 + t those of the first and of the last t count
    a half, the others a quarter: t + (10 - t) / 4 is 4 for 8 KB. At 30 + t the first and the last
    10 us count a half, what is between them fully: 10 + t is 12 for 24 KB.
    """
    assert least_us(PAIRS, ((0, 1), (2, 3)), size) == least


def test_three_sets_pass_on_four_times():
    """Three GPUs on a switch: 4 M over three NICs of 1 GB/s for T - 10 us."""
    three = network_of("a b c [s]", "a b c - s: 1")
    assert least_us(three, ((0,), (1,), (2,)), 3000) == 10 + 4


def test_a_switch_that_adds_is_no_end_where_it_has_no_link_to_others():
    """With a reducing switch in each box a transfer still carries the data of one GPU at first."""
    network = network_of(
        "a@0 b@0 [n*]@0 c@1 d@1 [m*]@1 [s]", "a b - n: 1, c d - m: 1, a b c d - s: 1"
    )
    assert least_us(network, ((0, 1, 2), (3, 4, 5)), 4000) == 18


def test_an_adding_switch_behind_one_that_forwards_sends_and_receives():
    """N has all summands of a, b and d after 10 us; 16 KB are 1000 (10 / 3 + 2 (T - 10))."""
    network = network_of("a b d [n*] [p] c", "a b d - n: 1, n - p: 1, p - c: 1")
    assert least_us(network, ((0, 1, 2, 3, 4), (5,)), 8000) == Fraction(49, 3)


def test_links_of_the_first_set_count_both_ways():
    """One GPU beside three: 1 GB/s in and out, not the 3 GB/s that leave the others.

    A transfer from the others carries one summand of three until 10 us: 2 M = 1000 (x + x) / 3.
    """
    four = network_of("a b c d [s]", "a b c d - s: 1")
    assert least_us(four, ((0,), (1, 2, 3)), 1000) == 10 + 3


def test_boxes_and_single_sets_are_tried():
    network = load_topology("dgx_a100:boxes=4")
    found = list(gossip_sets(network, [], [0]))
    assert [len(sets) for sets in found] == [4, 2, 2]
    assert all(set(network.compute) <= set().union(*sets) for sets in found)
    assert [set(sets[0]) & set(network.compute) for sets in found[1:]] == [set(range(8)), {0}]


def test_priced_sets_are_tried_if_gpus_are_on_both_sides():
    found = list(gossip_sets(PAIRS, [(0, 2), (4,), (0, 1, 2, 3)], []))
    assert found == [((0, 2), (1, 3))]


def test_nothing_is_tried_where_switches_store_or_networks_are_large():
    stores = network_of("a b c [s+]", "a b c - s: 1")
    assert list(gossip_sets(stores, [], [0])) == []
    assert list(gossip_sets(load_topology("dgx_a100:boxes=33"), [], [0])) == []


def test_boxes_do_not_gossip_over_a_switch_that_multicasts():
    """Its copies may serve several boxes at once; a set beside all else is right still."""
    network = load_topology("dgx_h100:boxes=3,sharp=true")
    assert {len(sets) for sets in gossip_sets(network, [], [0])} == {2}
    assert [forwards(network, v) for v in network.switches] == [False] * 4


def test_distances_beyond_floats_are_left_out():
    late = replace(PAIRS.links[0], latency_us=Fraction(2**54))
    network = replace(PAIRS, links=(late, *PAIRS.links[1:]))
    links = TimedLinks.of(network, Fraction(10), reduction=False)
    assert not GpuDistances(network, links).are_exact
    assert not isinstance(LeastTimes(network, "allreduce").bound(4000).proof, GossipOverTime)


@pytest.mark.parametrize("spec", ["dgx_a100:boxes=2", "dgx_h100:boxes=4"])
def test_boxes_take_two_hops_from_few_bytes_on(spec: str):
    """64 KB of 8 GPUs for 8 others are 4 MB over 200 GB/s: no single hop brings them in 10 us."""
    bound = time_bound(spec, "allreduce", "64KB")
    assert isinstance(bound.proof, GossipOverTime)
    assert verify_time_bound(bound) == bound.time_us
    assert bound.time_us > 20
    assert "must go 2 times between 2 sets of GPUs" in bound.in_words()[0]
    assert bound.in_words()[1] == "GPUs 0-7 of box 0"
    assert bound.crossing == []


@pytest.mark.first_rows(3)
@pytest.mark.parametrize("seed", seeds(900, 12))
def test_no_bound_is_above_the_best_patterns_of_messages(seed: int):
    """Random sets and shared capacities, on networks of 3 to 5 nodes."""
    within_the_program(seed)


@pytest.mark.slow
def test_a_bound_above_the_patterns_is_noticed(monkeypatch: pytest.MonkeyPatch):
    found = GossipTimes.least_time
    monkeypatch.setattr(GossipTimes, "least_time", lambda *given: 1 + found(*given))
    with pytest.raises(VerificationError, match="more than the"):
        within_the_program(1081)


def test_patterns_deliver_what_is_possible_by_hand():
    """Two GPUs: 6 us of 1 GB/s after 2 us. Three on a switch: two rounds of two pieces each way."""
    assert most_summed(network_of("a b", "a - b: 1"), 2, 8) == pytest.approx(6000)
    three = network_of("a b c [s]", "a b c - s: 1")
    assert most_summed(three, 1, 4) == pytest.approx(2250, rel=2e-3)
    assert most_summed(three, 5, 4) == 0


def test_half_duplex_wires_carry_both_ways_together():
    """Wires of 2 GB/s: 2 x 2000 (T - 10) bytes each way, or 2000 T together; 2 M = 8000 must go."""
    wires = half_duplex((2, 2))
    links = TimedLinks.of(wires, Fraction(10), reduction=False)
    gpus = tuple((v,) for v in wires.compute)
    alone = GossipTimes(GpuDistances(wires, links), gpus)
    amount = links.amount(Fraction(4000))
    assert alone.least_time(amount) / links.ticks_per_us == 10 + 2
    both = GossipTimes(GpuDistances(wires, links), gpus, alone.binding())
    assert alone.binding() == wires.shared[:1]
    assert both.proof == GossipOverTime(gpus, ("wire 0",))
    assert both.least_time(amount) / links.ticks_per_us == 4


def bus(limit: str) -> Topology:
    return PAIRS.with_shared("bus", ["a -> s", "b -> s"], limit)


def test_a_bus_of_a_box_counts_once():
    """3000 f = 16 000 bytes for 8 KB, f(20 + t) = t + (10 - t) / 4: t is 34/9."""
    bound = time_bound(bus("1"), "allreduce", 8000)
    assert bound.proof == GossipOverTime(((0, 1), (2, 3)), ("bus",))
    assert bound.time_us == 20 + Fraction(34, 9) == verify_time_bound(bound)
    assert bound.in_words()[-1] == "over bus only what it carries"


def test_a_wide_bus_does_not_count():
    links = TimedLinks.of(bus("2"), Fraction(10), reduction=False)
    assert GossipTimes(GpuDistances(bus("2"), links), ((0, 1), (2, 3))).binding() == ()


def test_a_link_of_two_shared_capacities_counts_for_the_first():
    """f(22) = 4: bytes are 8000 to a and b; from them 4000 by k, or 2000 of a by l, 4000 of b."""
    network = PAIRS.with_shared("k", ["a -> s", "b -> s"], 1)
    network = network.with_shared("l", ["a -> s", "c -> s"], "1/2")
    links = TimedLinks.of(network, Fraction(10), reduction=False)
    k, l_ = network.shared
    for shared, size in (((k, l_), 6000), ((l_, k), 7000)):
        found = GossipTimes(GpuDistances(network, links), ((0, 1), (2, 3)), shared)
        assert found.least_time(links.amount(Fraction(size))) / links.ticks_per_us == 22
