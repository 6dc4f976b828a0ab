"""Proof of the bounds of a certificate by prices, from its own numbers.

Problem: do the prices of cuts, forwarding nodes and shared capacities add up to the bound?
Input:   a certificate whose network was checked; nothing else in it is trusted.
Output:  nothing, or the first violation, by name.
Cost:    one pass over the links for each cut.
Source:  weak duality (:mod:`forestcoll.problem.rate_bound`).
"""

from __future__ import annotations

import math
from fractions import Fraction

from forestcoll.problem.certificate_document import (
    Certificate,
    OptimumPrices,
    PricedLimitOfK,
)
from forestcoll.problem.rate_bound import PricedCut, RateBound, SharedPrice, SwitchPrice
from forestcoll.schedule.verification.naming import fail
from forestcoll.schedule.verification.prices import priced_inverse_rate, priced_room, priced_weight
from forestcoll.topology.model import Link, Node, NodeKind, Topology
from forestcoll.topology.shared_capacity import SharedCapacity

__all__ = ["check_priced_limit", "check_priced_optimum"]


def check_priced_optimum(certificate: Certificate, claim: OptimumPrices) -> None:
    """Check that the prices prove the claimed 1/x*."""
    proved = priced_inverse_rate(_bound(certificate, claim), copies=False)
    if claim.inverse_rate != proved:
        fail(f"the optimum claims 1/x* = {claim.inverse_rate}; its prices prove {proved}")


def check_priced_limit(certificate: Certificate, claim: PricedLimitOfK) -> None:
    """Check by prices that below the claimed congestion, the links carry too little."""
    bound = _bound(certificate, claim)
    needed = certificate.k * priced_weight(bound, copies=False)
    room = priced_room(bound, lambda width: math.ceil(claim.congestion * width) - 1)
    if claim.lacking != needed - room or needed <= room:
        fail(
            f"below {claim.congestion} trees per GB/s the links carry {room} at the prices of "
            f"fixed_k, so {needed - room} are lacking; {claim.lacking} are claimed, and it must "
            f"be positive"
        )
    if claim.congestion > certificate.congestion:
        fail(
            f"fixed_k claims that no congestion is below {claim.congestion}, but the forest has "
            f"{certificate.congestion}"
        )


def _bound(certificate: Certificate, claim: OptimumPrices | PricedLimitOfK) -> RateBound:
    """Return the prices as those of the network that the certificate lists."""
    compute = [Node(gpu.name, NodeKind.COMPUTE) for gpu in certificate.gpus]
    switches = [Node(name, NodeKind.SWITCH) for name in certificate.forwarding]
    place = {node.name: i for i, node in enumerate([*compute, *switches])}
    named = {name for cut in claim.cuts for name in cut.nodes}
    if strangers := (named | {one.switch for one in claim.switches}).difference(place):
        fail(f"the prices name {min(strangers)}, which is not a node")
    links = [
        Link(place[link.tail], place[link.head], Fraction(link.bandwidth_gb_s))
        for link in certificate.links
    ]
    shared = [
        SharedCapacity(
            one.name,
            tuple((place[link.tail], place[link.head]) for link in one.links),
            one.bandwidth_gb_s,
        )
        for one in certificate.shared
    ]
    return RateBound(
        topology=Topology(certificate.network, (*compute, *switches), tuple(links), tuple(shared)),
        cuts=tuple(
            PricedCut(tuple(sorted(place[name] for name in cut.nodes)), cut.price)
            for cut in claim.cuts
        ),
        switches=tuple(SwitchPrice(place[one.switch], one.price) for one in claim.switches),
        shared=tuple(SharedPrice(one.name, one.price) for one in claim.shared),
        weights=tuple(gpu.weight for gpu in certificate.gpus),
        reduction=certificate.is_reduction,
    )
