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


def carried(
    network: Topology,
    sets: list[list[int]],
    time_us: int,
    *shared: str,
) -> Fraction:
    late = [e.latency_us + 10 * network.nodes[e.tail].is_gpu for e in network.links]
    return carried_in_gossip(network, late, sets, Fraction(time_us), shared)


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


def test_an_adding_switch_behind_one_that_forwards_ends_transfers():
    """N has all three summands after 10 us, and what c sends, and passes the sum on at once.

    So 8 KB are over after 18 us, and the links carry twice as much by then, as far as it counts:
    1000 (10 / 3 + 8) bytes to c, and 8000 from it.
    """
    network = network_of("a b d [n*] [p] c", "a b d - n: 1, n - p: 1, p - c: 1")
    sets = [[0, 1, 2, 3, 4], [5]]
    assert carried(network, sets, 18) == Fraction(34_000, 3) + 8000 >= 2 * 8000
    with pytest.raises(VerificationError, match="more than the"):
        verify_time_bound(TimeBound(
            network, "allreduce", None, (1,) * 4, size_bytes=8000, alpha_us=Fraction(10),
            time_us=Fraction(18), proof=GossipOverTime(tuple(map(tuple, sets))),
        ))  # fmt: skip


def test_switches_may_be_in_sets_and_latencies_behind_them_count():
    """From a over p to b: 10 us to p, and 3 us from there; the link p -> b has 1 GB/s."""
    path = network_of("a b [p]", "a > p: 2, p > b: 1 3, b > a: 1")
    late = [Fraction(3 if link.tail == 2 else 10) for link in path.links]
    assert carried_in_gossip(path, late, [[0, 2], [1]], Fraction(15)) == 2000 + 5000
    assert carried_in_gossip(path, late, [[0], [1, 2]], Fraction(15)) == 2 * 2000 + 5000


def test_a_switch_that_forwards_ends_no_transfer():
    """All four over p and q with 2 GB/s: as over NICs of 1 GB/s for each of them."""
    network = network_of("a b c d [p] [q]", "a b - p: 2, c d - q: 2, p - q: 2")
    assert carried(network, [[0, 1, 4], [2, 3, 5]], 18) == 8000


def test_gpus_inside_a_set_may_send_and_receive():
    """Two stars of 4, joined at a leaf: the centres hear all of their star in a hop.

    A and B are 1/4 at first and 1 after 10 us: 1000 (20 / 16 + 2 x 10 x 3 / 16) bytes each way.
    """
    stars = network_of("h0 x1..3 h1 y1..3", "h0 - x1 x2 x3, h1 - y1 y2 y3, x3 - y3: 1")
    assert carried(stars, [[0, 1, 2, 3], [4, 5, 6, 7]], 30) == 2 * 5000


def test_shares_are_one_at_most():
    """2 and 3 GPUs on a switch: 1/2 and 1 for the first set, 1/3 and 1 for the second, by 10 us.

    2000 x 2 x (20 / 6 + 10 / 3 + 10 / 6) bytes; c has heard half and third parts of more than 1.
    """
    five = network_of("a b c d e [s]", "a b c d e - s: 1")
    assert carried(five, [[0, 1], [2, 3, 4]], 30) == Fraction(100_000, 3)


def test_links_that_lead_back_do_not_count():
    """From a over p to b in the same set; b -> c and c -> a carry 1000 (15 / 2 + 5 / 2) each."""
    network = network_of("a b c [p]", "a > p: 1, p > b: 1, b > c: 1, c > a: 1")
    assert carried(network, [[0, 1], [2]], 25) == 20_000


def test_summands_come_and_sums_go_with_the_links():
    """Links one way: a d -> b -> c -> e f -> a d. Both ways A and B are 1/3 at first.

    Over b -> c both are 1 after 10 us: 1000 (20 / 9 + 2 x 10 x 2 / 9). Over e -> a and f -> d both
    are 2/3 after 10 us: 2000 (20 / 9 + 2 x 10 / 9).
    """
    network = network_of("a b d c e f", "a d > b: 1, b > c: 1, c > e f: 1, e > a: 1, f > d: 1")
    assert carried(network, [[0, 1, 2], [3, 4, 5]], 30) == Fraction(60_000 + 80_000, 9)


def test_a_shared_capacity_carries_its_limit():
    """f(22) = 4 for all links of 1 GB/s that leave a and b, and as many that enter.

    All four together with 1 GB/s: a half for 10 us, all for 2, a half for 10.
    """
    network = PAIRS.with_shared("out", ["a -> s", "b -> s"], 1)
    network = network.with_shared("all", ["a - s", "b - s"], 1)
    boxes = [[0, 1], [2, 3]]
    assert carried(network, boxes, 22) == 8000 + 8000
    assert carried(network, boxes, 22, "out") == 4000 + 8000
    assert carried(network, boxes, 22, "all") == 12_000
    assert carried(network, boxes, 22, "out", "all") == 4000 + 4000


def test_links_of_a_shared_capacity_count_as_the_best_of_them():
    """Over s, and over a link with 5 us more; both together 1 GB/s, of use until T - 10 us."""
    network = network_of("a b [s]", "a > s: 1, s > b: 1, a > b: 1 5, b > a: 1")
    network = network.with_shared("k", ["a -> s", "a -> b"], 1)
    late = [e.latency_us + 10 * network.nodes[e.tail].is_gpu for e in network.links]
    for shared, amount in (((), 10_000 + 5000 + 10_000), (("k",), 10_000 + 10_000)):
        assert carried_in_gossip(network, late, [[0], [1]], Fraction(20), shared) == amount


def test_of_a_wire_both_ways_the_larger_shares_count():
    """What a sends holds all of a at once, what a gets is for a till the end: 13 us of 1 GB/s."""
    four = network_of("a b c d [s]", "a b c d - s: 1").with_shared("wire", "a - s", 1)
    assert carried(four, [[0], [1, 2, 3]], 13, "wire") == 13_000


def test_a_link_of_two_shared_capacities_counts_for_the_first():
    network = PAIRS.with_shared("k", ["a -> s", "b -> s"], 1)
    network = network.with_shared("l", ["a -> s", "c -> s"], "1/2")
    assert carried(network, [[0, 1], [2, 3]], 22, "k", "l") == 4000 + 8000
    assert carried(network, [[0, 1], [2, 3]], 22, "l", "k") == 2000 + 4000 + 8000


def test_a_shared_capacity_that_does_not_exist_is_refused():
    with pytest.raises(VerificationError, match="'bus' counts in the gossip, but is no shared"):
        carried(PAIRS, [[0, 1], [2, 3]], 22, "bus")


@pytest.mark.parametrize(
    ("sets", "message"),
    [
        ([[0, 1, 2, 3]], "two sets or more"),
        ([], "two sets or more"),
        ([[0, 1], [1, 2, 3]], "disjoint sets of nodes"),
        ([[0, 1], [2, 3, 9]], "disjoint sets of nodes"),
        ([[0, 1], [2, 3], [4]], "must hold a GPU"),
        ([[0, 1], [2]], "d may multicast or reduce"),
    ],
)
def test_wrong_sets_are_refused(sets: list[list[int]], message: str):
    with pytest.raises(VerificationError, match=message):
        carried(PAIRS, sets, 20)


def test_switches_that_add_or_store_are_refused_outside_sets():
    multicast = network_of("a b [s*]", "a b - s: 1")
    with pytest.raises(VerificationError, match="s may multicast or reduce"):
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
        ({"collective": "all-to-all"}, "bounds no all-to-all"),
        ({"time_us": Fraction(0)}, "proves no time of 0"),
    ],
)
def test_other_questions_are_refused(changed: dict[str, object], message: str):
    with pytest.raises(VerificationError, match=message):
        verify_time_bound(replace(of_boxes(), **changed))
