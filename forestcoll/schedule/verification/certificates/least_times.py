"""Proof of the certificate of a least time from its own numbers.

Problem: do the labels, the prices and the delay, or the sets prove the time that is claimed?
Input:   a certificate; nothing in it is trusted.
Output:  a verdict, or the first violation, by name.
Cost:    that of :func:`forestcoll.schedule.verification.time_bounds.verify_time_bound`.
Source:  docs/mathematics/time-bound.md. Shares no code with the search. A cut over time must carry
         no more than must cross it; a rate after a delay must give the very time.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.errors import InvalidTopologyError
from forestcoll.problem.allreduce_bound import AllreduceBound, Potential, PricedSet
from forestcoll.problem.over_time.time_bound import (
    DelayedRate,
    GossipOverTime,
    PassesOverTime,
    TimeBound,
    TimeCut,
    TimeProof,
)
from forestcoll.problem.over_time.time_certificate import (
    DelayedPrices,
    GossipSets,
    PairPrices,
    PassSets,
    SumPrices,
    TimeCertificate,
    TimeLabels,
)
from forestcoll.problem.price_bound import PriceBound
from forestcoll.problem.rate_bound import PricedCut, RateBound, SharedPrice, SwitchPrice
from forestcoll.schedule.verification.naming import fail
from forestcoll.schedule.verification.time_bounds import proved_rate, verify_time_bound
from forestcoll.topology.model import Link, Node, NodeKind, SharedCapacity, Topology

__all__ = ["TimeCertificateVerdict", "verify_time_certificate"]

_MOST_WORK = 20_000_000
"""Priced sets, or GPUs of an all-to-all, times links."""

_MOST_BITS = 2000
"""Of the common denominator of all bandwidths, latencies, labels and prices."""

_KINDS = {
    TimeCut: "cut over time",
    DelayedRate: "rate after a delay",
    GossipOverTime: "gossip over time",
    PassesOverTime: "passes over time",
}

_ROOTED = ("broadcast", "reduce")
_BACKWARD = ("reduce", "reduce-scatter")


@dataclass(frozen=True, slots=True)
class TimeCertificateVerdict:
    """The proved facts.

    Parameters
    ----------
    network, collective : str
    gpus, links : int
        Counts of what the certificate lists.
    size_bytes : int
        As nccl-tests counts it.
    alpha_us : Fraction
        Latency of a link that a GPU sends on, beside its own.
    at_least_us : Fraction
        No schedule of ``model`` ends earlier.
    at_most_gb_s : Fraction
        The size over that time.
    proof : str
        "cut over time", "rate after a delay", "gossip over time" or "passes over time".
    model : str
        Which schedules the bound is about, in words.
    """

    network: str
    collective: str
    gpus: int
    links: int
    size_bytes: int
    alpha_us: Fraction
    at_least_us: Fraction
    at_most_gb_s: Fraction
    proof: str
    model: str


def verify_time_certificate(certificate: TimeCertificate) -> TimeCertificateVerdict:
    """Verify a certificate from its own numbers.

    Raises
    ------
    VerificationError
        At the first number that is not what the others make it, or claim that they do not prove; or
        if its numbers are too many or too long to check.
    """
    _check_amount(certificate)
    topology = _network(certificate)
    bound = TimeBound(
        topology=topology,
        collective=certificate.collective,
        root=_root(certificate),
        weights=tuple(gpu.weight for gpu in certificate.gpus),
        size_bytes=certificate.size_bytes,
        alpha_us=certificate.alpha_us,
        time_us=certificate.time_us,
        proof=_proof(certificate, topology),
    )
    if isinstance(bound.proof, DelayedRate):
        _check_delayed(bound, bound.proof, certificate.proof)
    verify_time_bound(bound)
    return TimeCertificateVerdict(
        network=certificate.network,
        collective=certificate.collective,
        gpus=len(certificate.gpus),
        links=len(certificate.links),
        size_bytes=certificate.size_bytes,
        alpha_us=certificate.alpha_us,
        at_least_us=certificate.time_us,
        at_most_gb_s=certificate.size_bytes / (1000 * certificate.time_us),
        proof=_KINDS[type(bound.proof)],
        model=bound.model,
    )


# --- the network -------------------------------------------------------------------------------


def _network(certificate: TimeCertificate) -> Topology:
    """Return the network that is listed; names must be of one node, link or shared capacity."""
    _check_once([gpu.name for gpu in certificate.gpus], "the GPUs")
    nodes = [gpu.name for gpu in certificate.gpus] + certificate.forwarding
    if len(certificate.gpus) < 2:
        fail(f"{len(certificate.gpus)} GPU has no other GPU to send to")
    relays, multicast = set(certificate.relays), set(certificate.multicast)
    if strangers := (relays | multicast).difference(certificate.forwarding):
        fail(f"{min(strangers)} is a relay or multicasts, but is not among those that forward")
    if both := relays & multicast:
        fail(f"{min(both)} is a GPU; only switches multicast")
    kinds = [NodeKind.COMPUTE] * len(certificate.gpus)
    kinds += [NodeKind.RELAY if v in relays else NodeKind.SWITCH for v in certificate.forwarding]
    place = _places(nodes)
    ends = [(link.tail, link.head) for link in certificate.links]
    _check_once([f"{tail} -> {head}" for tail, head in ends], "the links")
    links = [
        Link(_of(place, one.tail), _of(place, one.head), one.bandwidth_gb_s, one.latency_us)
        for one in certificate.links
    ]
    shared = []
    for group in certificate.shared:
        held = [(_of(place, one.tail), _of(place, one.head)) for one in group.links]
        _check_once(held, f"the links of {group.name}")
        shared.append(SharedCapacity(group.name, tuple(held), group.bandwidth_gb_s))
    try:
        return Topology(
            certificate.network,
            tuple(
                Node(name, kind, multicast=name in multicast)
                for name, kind in zip(nodes, kinds, strict=True)
            ),
            tuple(links),
            tuple(shared),
        )
    except InvalidTopologyError as error:
        fail(f"the network of the certificate is wrong: {error}")


def _check_amount(certificate: TimeCertificate) -> None:
    """Refuse numbers whose sums would take too long."""
    sets, numbers = _of_proof(certificate)
    if sets * len(certificate.links) > _MOST_WORK:
        fail(
            f"{sets} priced sets or GPUs and {len(certificate.links)} links are too many to check: "
            f"at most {_MOST_WORK} of both multiplied"
        )
    for link in certificate.links:
        numbers += (link.latency_us, link.bandwidth_gb_s)
    numbers += [one.bandwidth_gb_s for one in certificate.shared]
    common = 1
    for part in {number.denominator for number in numbers}:
        common = math.lcm(common, part)
        if common.bit_length() > _MOST_BITS:
            fail(f"its numbers have a common denominator of over {_MOST_BITS} bits")


def _of_proof(certificate: TimeCertificate) -> tuple[int, list[Fraction]]:
    """Return the number of priced sets (or of GPUs that search), and all numbers of the proof."""
    proof = certificate.proof
    if isinstance(proof, TimeLabels):
        return 1, [one.us for one in proof.labels]
    if isinstance(proof, GossipSets):
        return 2 * len(certificate.gpus), []
    if isinstance(proof, PassSets):
        return 2 * len(certificate.gpus) + 6 * len(proof.sets), []
    prices = proof.prices
    if isinstance(prices, PairPrices):
        return len(certificate.gpus), []
    numbers = [one.price for one in prices.shared]
    if isinstance(prices, SumPrices):
        numbers += [price for one in prices.sets for price in (one.gather, one.reduce)]
        numbers += [price for one in prices.potentials for price in (one.gather, one.reduce)]
        return len(prices.sets) + len(prices.potentials), numbers
    numbers += [one.price for one in prices.cuts] + [one.price for one in prices.switches]
    return len(prices.cuts) + len(prices.switches), numbers


def _check_once(names: Iterable[object], what: str) -> None:
    name, times = max(Counter(names).items(), key=lambda item: item[1], default=("", 1))
    if times > 1:
        fail(f"{what} have {name} {times} times; it must be once")


def _places(nodes: list[str]) -> dict[str, int]:
    return {name: v for v, name in enumerate(nodes)}


def _of(place: dict[str, int], name: str) -> int:
    if name not in place:
        fail(f"{name} is not a node")
    return place[name]


# --- the proof ---------------------------------------------------------------------------------


def _root(certificate: TimeCertificate) -> int | None:
    """Return the first GPU with data of a rooted collective; the bound's check finds others."""
    if certificate.collective not in _ROOTED:
        return None
    return next((rank for rank, one in enumerate(certificate.gpus) if one.weight), None)


def _proof(certificate: TimeCertificate, topology: Topology) -> TimeProof:
    """Return the proof in terms of positions."""
    place = _places([node.name for node in topology.nodes])
    proof = certificate.proof
    if isinstance(proof, TimeLabels):
        _check_once([one.node for one in proof.labels], "the labels")
        labels = {_of(place, one.node): one.us for one in proof.labels}
        missing = [node.name for v, node in enumerate(topology.nodes) if v not in labels]
        if missing:
            fail(f"{missing[0]} has no label; each node must have one")
        return TimeCut(tuple(labels[v] for v in range(len(topology.nodes))))
    if isinstance(proof, GossipSets):
        sets = tuple(_set(one, place) for one in proof.sets)
        return GossipOverTime(sets, tuple(proof.shared), proof.since_us)
    if isinstance(proof, PassSets):
        return PassesOverTime(tuple(_set(one, place) for one in proof.sets), proof.reach_us)
    return DelayedRate(_bound(certificate, topology, proof, place), proof.delay_us)


def _bound(
    certificate: TimeCertificate,
    topology: Topology,
    proof: DelayedPrices,
    place: dict[str, int],
) -> RateBound | AllreduceBound | PriceBound:
    """Return the bound on the rate, whose claims are yet to be proved."""
    prices = proof.prices
    if isinstance(prices, PairPrices):
        unproved = Fraction(0)  # the prices alone count
        return PriceBound(topology, None, _whole_prices(prices, topology, place), unproved)
    shared = tuple(SharedPrice(one.name, one.price) for one in prices.shared)
    if isinstance(prices, SumPrices):
        sets = (PricedSet(_set(one.nodes, place), one.gather, one.reduce) for one in prices.sets)
        potentials = (
            Potential(_of(place, one.switch), one.gather, one.reduce) for one in prices.potentials
        )
        return AllreduceBound(
            topology,
            proof.algbw_gb_s,
            tuple(sets),
            tuple(potentials),
            multicast=bool(certificate.multicast),
            shared=shared,
        )
    return RateBound(
        topology,
        tuple(PricedCut(_set(one.nodes, place), one.price) for one in prices.cuts),
        tuple(SwitchPrice(_of(place, one.switch), one.price) for one in prices.switches),
        shared,
        tuple(gpu.weight for gpu in certificate.gpus),
        reduction=certificate.collective in _BACKWARD,
    )


def _set(names: list[str], place: dict[str, int]) -> tuple[int, ...]:
    return tuple(_of(place, name) for name in names)


def _whole_prices(prices: PairPrices, topology: Topology, place: dict[str, int]) -> tuple[int, ...]:
    """Return a price of each link and then of each shared capacity, 0 for those not named."""
    _check_once([f"{one.tail} -> {one.head}" for one in prices.links], "the prices of links")
    _check_once([one.name for one in prices.shared], "the prices of shared capacities")
    of_link = {(_of(place, one.tail), _of(place, one.head)): one.price for one in prices.links}
    of_group = {one.name: one.price for one in prices.shared}
    if strangers := of_link.keys() - topology.link_between.keys():
        tail, head = (topology.nodes[v].name for v in min(strangers))
        fail(f"link {tail} -> {head} has a price, but does not exist")
    if names := of_group.keys() - {group.name for group in topology.shared}:
        fail(f"{min(names)} has a price, but is no shared capacity")
    return (
        *(of_link.get((link.tail, link.head), 0) for link in topology.links),
        *(of_group.get(group.name, 0) for group in topology.shared),
    )


def _check_delayed(bound: TimeBound, proof: DelayedRate, claim: object) -> None:
    """Check that the claimed rate is what the prices prove, and the time what both prove."""
    assert isinstance(claim, DelayedPrices)
    rate = proved_rate(bound, proof.bound)
    if rate != claim.algbw_gb_s:
        fail(f"the certificate claims {claim.algbw_gb_s} GB/s, but its prices prove {rate}")
    time = proof.delay_us + bound.size_bytes / (1000 * rate)
    if time != bound.time_us:
        fail(f"the certificate claims {bound.time_us} us; its rate and delay make {time}")
