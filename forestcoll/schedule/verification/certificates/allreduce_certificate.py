"""Proof of the certificate of an allreduce from its own numbers.

Problem: do the prices prove the bound, do the loads give the time, and do trees with these link
         loads exist?
Input:   a certificate; nothing in it is trusted.
Output:  a verdict, or the first violation, by name.
Cost:    one pass over the links and sets, and two max-flows for each GPU.
Source:  weak duality (:mod:`forestcoll.problem.allreduce_bound`), Theorem 5 and Edmonds' theorem.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.problem.allreduce_bound import AllreduceBound, Potential, PricedSet
from forestcoll.problem.allreduce_certificate import AllreduceCertificate, AllreduceLink
from forestcoll.problem.rate_bound import SharedPrice
from forestcoll.schedule.verification.certificates.tree_loads import TreeLoads, check_trees_exist
from forestcoll.schedule.verification.naming import fail
from forestcoll.schedule.verification.trees.allreduce import check_bound
from forestcoll.topology.model import Link, Node, NodeKind, SharedCapacity, Topology

__all__ = ["AllreduceCertificateVerdict", "verify_allreduce_certificate"]


@dataclass(frozen=True, slots=True)
class AllreduceCertificateVerdict:
    """The proved facts.

    Parameters
    ----------
    network : str
    gpus, roots, links : int
        Counts of the network that the certificate lists; roots have a weight.
    time_s_per_gb, algbw_gb_s : Fraction
        Of both phases at once; trees that do so exist.
    bound_gb_s : Fraction
        No allreduce of ``model`` is faster.
    model : str
    optimal : bool
        Whether the bound is attained.
    """

    network: str
    gpus: int
    roots: int
    links: int
    time_s_per_gb: Fraction
    algbw_gb_s: Fraction
    bound_gb_s: Fraction
    model: str
    optimal: bool

    @property
    def collective(self) -> str:
        """Always "allreduce"."""
        return "allreduce"


def verify_allreduce_certificate(certificate: AllreduceCertificate) -> AllreduceCertificateVerdict:
    """Verify a certificate from its own numbers.

    Raises
    ------
    VerificationError
        At the first number that is not what the others make it, or claim that they do not prove.
    """
    _check_network(certificate)
    weights = tuple(gpu.weight for gpu in certificate.gpus)
    if len(weights) < 2 or math.gcd(*weights) != 1:
        fail(f"the weights of {len(weights)} GPUs must have the common divisor 1, for 2 or more")
    bound = _bound(certificate, weights)
    rate = check_bound(bound)
    time = _time(certificate, sum(weights))
    if time != certificate.time_s_per_gb:
        fail(f"the busiest link takes {time} s per GB, not {certificate.time_s_per_gb}")
    if time * rate < 1:
        fail(f"{time} s per GB is less than the bound of {rate} GB/s admits")
    _check_phases(certificate)
    return AllreduceCertificateVerdict(
        network=certificate.network,
        gpus=len(weights),
        roots=sum(weight > 0 for weight in weights),
        links=len(certificate.links),
        time_s_per_gb=time,
        algbw_gb_s=1 / time,
        bound_gb_s=rate,
        model=bound.model,
        optimal=time * rate == 1,
    )


def _check_network(certificate: AllreduceCertificate) -> None:
    """Every name is that of one node, every link joins two nodes and is listed once."""
    known = [*(gpu.name for gpu in certificate.gpus), *certificate.forwarding]
    _check_once(known, "the nodes name")
    _check_once(map(_link, certificate.links), "the links list")
    for link in certificate.links:
        if not {link.tail, link.head} <= set(known) or link.tail == link.head:
            fail(f"link {_link(link)} must join two of the nodes")
    if not certificate.links:
        fail("there are no links")
    _check_shared(certificate)
    for one in certificate.bound.sets:
        _check_once(one.nodes, "a set of the bound names")
    named = [node for one in certificate.bound.sets for node in one.nodes]
    named += [one.switch for one in certificate.bound.potentials]
    if strangers := set(named).difference(known):
        fail(f"the bound names {min(strangers)}, which is not a node")


def _check_shared(certificate: AllreduceCertificate) -> None:
    """Shared capacities have names of their own and hold links of the network, each once."""
    links = {(link.tail, link.head) for link in certificate.links}
    nodes = [*(gpu.name for gpu in certificate.gpus), *certificate.forwarding]
    names = [one.name for one in certificate.shared]
    _check_once([*names, *nodes], "nodes and shared capacities are named")
    for one in certificate.shared:
        held = [(link.tail, link.head) for link in one.links]
        if not held or not set(held) <= links or len(set(held)) < len(held):
            fail(f"{one.name} must hold links of the network, one or more, each once")


def _check_once(names: Iterable[str], what: str) -> None:
    name, times = max(Counter(names).items(), key=lambda item: item[1], default=("", 1))
    if times > 1:
        fail(f"{what} {name} {times} times; it must be once")


def _bound(certificate: AllreduceCertificate, weights: tuple[int, ...]) -> AllreduceBound:
    """Return the bound on the network that the certificate lists."""
    compute = [Node(gpu.name, NodeKind.COMPUTE) for gpu in certificate.gpus]
    switches = [Node(name, NodeKind.SWITCH) for name in certificate.forwarding]
    place = {node.name: i for i, node in enumerate([*compute, *switches])}
    links = [
        Link(place[link.tail], place[link.head], link.bandwidth_gb_s) for link in certificate.links
    ]
    shared = [
        SharedCapacity(
            one.name,
            tuple((place[link.tail], place[link.head]) for link in one.links),
            one.bandwidth_gb_s,
        )
        for one in certificate.shared
    ]
    claim = certificate.bound
    return AllreduceBound(
        topology=Topology(certificate.network, (*compute, *switches), tuple(links), tuple(shared)),
        algbw_gb_s=claim.algbw_gb_s,
        sets=tuple(
            PricedSet(tuple(sorted(place[name] for name in one.nodes)), one.gather, one.reduce)
            for one in claim.sets
        ),
        potentials=tuple(
            Potential(place[one.switch], one.gather, one.reduce) for one in claim.potentials
        ),
        weights=weights if claim.proportions else (),
        shared=tuple(SharedPrice(one.name, one.price) for one in claim.shared),
    )


def _time(certificate: AllreduceCertificate, whole: int) -> Fraction:
    """Return the seconds per GB of the busiest link or shared capacity."""
    if certificate.k_reduce < 1 or certificate.k_gather < 1:
        fail("k_reduce and k_gather must be 1 or more")
    part = {
        (link.tail, link.head): Fraction(link.reduce, whole * certificate.k_reduce)
        + Fraction(link.gather, whole * certificate.k_gather)
        for link in certificate.links
    }
    times = [part[link.tail, link.head] / link.bandwidth_gb_s for link in certificate.links]
    for one in certificate.shared:
        carried = sum((part[link.tail, link.head] for link in one.links), start=Fraction(0))
        times.append(carried / one.bandwidth_gb_s)
    return max(times)


def _check_phases(certificate: AllreduceCertificate) -> None:
    """Check that trees of either phase with these link loads exist."""
    for phase, k in (("reduce", certificate.k_reduce), ("gather", certificate.k_gather)):
        loads = TreeLoads(
            roots={gpu.name: k * gpu.weight for gpu in certificate.gpus},
            forwarding=tuple(certificate.forwarding),
            loads={(link.tail, link.head): getattr(link, phase) for link in certificate.links},
            reduction=phase == "reduce",
        )
        check_trees_exist(loads)


def _link(link: AllreduceLink) -> str:
    return f"{link.tail} -> {link.head}"
