"""Certificates of least times: labels of a cut over time, prices and a delay, or sets.

Problem: state a bound on time so that a reader without this package can add it up.
Input:   a bound.
Output:  the links with their latencies, and the labels, prices or sets.
Cost:    linear in the links, and in the sets.
Source:  docs/mathematics/time-bound.md; checked by
         :mod:`forestcoll.schedule.verification.certificates.least_times`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, cast

from forestcoll.problem.allreduce_bound import AllreduceBound
from forestcoll.problem.allreduce_certificate import AllreduceShared, SetPrice, SwitchPotential
from forestcoll.problem.certificate_entries import (
    CutPrice,
    ForwardingPrice,
    LimitPrice,
    Prices,
    SharedLink,
)
from forestcoll.problem.over_time.time_bound import (
    DelayedRate,
    GossipOverTime,
    PassesOverTime,
    TimeBound,
    TimeCut,
)
from forestcoll.problem.over_time.time_certificate import (
    DelayedPrices,
    GossipSets,
    NodeLabel,
    PairPrices,
    PassSets,
    SumPrices,
    TimeCertificate,
    TimedGpu,
    TimedLink,
    TimeLabels,
    WholeLimitPrice,
    WholePrice,
)
from forestcoll.problem.price_bound import PriceBound
from forestcoll.topology.model import NodeKind, Topology

__all__ = ["certificate_of_time"]


def certificate_of_time(bound: TimeBound) -> TimeCertificate:
    """Write a bound on time as a certificate.

    Examples
    --------
    >>> from forestcoll import time_bound
    >>> from forestcoll.schedule import verify_certificate
    >>> made = certificate_of_time(time_bound("dgx_a100:boxes=2", size=4_000_000))
    >>> verify_certificate(made).at_least_us
    Fraction(115, 4)
    """
    topology = bound.topology
    names = [node.name for node in topology.nodes]
    return TimeCertificate(
        network=topology.name,
        collective=cast("Literal['allgather']", bound.collective),
        size_bytes=bound.size_bytes,
        alpha_us=bound.alpha_us,
        time_us=bound.time_us,
        proof=_proof(bound, names),
        gpus=[
            TimedGpu(name=names[v], weight=weight)
            for v, weight in zip(topology.compute, bound.weights, strict=True)
        ],
        forwarding=[node.name for node in topology.nodes if node.is_switch],
        relays=[node.name for node in topology.nodes if node.kind is NodeKind.RELAY],
        multicast=[node.name for node in topology.nodes if node.multicast],
        links=[
            TimedLink(
                tail=names[link.tail],
                head=names[link.head],
                bandwidth_gb_s=link.bandwidth_gb_s,
                latency_us=link.latency_us,
            )
            for link in topology.links
        ],
        shared=[
            AllreduceShared(
                name=group.name,
                links=[SharedLink(tail=names[u], head=names[v]) for u, v in group.links],
                bandwidth_gb_s=group.bandwidth_gb_s,
            )
            for group in topology.shared
        ],
    )


def _proof(
    bound: TimeBound, names: list[str]
) -> TimeLabels | DelayedPrices | GossipSets | PassSets:
    proof = bound.proof
    if isinstance(proof, PassesOverTime):
        sets = [[names[v] for v in one] for one in proof.sets]
        return PassSets(sets=sets, reach_us=proof.reach_us)
    if isinstance(proof, GossipOverTime):
        sets = [[names[v] for v in one] for one in proof.sets]
        return GossipSets(sets=sets, shared=list(proof.shared), since_us=proof.since_us)
    if isinstance(proof, TimeCut):
        return TimeLabels(
            labels=[
                NodeLabel(node=name, us=label)
                for name, label in zip(names, proof.labels_us, strict=True)
            ]
        )
    return DelayedPrices(
        delay_us=proof.delay_us,
        algbw_gb_s=proof.algbw_gb_s,
        prices=_prices(proof, bound.topology, names),
    )


def _prices(
    proof: DelayedRate, topology: Topology, names: list[str]
) -> Prices | SumPrices | PairPrices:
    rate = proof.bound

    def named(nodes: Iterable[int]) -> list[str]:
        return [names[v] for v in nodes]

    if isinstance(rate, PriceBound):
        return _pair_prices(rate, topology, names)
    shared = [LimitPrice(name=one.name, price=one.price) for one in rate.shared]
    if isinstance(rate, AllreduceBound):
        return SumPrices(
            sets=[
                SetPrice(nodes=named(one.nodes), gather=one.gather, reduce=one.reduce)
                for one in rate.sets
            ],
            potentials=[
                SwitchPotential(switch=names[one.switch], gather=one.gather, reduce=one.reduce)
                for one in rate.potentials
            ],
            shared=shared,
        )
    return Prices(
        cuts=[CutPrice(nodes=named(one.nodes), price=one.price) for one in rate.cuts],
        switches=[
            ForwardingPrice(switch=names[one.switch], price=one.price) for one in rate.switches
        ],
        shared=shared,
    )


def _pair_prices(rate: PriceBound, topology: Topology, names: list[str]) -> PairPrices:
    links = len(topology.links)
    return PairPrices(
        links=[
            WholePrice(tail=names[link.tail], head=names[link.head], price=price)
            for link, price in zip(topology.links, rate.price, strict=False)
            if price
        ],
        shared=[
            WholeLimitPrice(name=group.name, price=price)
            for group, price in zip(topology.shared, rate.price[links:], strict=True)
            if price
        ],
    )
