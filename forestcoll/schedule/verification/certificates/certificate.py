"""Proof of a certificate from its own numbers: the bound holds and is attained.

Problem: is the cut as narrow as claimed, or do the prices prove the bound? Does no link carry more
         than U b trees, and is that as fast as the bound allows? Do trees with these link loads
         exist?
Input:   a certificate; nothing in it is trusted.
Output:  a verdict, or the first violation, by name.
Cost:    one pass over the links, and a max-flow for each GPU from those done before: short ones.
Source:  ForestColl section 2 (the cut bound), section 5.5 and appendix E.4 (fixed k), Theorem 5 and
         Edmonds' theorem (trees from flows). Shares no code with what makes certificates.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import overload

from forestcoll.errors import UnsupportedError
from forestcoll.problem.all_to_all_certificate import AllToAllCertificate
from forestcoll.problem.allreduce_certificate import AllreduceCertificate
from forestcoll.problem.certificate_document import (
    AnyCertificate,
    Certificate,
    CertifiedLink,
    LimitOfK,
    OptimumCut,
    OptimumPrices,
    PricedLimitOfK,
    Prices,
    SharedLimit,
)
from forestcoll.problem.collective import collective_of
from forestcoll.problem.over_time.time_certificate import TimeCertificate
from forestcoll.schedule.verification.certificates.allreduce_certificate import (
    AllreduceCertificateVerdict,
    verify_allreduce_certificate,
)
from forestcoll.schedule.verification.certificates.demand_prices import (
    AllToAllCertificateVerdict,
    verify_all_to_all_certificate,
)
from forestcoll.schedule.verification.certificates.least_times import (
    TimeCertificateVerdict,
    verify_time_certificate,
)
from forestcoll.schedule.verification.certificates.priced_bounds import (
    check_priced_limit,
    check_priced_optimum,
)
from forestcoll.schedule.verification.certificates.tree_loads import TreeLoads, check_trees_exist
from forestcoll.schedule.verification.naming import fail

__all__ = ["AnyCertificateVerdict", "CertificateVerdict", "verify_certificate"]


@dataclass(frozen=True, slots=True)
class CertificateVerdict:
    """The proved facts.

    Parameters
    ----------
    collective, network : str
    gpus, roots, links : int
        Counts of the network that the certificate lists.
    k, trees : int
        Trees per unit of weight, and in all.
    congestion, time_s_per_gb, algbw_gb_s : Fraction
        Of the trees, which exist.
    optimal : bool
        Whether no schedule is faster.
    optimal_for_k : bool
        Whether none with so many trees is.
    model : str
        Which schedules the bounds are about, in words.
    """

    collective: str
    network: str
    gpus: int
    roots: int
    links: int
    k: int
    trees: int
    congestion: Fraction
    time_s_per_gb: Fraction
    algbw_gb_s: Fraction
    optimal: bool
    optimal_for_k: bool
    model: str


AnyCertificateVerdict = (
    CertificateVerdict
    | AllreduceCertificateVerdict
    | AllToAllCertificateVerdict
    | TimeCertificateVerdict
)
"""What a certificate proves, by its kind."""


@overload
def verify_certificate(certificate: Certificate) -> CertificateVerdict: ...
@overload
def verify_certificate(certificate: AllreduceCertificate) -> AllreduceCertificateVerdict: ...
@overload
def verify_certificate(certificate: AllToAllCertificate) -> AllToAllCertificateVerdict: ...
@overload
def verify_certificate(certificate: TimeCertificate) -> TimeCertificateVerdict: ...
@overload
def verify_certificate(certificate: AnyCertificate) -> AnyCertificateVerdict: ...
def verify_certificate(certificate: AnyCertificate) -> AnyCertificateVerdict:
    """Verify a certificate from its own numbers.

    Raises
    ------
    VerificationError
        At the first number that is not what the others make it, or claim that they do not prove.
    UnsupportedError
        For anything but a certificate.
    """
    if isinstance(certificate, AllreduceCertificate):
        return verify_allreduce_certificate(certificate)
    if isinstance(certificate, AllToAllCertificate):
        return verify_all_to_all_certificate(certificate)
    if isinstance(certificate, TimeCertificate):
        return verify_time_certificate(certificate)
    if not isinstance(certificate, Certificate):
        raise UnsupportedError(
            f"verify_certificate takes a certificate, not {type(certificate).__name__}; "
            f"read_certificate reads one from a file, certificate_of_time makes one of a TimeBound"
        )
    _check_network(certificate)
    _check_shared(certificate)
    _check_weights(certificate)
    if isinstance(certificate.optimum, OptimumPrices):
        check_priced_optimum(certificate, certificate.optimum)
    else:
        _check_optimum(certificate, certificate.optimum)
    _check_speed(certificate)
    if isinstance(certificate.fixed_k, PricedLimitOfK):
        check_priced_limit(certificate, certificate.fixed_k)
    elif certificate.fixed_k is not None:
        _check_limit(certificate, certificate.fixed_k)
    _check_trees(certificate)
    weights = [gpu.weight for gpu in certificate.gpus]
    limit = certificate.fixed_k
    return CertificateVerdict(
        collective=certificate.collective,
        network=certificate.network,
        gpus=len(weights),
        roots=sum(weight > 0 for weight in weights),
        links=len(certificate.links),
        k=certificate.k,
        trees=certificate.k * sum(weights),
        congestion=certificate.congestion,
        time_s_per_gb=certificate.time_s_per_gb,
        algbw_gb_s=1 / certificate.time_s_per_gb,
        optimal=limit is None,
        optimal_for_k=limit is None or limit.congestion == certificate.congestion,
        model=_FORWARDING if _prices_switches(certificate) else _ANY,
    )


def _check_network(certificate: Certificate) -> None:
    """Every name is that of one node, every link joins two nodes and is listed once."""
    known = [*(gpu.name for gpu in certificate.gpus), *certificate.forwarding]
    _check_once(known, "the nodes name")
    names = set(known)
    _check_once((_link(link) for link in certificate.links), "the links list")
    for link in certificate.links:
        if link.tail not in names or link.head not in names or link.tail == link.head:
            fail(f"link {_link(link)} must join two of the nodes")


_ANY, _FORWARDING = "any schedule", "switches only forward"


def _prices_switches(certificate: Certificate) -> bool:
    """Whether a bound assumes that switches send what they receive only once."""
    bounds = (certificate.optimum, certificate.fixed_k)
    return any(isinstance(one, Prices) and bool(one.switches) for one in bounds)


def _check_shared(certificate: Certificate) -> None:
    """Shared capacities hold links of the network, and what these carry is added up right."""
    carried = {(link.tail, link.head): link.trees for link in certificate.links}
    _check_once((one.name for one in certificate.shared), "the shared capacities name")
    for one in certificate.shared:
        held = [(link.tail, link.head) for link in one.links]
        _check_once((f"{tail} -> {head}" for tail, head in held), f"{one.name} holds")
        if not held or not set(held) <= carried.keys():
            fail(f"{one.name} must hold links of the network, one or more")
        if one.trees != (found := sum(carried[ends] for ends in held)):
            fail(f"the links of {one.name} carry {found} trees, not {one.trees}")


def _check_once(names: Iterable[str], what: str) -> None:
    name, times = max(Counter(names).items(), key=lambda item: item[1], default=("", 1))
    if times > 1:
        fail(f"{what} {name} {times} times; it must be once")


def _check_weights(certificate: Certificate) -> None:
    """Check that the weights match the collective, and every GPU roots k times its weight."""
    weights = [gpu.weight for gpu in certificate.gpus]
    if len(weights) < 2 or math.gcd(*weights) != 1:
        fail(
            f"{len(weights)} GPUs have weights whose common divisor is {math.gcd(*weights)}; "
            f"it must be 1, for two GPUs or more"
        )
    due = collective_of(weights, certificate.is_reduction)
    if certificate.collective != due:
        fail(f"the collective is {certificate.collective}; the weights make it {due}")
    if certificate.k < 1:
        fail("k is 0; there must be a tree")
    for gpu in certificate.gpus:
        if gpu.trees != certificate.k * gpu.weight:
            fail(
                f"{gpu.name} roots {gpu.trees} trees; k times its weight is "
                f"{certificate.k * gpu.weight}"
            )


# --- bounds ------------------------------------------------------------------------------------


def _check_optimum(certificate: Certificate, claim: OptimumCut) -> None:
    """Check the claimed weight, bandwidth and ratio of the cut."""
    crossing = _crossing(certificate, "optimum", claim)
    bandwidth = sum((link.bandwidth_gb_s for link in crossing), start=Fraction(0))
    if claim.bandwidth_gb_s != bandwidth:
        fail(f"the cut of the optimum has links of {bandwidth} GB/s, not {claim.bandwidth_gb_s}")
    if claim.inverse_rate * bandwidth != claim.weight:
        fail(
            f"the optimum claims 1/x* = {claim.inverse_rate}; the cut proves "
            f"{claim.weight / bandwidth if bandwidth else 'nothing'}"
        )


def _check_limit(certificate: Certificate, claim: LimitOfK) -> None:
    """Check that below the claimed congestion, too few trees can cross the cut."""
    crossing = _crossing(certificate, "fixed_k", claim)
    room = sum(math.ceil(claim.congestion * link.bandwidth_gb_s) - 1 for link in crossing)
    lacking = certificate.k * claim.weight - room
    if claim.trees_lacking != lacking or lacking < 1:
        fail(
            f"below {claim.congestion} trees per GB/s the links of the cut of fixed_k carry {room} "
            f"trees, so {lacking} are lacking; {claim.trees_lacking} are claimed, and there must "
            f"be one or more"
        )
    if claim.congestion > certificate.congestion:
        fail(
            f"fixed_k claims that no congestion is below {claim.congestion}, but the forest has "
            f"{certificate.congestion}"
        )


def _crossing(
    certificate: Certificate, what: str, claim: OptimumCut | LimitOfK
) -> list[CertifiedLink]:
    """Check what a cut consists of; return the links that the data of its GPUs must cross."""
    weight = {gpu.name: gpu.weight for gpu in certificate.gpus}
    inside = set(claim.cut)
    _check_once(claim.cut, f"the cut of {what} names")
    if strangers := inside.difference(weight, certificate.forwarding):
        fail(f"the cut of {what} names {min(strangers)}, which is not a node")
    if inside.issuperset(weight):
        fail(f"the cut of {what} holds every GPU; one must be outside")
    due = [name for name in weight if name in inside]
    if sorted(claim.gpus) != sorted(due):
        fail(f"the cut of {what} holds {len(due)} GPUs, not the {len(claim.gpus)} listed")
    if claim.weight != (found := sum(weight[name] for name in due)):
        fail(f"the GPUs in the cut of {what} have a weight of {found}, not {claim.weight}")
    return [
        link
        for link in certificate.links
        if (link.tail in inside) != (link.head in inside)
        and (link.head in inside) == certificate.is_reduction
    ]


def _check_speed(certificate: Certificate) -> None:
    """Check congestion and time from the loads; the time is the bound, unless k limits it."""
    limits: list[CertifiedLink | SharedLimit] = [*certificate.links, *certificate.shared]
    busiest = max(limits, key=lambda one: one.trees / one.bandwidth_gb_s)
    measured = busiest.trees / busiest.bandwidth_gb_s
    if measured != certificate.congestion:
        name = busiest.name if isinstance(busiest, SharedLimit) else f"link {_link(busiest)}"
        fail(
            f"{name} carries {busiest.trees} trees over {busiest.bandwidth_gb_s} "
            f"GB/s: {measured} trees per GB/s, the most of any; the congestion claimed is "
            f"{certificate.congestion}"
        )
    trees = certificate.k * sum(gpu.weight for gpu in certificate.gpus)
    if certificate.time_s_per_gb != certificate.congestion / trees:
        fail(
            f"{trees} trees take {certificate.congestion / trees} s per GB, not "
            f"{certificate.time_s_per_gb}"
        )
    least = certificate.k * certificate.optimum.inverse_rate
    attained = certificate.congestion == least
    if attained != (certificate.fixed_k is None):
        fail(
            f"the congestion is {certificate.congestion}, k / x* is {least}; fixed_k must be null "
            f"if they are equal, and the reason that limits k if not"
        )


def _check_trees(certificate: Certificate) -> None:
    """Check that trees with these loads exist, k times its weight rooted at every GPU."""
    check_trees_exist(
        TreeLoads(
            roots={gpu.name: gpu.trees for gpu in certificate.gpus},
            forwarding=tuple(certificate.forwarding),
            loads={(link.tail, link.head): link.trees for link in certificate.links},
            reduction=certificate.is_reduction,
        )
    )


def _link(link: CertifiedLink) -> str:
    return f"{link.tail} -> {link.head}"
