"""Labels and delays added up again; changed ones are refused."""

import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from forestcoll import time_bound
from forestcoll.core.partition_bound import best_known_bound
from forestcoll.errors import VerificationError
from forestcoll.problem.demand import Demand
from forestcoll.problem.over_time.time_bound import DelayedRate, TimeBound, TimeCut
from forestcoll.problem.price_bound import PriceBound
from forestcoll.problem.rate_bound import RateBound
from forestcoll.schedule import verify_time_bound
from forestcoll.topology import SharedCapacity, group, load_topology
from tests.hand_networks import network_of

SIZE = 4_000_000
FAN = network_of("r a b c [s]", "r > s: 1 1, s > a b c: 1 1")


def of_boxes(collective: str = "allgather") -> TimeBound:
    return time_bound("dgx_a100:boxes=2", collective, SIZE)


def of_the_fan() -> TimeBound:
    return time_bound(FAN, "broadcast", 10_000, 2, root="r")


def of_rings() -> TimeBound:
    """A large allreduce, whose partition bound is the sharper one."""
    return time_bound("torus:dims=3x3", "allreduce", 10**9)


def refused(bound: TimeBound, message: str) -> None:
    with pytest.raises(VerificationError, match=message):
        verify_time_bound(bound)


def relabelled(bound: TimeBound, change: Callable[[list[Fraction]], None]) -> TimeBound:
    assert isinstance(bound.proof, TimeCut)
    labels = list(bound.proof.labels_us)
    change(labels)
    return replace(bound, proof=TimeCut(tuple(labels)))


def test_labels_by_hand():
    """2 of 4 MB come into box 0: 8 NICs for 8.75 us, and that of GPU 0 for 10 us more."""
    assert 25_000 * (8 * Fraction("8.75") + 10) == 2_000_000
    assert verify_time_bound(of_boxes()) == Fraction("28.75")
    assert verify_time_bound(of_boxes("reduce-scatter")) == Fraction("28.75")


def test_delays_by_hand():
    """30 000 bytes over r -> s, in vain for 1 + 2 us before s and 1 us behind it."""
    assert verify_time_bound(of_the_fan()) == 34


def test_a_partition_bound_with_its_delay():
    bound = of_rings()
    assert isinstance(bound.proof, DelayedRate)
    assert verify_time_bound(bound) == bound.time_us


@pytest.mark.parametrize("node", range(19))
def test_a_label_that_moves_is_refused_or_still_proves(node: int):
    """Earlier or later by 1 us: the links carry more, or less must cross."""
    bound = of_boxes()
    kept = 0
    for step in (-1, 1):

        def move(labels: list[Fraction], step: int = step) -> None:
            labels[node] = min(max(labels[node] + step, Fraction(0)), bound.time_us)

        try:
            kept += verify_time_bound(relabelled(bound, move)) == bound.time_us
        except VerificationError:
            continue
    assert kept < 2


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter", "allreduce", "all-to-all"])
def test_a_later_time_is_refused(collective: str):
    """With the labels stretched, or with those of the sinks alone moved."""
    bound = of_boxes(collective)
    assert isinstance(bound.proof, TimeCut)
    stretch = Fraction(1001, 1000)
    late = replace(bound, time_us=bound.time_us * stretch)
    longer = TimeCut(tuple(label * stretch for label in bound.proof.labels_us))
    refused(replace(late, proof=longer), "more than the")
    moved = tuple(late.time_us if t == bound.time_us else t for t in bound.proof.labels_us)
    refused(replace(late, proof=TimeCut(moved)), "more than the")
    refused(late, "needs a GPU with the label 0")


def test_an_earlier_time_is_proved_by_shorter_labels():
    bound = of_boxes()
    assert isinstance(bound.proof, TimeCut)
    half = TimeCut(tuple(label / 2 for label in bound.proof.labels_us))
    assert verify_time_bound(replace(bound, time_us=bound.time_us / 2, proof=half)) == Fraction(
        "14.375"
    )


@pytest.mark.parametrize("seed", range(60))
def test_random_labels_prove_no_more_than_the_search_finds(seed: int):
    """Labels that the checker accepts give a valid bound; the search found the largest."""
    chance = random.Random(seed)
    network = load_topology("ring:nodes=4") if seed % 2 else FAN
    given = {"collective": "broadcast", "root": 0} if network is FAN else {}
    bound = time_bound(network, size=8000, alpha_us=1, **given)
    later = bound.time_us * Fraction(chance.randint(1001, 1300), 1000)
    ticks = [Fraction(0), later, *(later * chance.randint(0, 8) / 8 for _ in range(4))]
    labels = tuple(chance.choice(ticks) for _ in network.nodes)
    with pytest.raises(VerificationError):
        verify_time_bound(replace(bound, time_us=later, proof=TimeCut(labels)))


def first(value: Any) -> Callable[[list[Any]], None]:
    def change(labels: list[Any]) -> None:
        labels[0] = value

    return change


MUTANTS: dict[str, tuple[Callable[[], TimeBound], str]] = {
    "short": (lambda: relabelled(of_boxes(), lambda labels: labels.pop() and None), "labels; the"),
    "float": (lambda: relabelled(of_boxes(), first(28.75)), "must be a Fraction"),
    "negative": (lambda: relabelled(of_boxes(), first(Fraction(-1))), "must be a Fraction"),
    "beyond": (lambda: relabelled(of_boxes(), first(Fraction(29))), "must be a Fraction"),
    "no sink": (lambda: relabelled(of_boxes(), first(Fraction(1))), "needs a GPU"),
    "smaller size": (lambda: replace(of_boxes(), size_bytes=SIZE - 1), "more than the"),
    "no size": (lambda: replace(of_boxes(), size_bytes=0), "whole number"),
    "less alpha": (lambda: replace(of_boxes(), alpha_us=Fraction(9)), "more than the"),
    "no alpha": (lambda: replace(of_boxes(), alpha_us=Fraction(-1)), "from 0 up"),
    "float time": (lambda: replace(of_boxes(), time_us=28.75), "must be a Fraction"),
    "collective": (lambda: replace(of_boxes(), collective="gossip"), "no known"),
    "backwards": (lambda: replace(of_boxes(), collective="reduce-scatter"), "more than the"),
    "no weights": (lambda: replace(of_boxes(), weights=(0,) * 16), "all 0"),
    "few weights": (lambda: replace(of_boxes(), weights=(1,) * 15), "a weight from 0 up"),
    "weights of pairs": (
        lambda: replace(of_boxes("all-to-all"), weights=(2, *[1] * 15)),
        "all must be 1",
    ),
    "root": (lambda: replace(of_the_fan(), root=1), "1 at its root"),
    "no data": (
        lambda: relabelled(replace(of_boxes(), weights=(1, *[0] * 15)), lambda labels: None),
        "no data must cross",
    ),
    "network": (
        lambda: replace(of_boxes(), topology=load_topology("dgx_h100:boxes=2")),
        "more than the|labels; the",
    ),
    "late rate": (lambda: replace(of_the_fan(), time_us=Fraction(35)), "prove 34"),
    "long delay": (
        lambda: replace(of_the_fan(), proof=replace(delayed(of_the_fan()), delay_us=Fraction(5))),
        "claims a delay",
    ),
    "rate of another network": (
        lambda: replace(
            of_the_fan(), topology=load_topology("dgx_a100:boxes=2"), weights=(1, *[0] * 15)
        ),
        "another topology",
    ),
    "rate the other way": (
        lambda: replace(of_the_fan(), collective="reduce"),
        "another collective",
    ),
    "rate of trees": (
        lambda: replace(of_the_fan(), collective="allreduce", weights=(1,) * 4),
        "trees one way",
    ),
    "rate of pairs": (lambda: replace(of_rings(), collective="allgather"), "of an allreduce"),
    "rate at roots": (
        lambda: replace(
            of_rings(),
            proof=replace(
                delayed(of_rings()), bound=replace(delayed(of_rings()).bound, weights=(1,) * 9)
            ),
        ),
        "it must allow all",
    ),
    "rate without copies": (
        lambda: multicast_switch(),
        "may multicast and reduce",
    ),
}


def delayed(bound: TimeBound) -> DelayedRate:
    assert isinstance(bound.proof, DelayedRate)
    return bound.proof


def multicast_switch() -> TimeBound:
    """The fan's proof, with a switch that multicasts."""
    bound = of_the_fan()
    nodes = tuple(replace(node, multicast=node.is_switch) for node in FAN.nodes)
    network = replace(FAN, nodes=nodes)
    rate = replace(delayed(bound).bound, topology=network)
    return replace(bound, topology=network, proof=replace(delayed(bound), bound=rate))


@pytest.mark.parametrize("name", MUTANTS)
def test_a_changed_bound_is_refused(name: str):
    make, message = MUTANTS[name]
    refused(make(), message)


def of_pairs() -> TimeBound:
    """A large all-to-all on a torus, proved by prices of its links: 1/3 ms a MB after 10 us."""
    return time_bound("torus:dims=3x3", "all-to-all", 10**9)


def test_prices_of_pairs_with_their_delay():
    bound = of_pairs()
    assert isinstance(delayed(bound).bound, PriceBound)
    assert verify_time_bound(bound) == 10 + Fraction(10**6, 3)


def with_rate(bound: TimeBound, **changed: Any) -> TimeBound:
    """The bound with another proof of its rate."""
    proof = delayed(bound)
    return replace(bound, proof=replace(proof, bound=replace(proof.bound, **changed)))


def test_prices_of_other_pairs_are_refused():
    bound = of_pairs()
    refused(with_rate(bound, demand=Demand.of_matrix([[0] * 9] * 8 + [[1] * 8 + [0]])), "of chunks")
    refused(replace(bound, collective="allreduce"), "chunks for pairs of GPUs, not of allreduce")
    gathered = replace(bound, collective="allgather")
    refused(gathered, "chunks for pairs of GPUs, not of allgather")
    refused(with_rate(bound, price=(0,) * 36), "all prices are 0")
    # Price 1 on the links out of a switch that leads nowhere costs no pair anything.
    blind = network_of("a b [s]", "a - b, a > s: 1, s > b: 1")
    large = time_bound(blind, "all-to-all", 10**6, 1)
    of_s = PriceBound(blind, None, (0, 1, 0, 0), Fraction(1))
    refused(replace(large, proof=DelayedRate(of_s, Fraction(0))), "cost no pair anything")


@pytest.mark.parametrize("wrong", [2.0, -1, True, Fraction(1)])
def test_weights_are_whole_numbers(wrong: Any):
    bound = of_boxes()
    refused(replace(bound, weights=(wrong, *bound.weights[1:])), "a weight from 0 up")


@pytest.mark.parametrize("wrong", [True, 1.0, -1, 0])
def test_sizes_are_whole_numbers(wrong: Any):
    refused(replace(of_boxes(), size_bytes=wrong), "a size is a whole number from 1")


def shared_delay(*held: tuple[int, int]) -> TimeBound:
    """A large allgather over switches s and t, and a shared capacity of some links.

    A link costs 1 us, and 2 more if a GPU sends. t leads nowhere.
    """
    network = network_of("a b [s] [t]", "a b - s: 1 1, s > t: 1 1")
    groups = (SharedCapacity("wire", held, Fraction(3, 2)),)
    shared = replace(network, shared=groups)
    rate = RateBound.of_cut(shared, [0, 2, 3], (1, 1), reduction=False)
    return TimeBound(
        topology=shared,
        collective="allgather",
        root=None,
        weights=(1, 1),
        size_bytes=10**6,
        alpha_us=Fraction(2),
        time_us=Fraction(500),
        proof=DelayedRate(rate, Fraction(0)),
    )


@pytest.mark.parametrize(
    ("held", "delay"),
    [
        (((2, 0), (2, 1)), 4),  # behind s: from 3 us on, until 1 before the end
        (((0, 2), (1, 2)), 4),  # before s: from 0 on, until 4 before the end
        (((0, 2), (2, 1)), 1),  # both: from 0 on, until 1 before the end
        (((0, 2), (2, 3)), 4),  # what leads nowhere does not count
        (((2, 3),), 4),  # nor alone
    ],
)
def test_the_delay_of_shared_capacities_by_hand(held: tuple[tuple[int, int], ...], delay: int):
    bound = shared_delay(*held)
    proof = delayed(bound)
    right = replace(
        bound, time_us=500 + Fraction(delay), proof=replace(proof, delay_us=Fraction(delay))
    )
    assert verify_time_bound(right) == 500 + delay
    refused(replace(right, time_us=right.time_us + Fraction(1, 1000)), "rate and the delay prove")
    over = replace(proof, delay_us=Fraction(delay) + Fraction(1, 1000))
    refused(replace(right, proof=over), f"links are of no use for {delay}")


def test_a_delay_of_the_wrong_kind_is_refused():
    bound = of_the_fan()
    refused(replace(bound, proof=replace(delayed(bound), delay_us=4.0)), "claims a delay of 4.0")


def test_links_of_gpus_outside_the_group_cost_alpha():
    """A -> b -> c, 1 us each, b outside: 2 (3 + 1) us, and 1 for 1000 bytes over 1 GB/s."""
    line = group(network_of("a b c", "a - b: 1 1, b - c: 1 1"), ["a", "c"], idle="forward")
    bound = time_bound(line, "broadcast", 1000, 3, root="a")
    assert verify_time_bound(bound) == 9
    refused(replace(bound, alpha_us=Fraction(2)), "more than the")


def test_parts_of_a_byte_cross_too():
    """One byte of 16 GPUs: half of it must come into a box."""
    bound = time_bound("dgx_a100:boxes=2", "allgather", 1)
    assert verify_time_bound(bound) == bound.time_us


def test_sums_where_switches_only_forward_are_no_proof_where_some_add():
    """The partition bound of a torus, with a switch beside it that may add."""
    names = " ".join(f"g{i}" for i in range(3))
    network = network_of(f"{names} [s]", "g0 - g1, g1 - g2, g2 - g0, g0 - s")
    bound = best_known_bound(network)
    assert bound is not None
    nodes = tuple(replace(node, multicast=node.is_switch) for node in network.nodes)
    marked = replace(network, nodes=nodes)
    claim = TimeBound(
        topology=marked,
        collective="allreduce",
        root=None,
        weights=(1, 1, 1),
        size_bytes=1000,
        alpha_us=Fraction(0),
        time_us=Fraction(1, 1000),
        proof=DelayedRate(replace(bound, topology=marked, multicast=False), Fraction(0)),
    )
    refused(claim, "some may multicast and reduce")
    adding = replace(bound, topology=marked, multicast=True, potentials=())
    assert verify_time_bound(replace(claim, proof=DelayedRate(adding, Fraction(0)))) > 0
