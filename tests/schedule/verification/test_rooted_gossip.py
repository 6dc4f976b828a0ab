"""What links carry into sets, and out of the root's, by hand; wrong moments are refused."""

from dataclasses import replace
from fractions import Fraction

import pytest

from forestcoll import time_bound
from forestcoll.errors import VerificationError
from forestcoll.problem.over_time.time_bound import GossipOverTime
from forestcoll.schedule.verification import verify_time_bound
from forestcoll.schedule.verification.rooted_gossip import carried_from_root
from forestcoll.topology import Topology
from tests.hand_networks import network_of

PAIRS = network_of("a@0 b@0 c@1 d@1 [s]", "a - b: 1, c - d: 1, a b c d - s: 1")
BOXES = [[0, 1], [2, 3]]
THREE = network_of("a b c [s]", "a b c - s: 1")
GPUS = [[0], [1], [2]]

_LATE = 100  # us: up to the end, only what leaves the root's set counts


def carried(
    network: Topology,
    sets: list[list[int]],
    since_us: int,
    time_us: int,
    *shared: str,
    root: int = 0,
) -> Fraction:
    late = [e.latency_us + 10 * network.nodes[e.tail].is_gpu for e in network.links]
    return carried_from_root(
        network, late, sets, root, Fraction(since_us), Fraction(time_us), shared
    )


@pytest.mark.parametrize(("time_us", "amount"), [(10, 0), (18, 4000), (22, 8000), (32, 24_000)])
def test_what_leaves_the_box_of_the_root_by_hand(time_us: int, amount: int):
    """The NIC of a at once, that of b after 10 us; what arrives in the last 10 us counts a half.

    1000 x 8 / 2, then 1000 (5 + 2 + 2 / 2), then 1000 (5 + 12 + 5 + 2).
    """
    assert carried(PAIRS, BOXES, _LATE, time_us) == amount
    assert carried(PAIRS, BOXES[::-1], _LATE, time_us, root=0) == amount
    assert carried(PAIRS, BOXES[::-1], _LATE, time_us, root=2) == amount


def test_what_enters_the_other_box_by_hand():
    """2 GB/s from 10 us on, of which half counts; or from 14 us on, and of a before."""
    assert carried(PAIRS, BOXES, 0, 14) == 4000
    assert carried(PAIRS, BOXES, 14, 16) == 4000 / 2 + 2 * 2000 / 2


def test_what_others_send_left_the_root_before():
    """Into b and c from 10 us on; from 20 us on, and what leaves a in the 10 us before 20.

    Before 30 us, what leaves a in the first 10 us counts for both, but for one if it arrives in the
    last 10 us: 1000 (2 x 3 + 7 + 3).
    """
    assert carried(THREE, GPUS, 0, 18) == 16_000
    assert carried(THREE, GPUS, 20, 23) == 10_000 + 2 * 3000
    assert carried(THREE, GPUS, 30, 23) == 16_000
    assert carried(THREE, GPUS, 30, 40) == 2 * 10_000 + 10_000 + 2 * 10_000


def test_what_arrives_a_hop_before_counts_for_all_sets():
    """From b to c a hop takes 13 us, so until 7 us what leaves a counts twice, until 20 us once.

    From then on, into b and c for 10 us over each of four links: 2 x 1000 (14 + 13) + 4 x 10 000.
    """
    network = network_of("a b c", "a - b c: 1, b > c: 1 3, c > b: 1 5")
    assert carried(network, GPUS, 30, 40) == 54_000 + 40_000


def test_a_hop_leads_from_set_to_set():
    """From c to d a hop takes 13 us; b and c are 10 us apart, but in one set.

    From a as above, for two sets. Into b and c 1000 (20 + 10 / 2) over each of two links, into d
    30 000 from a and 27 000 from c.
    """
    network = network_of("a b c d", "a - b: 1, b - c: 1, c > d: 1 3, d > c: 1 5, a > d: 1")
    amount = 54_000 + 2 * 25_000 + 57_000
    assert carried(network, [[0], [1, 2], [3]], 30, 60) == amount


def test_links_inside_the_root_s_set_do_not_count():
    """S is in the set of a: only what leaves s counts, from 10 us on."""
    network = network_of("a c [s]", "a > s: 1, s > c: 1, c > a: 1")
    assert carried(network, [[0, 2], [1]], _LATE, 12) == 2000


def test_the_way_on_over_a_switch_takes_time():
    """10 us to s, which is in no set, and 5 us on."""
    network = network_of("a c [s]", "a > s: 1, s > c: 1 5, c > a: 1")
    assert carried(network, [[0], [1]], _LATE, 18) == 3000


def test_what_leaves_the_root_for_one_set_reaches_it_from_inside():
    """From d 10 us to b and c; but the second GPU of each set is 30 us from its first.

    So a half counts: what leaves a in the first 10 us, into b and d, and what enters b, c and d in
    the next 20 us, b from d as well.
    """
    network = network_of(
        "a b c d e", "a > b d: 1, d > b c: 1, b > c: 1 20, d > e: 1 20, c e > a: 1 30"
    )
    assert carried(network, [[0], [1, 2], [3, 4]], 20, 40) == 2 * 5000 + 4 * 10_000


def test_what_only_passes_a_set_counts_once():
    """P is in the set of b, and what it sends to c comes from a: 1000 (12 - 10) bytes each."""
    network = network_of("a b c [p]", "a > p: 1, p > b c: 1, b c > a: 1")
    sets = [[0], [1, 3], [2]]
    assert carried(network, sets, 0, 12) == 2 * 2000
    assert carried(network, sets, _LATE, 12) == 2000


def test_what_enters_a_set_counts_for_its_own_gpus():
    """To c, after 10 us on to e, a half each, as c is 20 us from d: 1000 (18 + 8) / 2."""
    network = network_of(
        "a c d e f", "a > c: 1, c - d: 1 10, c - e: 1, e - f: 1 10, e - d: 1, c > a: 1"
    )
    assert carried(network, [[0], [1, 2], [3, 4]], 0, 28) == 13_000


def test_a_shared_capacity_carries_its_limit():
    """A bus of 1/4 GB/s for 8 us at a half; one of b counts from 10 us on; into c and d as much."""
    network = PAIRS.with_shared("k", ["a -> s", "b -> s"], "1/4")
    assert carried(network, BOXES, _LATE, 18, "k") == 1000
    late = PAIRS.with_shared("k", ["b -> s"], "1/4")
    assert carried(late, BOXES, _LATE, 24, "k") == 9000 + 500
    into = PAIRS.with_shared("k", ["s -> c", "s -> d"], "1/4")
    into = into.with_shared("l", ["s -> c"], "1/2")
    assert carried(into, BOXES, 0, 18, "k") == 1000
    assert carried(into, BOXES, 0, 18, "l", "k") == 2000 + 1000


def test_a_shared_capacity_that_does_not_exist_is_refused():
    with pytest.raises(VerificationError, match="'bus' counts in the gossip, but is no shared"):
        carried(PAIRS, BOXES, 0, 22, "bus")


def test_wrong_sets_are_refused():
    with pytest.raises(VerificationError, match="d may multicast or reduce"):
        carried(PAIRS, [[0, 1], [2]], 0, 20)


def test_what_no_path_leads_to_from_a_root_carries_nothing():
    network = network_of("a@0 b@0 c@1 d@1 [s] [p*]", "a - b: 1, c - d: 1, a b c d - s: 1, p > d: 9")
    assert carried(network, [[0, 1, 5], [2, 3]], 0, 14) == 4000
    assert carried(network, [[0, 1, 5], [2, 3]], _LATE, 18) == 4000


def test_a_wrong_moment_is_refused():
    bound = time_bound(THREE, "broadcast", 8000, root=0)
    assert verify_time_bound(bound) == 23
    for since in (Fraction(-1), 20):
        wrong = replace(bound, proof=GossipOverTime(((0,), (1,), (2,)), since_us=since))  # type: ignore[arg-type]
        with pytest.raises(VerificationError, match="the moment of the gossip is"):
            verify_time_bound(wrong)
    of_sums = replace(
        time_bound(PAIRS, "allreduce", 8000),
        proof=GossipOverTime(((0, 1), (2, 3)), since_us=Fraction(1)),
    )
    with pytest.raises(VerificationError, match="gossip of an allreduce has no moment"):
        verify_time_bound(of_sums)


@pytest.mark.parametrize(
    ("collective", "wire"), [("broadcast", "b > c: 1"), ("reduce", "c > b: 1")]
)
def test_a_bound_with_a_root_is_proved_and_no_later_time(collective: str, wire: str):
    """Over one wire between the pairs, of use after 10 us, at a half: 1000 (T - 20) / 2 = 4000.

    The wire back has 9 GB/s. A bound that takes links the wrong way in a reduce counts that one.
    """
    tail, head = wire[0], wire[4]
    network = network_of("a b c d", f"a - b: 1, c - d: 1, {wire}, {head} > {tail}: 9")
    bound = replace(
        time_bound(network, collective, 4000, root=0),
        time_us=Fraction(28),
        proof=GossipOverTime(((0, 1), (2, 3))),
    )
    assert verify_time_bound(bound) == 28
    other = time_bound(network, collective, 4000, root=3)
    wide = replace(other, time_us=20 + Fraction(8, 9), proof=bound.proof)
    assert verify_time_bound(wide) == wide.time_us
    for late in (
        replace(bound, time_us=Fraction("28.001")),
        replace(bound, size_bytes=3999),
        replace(wide, time_us=Fraction(28)),
    ):
        with pytest.raises(VerificationError, match="more than the"):
            verify_time_bound(late)
