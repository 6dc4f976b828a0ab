"""Certificates of least times to try checks on: of every kind of proof, found or made by hand."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

from forestcoll import certificate_of_time, time_bound
from forestcoll.problem.over_time.time_bound import GossipOverTime, PassesOverTime
from forestcoll.topology import Topology
from tests.hand_networks import network_of

FAN = network_of("r a b c [s]", "r > s: 1 1, s > a b c: 1 1")
PAIRS = network_of("a@0 b@0 c@1 d@1 [s]", "a - b: 1, c - d: 1, a b c d - s: 1")
BEHIND = network_of("a b d [n*] [p] c", "a b d - n: 1, n - p: 1, p - c: 1")
BOXES = "dgx_a100:boxes=2"
TORUS = "torus:dims=3x3"


def written(network: Topology | str, collective: str, size: int, **given: Any) -> dict[str, Any]:
    made = certificate_of_time(time_bound(network, collective, size, **given))
    document: dict[str, Any] = made.model_dump(mode="json", by_alias=True)
    return document


def cut() -> dict[str, Any]:
    """28.75 us for 4 MB on two DGX A100 (tests/cut_over_time/test_time_search.py, by hand)."""
    return written(BOXES, "allgather", 4_000_000)


def of_trees() -> dict[str, Any]:
    """30 000 bytes over r -> s at 1 GB/s, and 1 + 1 + 2 us in vain: 34 us."""
    return written(FAN, "broadcast", 10_000, alpha_us=2, root="r")


def of_sums() -> dict[str, Any]:
    return written(TORUS, "allreduce", 10**9)


def of_pairs() -> dict[str, Any]:
    return written(TORUS, "all-to-all", 10**9)


def of_a_switch_that_adds() -> dict[str, Any]:
    """8 KB from n, which has all after 10 us, and to n: 1000 (10 / 3 + 2 (T - 10)) = 16 000."""
    found = time_bound(BEHIND, "allreduce", 8000)
    proof = GossipOverTime(((0, 1, 2, 3, 4), (5,)))
    made = certificate_of_time(replace(found, time_us=Fraction(49, 3), proof=proof))
    document: dict[str, Any] = made.model_dump(mode="json", by_alias=True)
    return document


def of_gossip() -> dict[str, Any]:
    """22 us for 8 KB on two boxes of two (tests/schedule/verification/test_gossip.py, by hand)."""
    return written(PAIRS, "allreduce", 8000)


def of_a_bus() -> dict[str, Any]:
    """214/9 us where a box has 1 GB/s to others (tests/cut_over_time/test_gossip_over_time.py)."""
    return written(PAIRS.with_shared("bus", ["a -> s", "b -> s"], 1), "allreduce", 8000)


def of_two_buses() -> dict[str, Any]:
    """22 us for 7 KB: 2000 bytes from a by l, 4000 from b by k, 8000 to both."""
    network = PAIRS.with_shared("k", ["a -> s", "b -> s"], 1)
    network = network.with_shared("l", ["a -> s", "c -> s"], "1/2")
    found = time_bound(network, "allreduce", 7000)
    proof = GossipOverTime(((0, 1), (2, 3)), ("l", "k"))
    made = certificate_of_time(replace(found, time_us=Fraction(22), proof=proof))
    document: dict[str, Any] = made.model_dump(mode="json", by_alias=True)
    return document


def of_a_wire_both_ways() -> dict[str, Any]:
    """13 us for 6.5 KB from and to a over 1 GB/s (tests/schedule/verification/test_gossip.py)."""
    four = network_of("a b c d [s]", "a b c d - s: 1").with_shared("wire", "a - s", 1)
    found = time_bound(four, "allreduce", 6500)
    proof = GossipOverTime(((0,), (1, 2, 3)), ("wire",))
    made = certificate_of_time(replace(found, time_us=Fraction(13), proof=proof))
    document: dict[str, Any] = made.model_dump(mode="json", by_alias=True)
    return document


def of_a_bus_inwards() -> dict[str, Any]:
    """214/9 us again, since what a box gets counts as what it sends."""
    network = PAIRS.with_shared("bus", ["s -> a", "s -> b"], 1)
    found = time_bound(network, "allreduce", 8000)
    proof = GossipOverTime(((0, 1), (2, 3)), ("bus",))
    made = certificate_of_time(replace(found, time_us=Fraction(214, 9), proof=proof))
    document: dict[str, Any] = made.model_dump(mode="json", by_alias=True)
    return document


def of_a_root(collective: str, wire: str) -> dict[str, Any]:
    """28 us for 4 KB over a wire, and 9 GB/s back (tests/schedule/verification/test_gossip.py)."""
    network = network_of("a b c d", f"a - b: 1, c - d: 1, {wire}, {wire[4]} > {wire[0]}: 9")
    found = time_bound(network, collective, 4000, root=0)
    made = certificate_of_time(
        replace(found, time_us=Fraction(28), proof=GossipOverTime(((0, 1), (2, 3))))
    )
    document: dict[str, Any] = made.model_dump(mode="json", by_alias=True)
    return document


def of_a_broadcast() -> dict[str, Any]:
    return of_a_root("broadcast", "b > c: 1")


def of_a_reduce() -> dict[str, Any]:
    return of_a_root("reduce", "c > b: 1")


def of_own_gpus() -> dict[str, Any]:
    """28 us for 6.5 KB, which count for the GPUs of the set that they enter (same file)."""
    network = network_of(
        "a c d e f", "a > c: 1, c - d: 1 10, c - e: 1, e - f: 1 10, e - d: 1, c > a: 1"
    )
    found = time_bound(network, "broadcast", 6500, root=0)
    proof = GossipOverTime(((0,), (1, 2), (3, 4)))
    made = certificate_of_time(replace(found, time_us=Fraction(28), proof=proof))
    document: dict[str, Any] = made.model_dump(mode="json", by_alias=True)
    return document


def of_copies() -> dict[str, Any]:
    """23 us for 8 KB, with 10 us in which a alone sends (tests of ``rooted_gossip``)."""
    return written(network_of("a b c [s]", "a b c - s: 1"), "broadcast", 8000, root=0)


def of_late_copies() -> dict[str, Any]:
    """The same with what leaves the root for both (tests of ``rooted_gossip``)."""
    document = of_copies()
    document["proof"]["since_us"] = "30"
    return document


def of_a_moment(
    network: Topology, size: int, time_us: int, proof: GossipOverTime
) -> dict[str, Any]:
    """The time of a broadcast from the first GPU, by a proof of ours."""
    found = time_bound(network, "broadcast", size, root=0)
    made = certificate_of_time(replace(found, time_us=Fraction(time_us), proof=proof))
    document: dict[str, Any] = made.model_dump(mode="json", by_alias=True)
    return document


def of_hops() -> dict[str, Any]:
    """60 us for 80 500 bytes, with a hop of 13 us between two sets (same file)."""
    network = network_of("a b c d", "a - b: 1, b - c: 1, c > d: 1 3, d > c: 1 5, a > d: 1")
    proof = GossipOverTime(((0,), (1, 2), (3,)), since_us=Fraction(30))
    return of_a_moment(network, 80_500, 60, proof)


def of_halves() -> dict[str, Any]:
    """40 us for 25 KB to two pairs, whose second GPUs are far from the first (same file)."""
    network = network_of(
        "a b c d e", "a > b d: 1, d > b c: 1, b > c: 1 20, d > e: 1 20, c e > a: 1 30"
    )
    proof = GossipOverTime(((0,), (1, 2), (3, 4)), since_us=Fraction(20))
    return of_a_moment(network, 25_000, 40, proof)


def of_a_switch_at_home() -> dict[str, Any]:
    """12 us for 2 KB, from 10 us on out of the switch in the root's set (same file)."""
    network = network_of("a c [s]", "a > s: 1, s > c: 1, c > a: 1")
    return of_a_moment(network, 2000, 12, GossipOverTime(((0, 2), (1,)), since_us=Fraction(100)))


def of_a_bus_from_a_root() -> dict[str, Any]:
    """18 us for 1 KB over 1/4 GB/s, to a root whose box has it inwards."""
    return written(PAIRS.with_shared("bus", ["s -> a", "s -> b"], "1/4"), "reduce", 1000, root=0)


def of_passes() -> dict[str, Any]:
    """20 us for 10 KB on three GPUs (tests/schedule/verification/test_passes.py, by hand)."""
    three = network_of("a b c [s*]", "a b c - s: 1, a - b: 1")
    found = time_bound(three, "allreduce", 10_000)
    proof = PassesOverTime(((0,), (1,), (2,)), Fraction(10))
    made = certificate_of_time(replace(found, time_us=Fraction(20), proof=proof))
    document: dict[str, Any] = made.model_dump(mode="json", by_alias=True)
    return document


def of_passes_of_pairs() -> dict[str, Any]:
    """30 us for 70/3 KB on two pairs (same file)."""
    pairs = network_of("a@0 b@0 c@1 d@1 [s*]", "a - b: 1, c - d: 1, a b c d - s: 3")
    found = time_bound(pairs, "allreduce", 70_000)
    proof = PassesOverTime(((0, 1), (2, 3)), Fraction(10))
    made = certificate_of_time(replace(found, time_us=Fraction(30), proof=proof))
    document: dict[str, Any] = made.model_dump(mode="json", by_alias=True)
    return document


MAKERS = {
    "passes": of_passes,
    "passes of pairs": of_passes_of_pairs,
    "broadcast": of_a_broadcast,
    "reduce": of_a_reduce,
    "own": of_own_gpus,
    "copies": of_copies,
    "late copies": of_late_copies,
    "hops": of_hops,
    "halves": of_halves,
    "home": of_a_switch_at_home,
    "root bus": of_a_bus_from_a_root,
    "cut": cut,
    "trees": of_trees,
    "sums": of_sums,
    "pairs": of_pairs,
    "gossip": of_gossip,
    "behind": of_a_switch_that_adds,
    "bus": of_a_bus,
    "buses": of_two_buses,
    "inwards": of_a_bus_inwards,
    "wire": of_a_wire_both_ways,
}
"""By the name of what is special about them."""
