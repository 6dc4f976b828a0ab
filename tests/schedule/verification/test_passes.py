"""What passes carry out of sets, and into them, by hand; wrong sets are refused."""

from dataclasses import replace
from fractions import Fraction

import pytest

from forestcoll import time_bound
from forestcoll.errors import VerificationError
from forestcoll.problem.over_time.time_bound import PassesOverTime
from forestcoll.schedule.verification import verify_time_bound
from forestcoll.schedule.verification.passes import carried_in_passes
from forestcoll.topology import Topology
from tests.hand_networks import network_of

THREE = network_of("a b c [s*]", "a b c - s: 1")
GPUS = [[0], [1], [2]]
PAIRS = network_of("a@0 b@0 c@1 d@1 [s*]", "a - b: 1, c - d: 1, a b c d - s: 1")
UNLIKE = network_of("a b [s*]", "a > s: 1 5, b > s: 1 3, s > a: 1 1, s > b: 1 4")
INSIDE = network_of(
    "a b [n*] c d [m*] [s*]", "a b > n: 1, c d > m: 1, n > a b: 1 5, m > c d: 1 5, a c - s: 1"
)
CHAIN = network_of(
    "a b [s*] [t] [p]", "a > s: 1, s > t: 1, t > b: 1 2, b > p: 1, p > s: 1, p > a: 3"
)
AFTER = network_of("a b [p] [s*]", "a > p: 4, p > s: 1, s > b: 1, b > a: 1")
ONE_WAY = network_of(
    "a b [n*] c d [m*] [s*]", "a b > n: 1, n > s: 1, s > m: 1, m > c d: 1, c > a: 1, d > b: 1"
)
ASIDE = network_of("a b [s*] [r*]", "a b - s: 1, a - r: 1")
DIRECT = network_of("a b [n*] c d [m*]", "a b - n: 1, c d - m: 1, n - m: 1")
FAR = network_of("a b c [s*]", "a - b: 1 15, a > c: 3, c > s: 3, s > a: 3")
BY_HAND = [
    (UNLIKE, "a b", 10, 8500, 25),
    (INSIDE, "abn cdm", 20, 13_125, 30),
    (CHAIN, "a b", 10, 6000, 17),
    (CHAIN, "a bt", 10, 6000, 17),
    (AFTER, "ap b", 5, 10_000, 20),
    (ONE_WAY, "abn cdm", 10, 12_500, 20),
    (ASIDE, "a b", 10, 20_000, 30),
    (DIRECT, "abn cdm", 10, 15_000, 20),
    (FAR, "ab c", 10, 40_000, 30),
    (THREE, "a b c", 20, 20_000, 30),
]
"""Networks, sets, reach, bytes of a set, and us that they take, as derived below."""


def carried(network: Topology, sets: list[list[int]], reach_us: int, time_us: int) -> Fraction:
    late = [e.latency_us + 10 * network.nodes[e.tail].is_gpu for e in network.links]
    return carried_in_passes(network, late, sets, Fraction(reach_us), Fraction(time_us))


def sets_named(network: Topology, sets: str) -> list[list[int]]:
    """Return sets of nodes, of which each name is a letter."""
    place = {node.name: v for v, node in enumerate(network.nodes)}
    return [[place[name] for name in one] for one in sets.split()]


@pytest.mark.parametrize(
    ("reach", "time", "amount"), [(10, 10, 0), (10, 20, 20_000), (10, 30, 50_000), (0, 30, 60_000)]
)
def test_three_gpus_by_hand(reach: int, time: int, amount: int):
    """Early links out of each GPU count in full; late ones a half of 2/3 both ways."""
    assert carried(THREE, GPUS, reach, time) == amount


def test_a_reach_within_the_last_hop():
    """15 us in full, and 5 us both ways: 3000 (15 + 2 x 5 / 3) bytes."""
    assert carried(THREE, GPUS, 5, 30) == 55_000


def test_links_beside_the_switch_count_where_they_leave_alone():
    """Between a and b a half for 10 us, and no 2/3 of it, each way."""
    network = network_of("a b c [s*]", "a b c - s: 1, a - b: 1")
    assert carried(network, GPUS, 10, 20) == 20_000 + 10_000


def test_latencies_behind_the_switch_count():
    """Of 10 us 5 count in full, and 5 a half both ways, since a pass has one end on a side."""
    network = network_of("a b [s*]", "a b > s: 1, s > a b: 1 3")
    assert carried(network, [[0], [1]], 5, 23) == 2 * 10_000


def test_pairs_hear_of_each_other_in_a_hop():
    """A is a half for 10 us, and B is in the last 10 us; 2/3 count, for two ends on a side.

    Four links carry 1000 (10 / 2 + 10 / 3) bytes out, and 1000 x 10 / 3 in.
    """
    assert carried(PAIRS, [[0, 1], [2, 3]], 10, 30) == Fraction(4 * 35_000, 3)


def test_a_share_is_one_at_most():
    """Within 20 us of the end B is one from 10 us on, though c reaches all four GPUs."""
    assert carried(PAIRS, [[0, 1], [2, 3]], 20, 30) == Fraction(4 * 40_000, 3)


def test_switches_inside_sets_are_ends():
    """Out of n, which knows both after 10 us, and into m, which reaches both at once.

    Each way 1000 (10 / 2 + 10 x 3 / 4) bytes leave, and 10 us at 3/4 enter.
    """
    network = network_of("a b [n*] [p*] c d [m*]", "a b - n: 1, c d - m: 1, n m - p: 1")
    assert carried(network, sets_named(network, "abn cdm"), 10, 20) == 2 * 20_000


def test_the_most_ends_are_those_outside_of_the_smallest_set():
    """Beside c there are a and b, so 2/3 count; A and B of the pair are a half at first.

    Out of a and b 1000 (10 x 2 / 3) / 2 each, out of c 1000 (10 x 2 / 3) / 2, and the same inwards:
    into c all that a knows at first, or c of itself.
    """
    assert carried(THREE, [[0, 1], [2]], 10, 20) == 1000 * (
        2 * Fraction(10, 3) + Fraction(10, 3) + 2 * Fraction(10, 3) + Fraction(20, 3)
    )


def test_a_link_between_passing_switches_counts_once_in_a_set():
    """From a over p, in its set, to s: the link p -> s leaves, a -> p does not."""
    found = carried(AFTER, sets_named(AFTER, "ap b"), 5, 20)
    assert found == 1000 * (Fraction(15, 2) + Fraction(5, 2)) + 10_000


def test_no_set_sends_to_itself():
    """From a to b 19 us, from b to a 14 us; by 25 us 6 and 11 us are left, in full out and in.

    The way back to a is shorter than to b, and that from b to the switch shorter than from a.
    """
    assert carried(UNLIKE, [[0], [1]], 10, 25) == 6_000 + 11_000


def test_switches_without_links_out_of_their_set_are_no_ends():
    """Both links out of a set, and into it, carry 3/4 of 35/4 us: k is 3.

    In 20 us A is a half for 15 us: a hears of b over n, which knew both after 10 us. B is a half in
    the last 10 us: m reaches c and d in 5 us, but c takes 15 us to d, and 10 us to a. So 10 us
    count 1/2, 5 us 1/4, and the last 5 us 1/2.
    """
    found = carried(INSIDE, sets_named(INSIDE, "abn cdm"), 20, 30)
    assert found == 4 * 1000 * Fraction(3, 4) * Fraction(35, 4)


@pytest.mark.parametrize("sets", ["a b", "a bt"])
def test_links_count_twice_behind_switches_that_multicast_only(sets: str):
    """From a 5 us over s a half out, and a half in over t; from b 7 us over p out, none in.

    The link from p into a is before s, not behind it. If t is in the set of b, what enters it does
    so from s to t, and not again from t to b.
    """
    assert carried(CHAIN, sets_named(CHAIN, sets), 10, 17) == 5_000 + 7_000


def test_switches_that_send_only_and_receive_only_are_ends():
    """After 10 us n knows a and b, and m reaches c and d at once; between them is no latency.

    Out of n 10 us count 1/2, then 10 us 3/4, and these into m, too. From c to a and from d to b
    there is a hop: 10 us count 1/4.
    """
    found = carried(ONE_WAY, sets_named(ONE_WAY, "abn cdm"), 10, 20)
    assert found == (5_000 + 7_500) + 7_500 + 2 * 2_500


def test_no_pass_leads_over_gpus():
    """From a to b and back 20 us are of use; r leads to a alone, so its links carry nothing."""
    assert carried(ASIDE, [[0], [1]], 10, 30) == 2 * 20_000


def test_passes_between_switches_inside_sets_count_where_they_leave_alone():
    """Each way 10 us count 1/2, and then 10 us in full: n knows all, and m reaches all at once."""
    assert carried(DIRECT, sets_named(DIRECT, "abn cdm"), 10, 20) == 2 * 15_000


def test_a_sender_counts_by_what_it_knows_of_its_own_set():
    """In 20 us a knows a half of its set, and all of the other from 10 us on; k is 2.

    From a to c 3000 x 20 / 2 bytes, out of c 3000 (10 + 10 x 2/3 / 2), into a 3000 x 10 x 2/3 / 2.
    """
    assert carried(FAR, sets_named(FAR, "ab c"), 10, 30) == 30_000 + 40_000 + 10_000


def test_late_passes_reach_all_after_another_hop():
    """Within 20 us of the end each link counts 10 x 2/3 / 2 + 10 x 2/3 us, out and in."""
    assert carried(THREE, GPUS, 20, 30) == 6 * 10_000


@pytest.mark.parametrize(
    ("sets", "message"),
    [
        ([[0, 1, 2]], "two sets or more"),
        ([[0, 1], [1, 2]], "disjoint sets of nodes"),
        ([[0, 1, 2], [3]], "must hold a GPU"),
        ([[0], [1]], "c may multicast or reduce"),
    ],
)
def test_wrong_sets_are_refused(sets: list[list[int]], message: str):
    with pytest.raises(VerificationError, match=message):
        carried(THREE, sets, 10, 20)


def test_switches_that_store_are_refused():
    with pytest.raises(VerificationError, match="s stores data"):
        carried(network_of("a b [s+]", "a b - s: 1"), [[0], [1]], 10, 20)


def test_a_bound_by_passes_is_proved_and_no_later_time():
    """M is 1000 (T - 20 + 20 / 3) bytes."""
    bound = time_bound(THREE, "allreduce", 10_000, one_pass=False)
    assert bound.proof == PassesOverTime(((0,), (1,), (2,)), Fraction(10))
    assert verify_time_bound(bound) == bound.time_us == Fraction(70, 3)
    later = bound.time_us + Fraction(1, 1000)
    for changed in (replace(bound, time_us=later), replace(bound, size_bytes=9999)):
        with pytest.raises(VerificationError, match="bytes in passes between the sets, more than"):
            verify_time_bound(changed)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"collective": "all-to-all"}, "bound an allreduce, not a all-to-all"),
        ({"time_us": Fraction(0)}, "prove no time of 0"),
        ({"proof": PassesOverTime(((0,), (1,), (2,)), Fraction(-1))}, "reach of the passes is"),
        ({"proof": PassesOverTime(((0,), (1,), (2,)), 10)}, "reach of the passes is"),  # type: ignore[arg-type]
    ],
)
def test_other_questions_are_refused(changed: dict[str, object], message: str):
    bound = time_bound(THREE, "allreduce", 10_000, one_pass=False)
    with pytest.raises(VerificationError, match=message):
        verify_time_bound(replace(bound, **changed))
