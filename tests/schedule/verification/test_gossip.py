"""What links carry between sets that gossip, by hand; wrong sets are refused."""

from dataclasses import replace
from fractions import Fraction

import pytest

from forestcoll import time_bound
from forestcoll.errors import VerificationError
from forestcoll.problem.over_time.time_bound import GossipOverTime, TimeBound
from forestcoll.schedule.verification import verify_time_bound
from forestcoll.schedule.verification.gossip import carried_in_gossip
from forestcoll.topology import Topology
from tests.hand_networks import network_of

PAIRS = network_of("a@0 b@0 c@1 d@1 [s]", "a - b: 1, c - d: 1, a b c d - s: 1")


def carried(network: Topology, sets: list[list[int]], time_us: int) -> Fraction:
    late = [Fraction(10 * network.nodes[link.tail].is_gpu) for link in network.links]
    return carried_in_gossip(network, late, sets, Fraction(time_us))


@pytest.mark.parametrize(("time_us", "amount"), [(10, 0), (18, 8000), (22, 16_000), (32, 48_000)])
def test_two_boxes_of_two_by_hand(time_us: int, amount: int):
    """2 GB/s each way: 8 us count a quarter, or 4 a half and 8 a quarter, or 20 a half and 2 all.

    2 x 2000 x 8 / 4, 2 x 2000 x (2 + 2), 2 x 2000 x (10 + 2) bytes.
    """
    assert carried(PAIRS, [[0, 1], [2, 3]], time_us) == amount


def test_three_sets_count_what_leaves_them():
    """Three NICs of 1 GB/s for 4 us; of two sets those of the first count, in and out."""
    three = network_of("a b c [s]", "a b c - s: 1")
    assert carried(three, [[0], [1], [2]], 14) == 12_000
    four = network_of("a b c d [s]", "a b c d - s: 1")
    assert carried(four, [[0], [1, 2, 3]], 13) == 2000


def test_an_adding_switch_inside_a_set_ends_no_transfer():
    network = network_of(
        "a@0 b@0 [n*]@0 c@1 d@1 [m*]@1 [s]", "a b - n: 1, c d - m: 1, a b c d - s: 1"
    )
    assert carried(network, [[0, 1, 2], [3, 4, 5]], 18) == 8000


def test_switches_may_be_in_sets_and_latencies_behind_them_count():
    """From a over p to b: 10 us to p, and 3 us from there; the link p -> b has 1 GB/s."""
    path = network_of("a b [p]", "a > p: 2, p > b: 1 3, b > a: 1")
    late = [Fraction(3 if link.tail == 2 else 10) for link in path.links]
    assert carried_in_gossip(path, late, [[0, 2], [1]], Fraction(15)) == 2000 + 5000
    assert carried_in_gossip(path, late, [[0], [1, 2]], Fraction(15)) == 2 * 2000 + 5000


@pytest.mark.parametrize(
    ("sets", "message"),
    [
        ([[0, 1, 2, 3]], "two sets or more"),
        ([], "two sets or more"),
        ([[0, 1], [1, 2, 3]], "disjoint sets of nodes"),
        ([[0, 1], [2, 3, 9]], "disjoint sets of nodes"),
        ([[0, 1], [2, 3], [4]], "must hold a GPU"),
        ([[0, 1], [2]], "d may copy or add"),
    ],
)
def test_wrong_sets_are_refused(sets: list[list[int]], message: str):
    with pytest.raises(VerificationError, match=message):
        carried(PAIRS, sets, 20)


def test_switches_that_add_or_store_are_refused_outside_sets():
    multicast = network_of("a b [s*]", "a b - s: 1")
    with pytest.raises(VerificationError, match="s may copy or add"):
        carried(multicast, [[0], [1]], 20)
    stores = network_of("a b [s+]", "a b - s: 1")
    with pytest.raises(VerificationError, match="s stores data"):
        carried(stores, [[0], [1]], 20)


def of_boxes() -> TimeBound:
    return time_bound(PAIRS, "allreduce", 8000)


def test_a_bound_by_gossip_is_proved_and_no_later_time():
    bound = of_boxes()
    assert bound.proof == GossipOverTime(((0, 1), (2, 3)))
    assert verify_time_bound(bound) == 22
    for late in (replace(bound, time_us=Fraction("22.001")), replace(bound, size_bytes=7999)):
        with pytest.raises(VerificationError, match="more than the"):
            verify_time_bound(late)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"collective": "all-to-all"}, "bounds an allreduce, not a"),
        ({"time_us": Fraction(0)}, "proves no time of 0"),
    ],
)
def test_other_questions_are_refused(changed: dict[str, object], message: str):
    with pytest.raises(VerificationError, match=message):
        verify_time_bound(replace(of_boxes(), **changed))
