"""Times of broadcasts by what enters sets of GPUs, by hand and beside patterns of messages."""

from fractions import Fraction

import pytest

from forestcoll import time_bound
from forestcoll.cut_over_time.gossip_from_root import RootedSets, RootedTimes
from forestcoll.cut_over_time.gossip_over_time import GpuDistances, gossip_sets
from forestcoll.cut_over_time.time_search import LeastTimes
from forestcoll.problem.over_time.time_bound import GossipOverTime
from forestcoll.problem.over_time.timed_links import TimedLinks
from forestcoll.schedule.verification import verify_time_bound
from forestcoll.topology import Topology, load_topology
from tests.cut_over_time.gossip_networks import within_the_program
from tests.hand_networks import network_of
from tests.random_topologies import seeds
from tests.reference.gossip_program import most_summed

PAIRS = network_of("a@0 b@0 c@1 d@1 [s]", "a - b: 1, c - d: 1, a b c d - s: 1")
"""Two boxes of two GPUs, a NIC of 1 GB/s each."""

BOXES = ((0, 1), (2, 3))
THREE = network_of("a b c [s]", "a b c - s: 1")
GPUS = ((0,), (1,), (2,))

_LATE = 100  # us: up to the end, only what leaves the root's set counts


def times_of(
    network: Topology, sets: tuple[tuple[int, ...], ...], since_us: int, *shared: str
) -> RootedTimes:
    links = TimedLinks.of(network, Fraction(10), reduction=False)
    held = tuple(one for name in shared for one in network.shared if one.name == name)
    rooted = RootedSets(GpuDistances(network, links), sets, 0)
    return RootedTimes(rooted, since_us * links.ticks_per_us, held)


def least_us(
    network: Topology, sets: tuple[tuple[int, ...], ...], size: int, since_us: int, *shared: str
) -> Fraction:
    links = TimedLinks.of(network, Fraction(10), reduction=False)
    found = times_of(network, sets, since_us, *shared)
    return found.least_time(links.amount(Fraction(size))) / links.ticks_per_us


@pytest.mark.parametrize(("size", "least"), [(4000, 18), (8000, 22), (24_000, 32)])
def test_what_leaves_the_box_of_the_root_by_hand(size: int, least: int):
    """The NIC of a carries 1000 bytes a us at once, that of b after 10 us; both arrive 10 us later.

    What arrives in the last 10 us reaches one GPU of two and counts a half. So 4 KB are 1000 x / 2
    at 10 + x us, 8 KB 1000 (5 + t + t / 2) at 20 + t, and 24 KB 1000 (15 + t + 5 + t) at 30 + t.
    """
    assert least_us(PAIRS, BOXES, size, _LATE) == least
    assert least_us(PAIRS, BOXES[::-1], size, _LATE) == least


def test_what_enters_the_other_box_by_hand():
    """C and d get 2 GB/s from 10 us on, of which half counts: 4 KB take 10 + 4 us."""
    assert least_us(PAIRS, BOXES, 4000, 0) == 14


def test_up_to_the_moment_links_out_count_then_links_in():
    """By 18 us: 8000 / 2 from a until 18 us. From 14 us on, into c and d: 4000 / 2 + 2000 t / 2."""
    assert least_us(PAIRS, BOXES, 4000, 18) == 18
    assert least_us(PAIRS, BOXES, 4000, 14) == 16


def test_each_gpu_gets_all():
    """8 KB for b and c, over their NICs of 1 GB/s each from 10 us on."""
    assert least_us(THREE, GPUS, 8000, 0) == 18


def test_what_others_send_left_the_root_before():
    """B and c send nothing before 10 us, which arrives by 20: until then a alone, 1000 x 10 bytes.

    Then 2000 t are the other 6000 of 2 x 8000. Up to 30 us, what leaves a in the first 10 counts
    for both, if it may still be sent on: 2 x 1000 x 3 + 7000, and what leaves it in the 3 after.
    """
    assert least_us(THREE, GPUS, 8000, 20) == 23
    assert least_us(THREE, GPUS, 8000, 30) == 23


def test_it_is_the_very_time_of_three_gpus():
    """With alpha 1: 1500 bytes by 3 us, as by the best patterns of messages (see below)."""
    bound = time_bound(THREE, "broadcast", 1500, 1, root=0)
    assert bound.time_us == verify_time_bound(bound) == 3
    assert bound.proof == GossipOverTime(GPUS, since_us=Fraction(2))


def test_what_enters_a_set_counts_for_its_own_gpus():
    """From a to c, after 10 us from c to e: 2 M = 1000 (18 + 8) / 2, as c is 20 us from d, not 10.

    After 20 us from e to d nothing arrives in time.
    """
    network = network_of(
        "a c d e f", "a > c: 1, c - d: 1 10, c - e: 1, e - f: 1 10, e - d: 1, c > a: 1"
    )
    assert least_us(network, ((0,), (1, 2), (3, 4)), 6500, 0) == 28


def test_what_no_path_leads_to_from_the_root_carries_nothing():
    """The switch p, which multicasts but which nothing enters, has a link into d."""
    network = network_of("a@0 b@0 c@1 d@1 [s] [p*]", "a - b: 1, c - d: 1, a b c d - s: 1, p > d: 9")
    assert least_us(network, ((0, 1, 5), (2, 3)), 4000, 0) == 14
    assert least_us(network, ((0, 1, 5), (2, 3)), 4000, _LATE) == 18


def test_links_of_a_shared_capacity_carry_its_limit():
    """From a and b 1/4 GB/s, a half of it for 8 us; into c and d as much from 10 us on.

    The link into c alone: (1000 + 250) (T - 10) / 2; then the bus holds that into d alone.
    """
    network = PAIRS.with_shared("out", ["a -> s", "b -> s"], "1/4")
    network = network.with_shared("in", ["s -> c", "s -> d"], "1/4").with_shared(
        "l", ["s -> c"], "1/4"
    )
    assert least_us(network, BOXES, 1000, _LATE, "out") == 18
    assert least_us(network, BOXES, 1000, 0, "in") == 18
    assert least_us(network, BOXES, 2500, 0, "l") == 14
    assert least_us(network, BOXES, 1000, 0, "l", "in") == 14


def test_links_of_a_shared_capacity_count_as_the_best_of_them():
    """From a to b 3 us later than to c, over 1/2 GB/s: as to c, 2 M = 500 (T - 10 + 10)."""
    network = network_of("a b c", "a > b: 1 3, a > c: 1, b - c: 1, b c > a: 1")
    network = network.with_shared("k", ["a -> b", "a -> c"], "1/2")
    assert least_us(network, GPUS, 4000, _LATE, "k") == least_us(
        network_of("a b c", "a > c: 1/2, b - c: 1, b c > a: 1"), GPUS, 4000, _LATE
    )


def test_shared_capacities_bind_that_are_narrower_than_their_links():
    network = PAIRS.with_shared("wide", ["a -> s", "b -> s"], 2).with_shared("w", ["a -> s"], "1/2")
    network = network.with_shared("inside", ["a -> b"], "1/2")
    assert [one.name for one in times_of(network, BOXES, 0).binding()] == ["w"]


def test_moments_are_at_once_and_after_some_hops():
    """B is 10 us away, c 13, and a hop between them takes 11. Two sets have none: d is 20 away."""
    network = network_of("a b c", "a - b: 1, a - c: 1 3, b - c: 1 1")
    sets = RootedSets(GpuDistances(network, links_of(network)), GPUS, 0)
    moments = [one.proof.since_us for one in sets.times()]
    assert moments == [0, 10, 13, 21, 24, 32, 35, 43, 46]
    line = network_of("a c d", "a - c: 1, c - d: 1")
    sets = RootedSets(GpuDistances(line, links_of(line)), ((0,), (1, 2)), 0)
    assert sets.hop is None
    assert [one.proof.since_us for one in sets.times()] == [0, 10, 20, 30, 40, 50, 60, 70, 80]


def links_of(network: Topology) -> TimedLinks:
    return TimedLinks.of(network, Fraction(10), reduction=False)


def test_a_hop_is_the_fastest_between_sets_without_the_root():
    """From b to c 13 us, back 15; a is in neither."""
    network = network_of("a b c", "a - b c: 1, b > c: 1 3, c > b: 1 5")
    assert RootedSets(GpuDistances(network, links_of(network)), GPUS, 0).hop == 13


def test_what_arrives_a_hop_before_counts_for_all_sets():
    """94 000 bytes by 40 us, for two sets (tests/schedule/verification/test_rooted_gossip.py)."""
    network = network_of("a b c", "a - b c: 1, b > c: 1 3, c > b: 1 5")
    assert least_us(network, GPUS, 47_000, 30) == 40
    four = network_of("a b c d", "a - b: 1, b - c: 1, c > d: 1 3, d > c: 1 5, a > d: 1")
    assert least_us(four, ((0,), (1, 2), (3,)), 161_000 // 2, 30) == 60


def test_each_gpu_is_tried_from_a_root():
    found = list(gossip_sets(PAIRS, [], [0], rooted=True))
    assert found == [((0,), (1,), (2,), (3,)), BOXES, ((0,), (1, 2, 3))]
    pair = network_of("a b [s]", "a b - s: 1")
    assert list(gossip_sets(pair, [], [0], rooted=True)) == [((0,), (1,))]
    adds = network_of("a b c [s*]", "a b c - s: 1")
    assert len(list(gossip_sets(adds, [], [0], rooted=True))) == 1


@pytest.mark.parametrize(
    ("collective", "bus"), [("broadcast", ["a -> s", "b -> s"]), ("reduce", ["s -> a", "s -> b"])]
)
def test_a_reduce_is_a_broadcast_backwards(collective: str, bus: list[str]):
    """4 KB take 18 us over NICs of 1 GB/s, 1 KB as long over a bus of 1/4: 250 (T - 10) / 2."""
    found = time_bound(PAIRS, collective, 4000, root=0)
    assert found.time_us == 18
    assert found.proof == GossipOverTime(BOXES, since_us=Fraction(20))
    narrow = time_bound(PAIRS.with_shared("bus", bus, "1/4"), collective, 1000, root=0)
    assert isinstance(narrow.proof, GossipOverTime)
    assert (narrow.proof.sets, narrow.proof.shared) == (BOXES, ("bus",))
    assert narrow.time_us == verify_time_bound(narrow) == 18
    assert found.in_words()[0].endswith(
        "reaches few GPUs" if collective == "broadcast" else "comes from few GPUs"
    )
    assert "go 1 times between 2 sets" in found.in_words()[0]
    assert found.in_words()[-1] == (
        "in the first 20 us only what leaves the root's set counts"
        if collective == "broadcast"
        else "in the last 20 us only what enters the root's set counts"
    )
    assert narrow.in_words()[-2] == "over bus only what it carries"


def test_a_root_that_is_not_the_first_gpu():
    """C has a NIC of 1/2 GB/s: 4 KB are 500 (5 + t) + 1000 t / 2 at 20 + t us."""
    network = network_of("a@0 b@0 c@1 d@1 [s]", "a - b: 1, c - d: 1, a b d - s: 1, c - s: 1/2")
    assert time_bound(network, "broadcast", 4000, root="c").time_us == Fraction(43, 2)


def test_four_boxes_take_longer_than_one_receiver():
    """4 MB over 200 GB/s: 21 us, 28.3 for hops, and 6 in which only the root's box can send."""
    found = LeastTimes(load_topology("dgx_a100:boxes=4"), "broadcast", root=0).bound("4MB")
    assert isinstance(found.proof, GossipOverTime)
    assert len(found.proof.sets) == 4
    assert found.proof.since_us == 30
    assert verify_time_bound(found) == found.time_us == Fraction(1033841, 18750)


@pytest.mark.parametrize("seed", seeds(900, 12))
def test_no_bound_on_a_broadcast_is_above_the_best_patterns(seed: int):
    within_the_program(seed, "broadcast")


def test_patterns_of_a_broadcast_by_hand():
    """From a to b and c over its NIC of 1 GB/s: 1 us after 1 us, half for each; see below.

    By 3 us a sends 2000 bytes, of which those of the first us go on from b to c and from c to b.
    """
    three = network_of("a b c [s]", "a b c - s: 1")
    assert most_summed(three, 1, 2, 0) == pytest.approx(500, rel=2e-3)
    assert most_summed(three, 1, 3, 0) == pytest.approx(1500, rel=2e-3)
