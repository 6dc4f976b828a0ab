"""Proof of the certificate of an all-to-all or a demand from its own numbers.

Problem: do the prices of links prove the least time that is claimed?
Input:   a certificate; nothing in it is trusted.
Output:  a verdict, or the first violation, by name.
Cost:    a search by price from every GPU that has a chunk.
Source:  weak duality of concurrent flows (:mod:`forestcoll.problem.price_bound`). Shares no code
         with it: names are looked up, and Dijkstra's algorithm is on a heap of whole numbers.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.problem.all_to_all_certificate import (
    AllToAllCertificate,
    PricedLink,
    PricedShared,
)
from forestcoll.schedule.verification.naming import fail

__all__ = ["AllToAllCertificateVerdict", "verify_all_to_all_certificate"]

_MOST_PRICE = 2**32
_MOST_BYTES = 10**14
_MOST_WORK = 10_000_000
"""Searches times links: 1024 GPUs in boxes have half of it."""

_MOST_DIGITS = 300
"""Digits of the common denominator of all bandwidths with a price; those of networks have few."""


@dataclass(frozen=True, slots=True)
class AllToAllCertificateVerdict:
    """The proved facts.

    Parameters
    ----------
    network, demand : str
    gpus, chunks, links : int
        Counts of what the certificate lists; of equal parts, a chunk for each pair.
    bytes : int
        Of all chunks; of equal parts one for each pair.
    least_us : Fraction
        No schedule of ``model`` takes less, in microseconds.
    at_most_gb_s : Fraction
        The bytes over that time; of equal parts, what a GPU sends, itself included.
    model : str
    """

    network: str
    demand: str
    gpus: int
    chunks: int
    links: int
    bytes: int
    least_us: Fraction
    at_most_gb_s: Fraction
    model: str

    @property
    def collective(self) -> str:
        """Always "all-to-all"."""
        return "all-to-all"


_Costs = dict[str, list[tuple[int, str]]]
"""For each node, the prices of its links and the nodes that they enter."""

_Chunks = dict[str, list[tuple[int, list[str]]]]
"""For each GPU with data, the sizes and targets of its chunks; none stand for equal parts."""


def verify_all_to_all_certificate(certificate: AllToAllCertificate) -> AllToAllCertificateVerdict:
    """Verify a certificate from its own numbers.

    Raises
    ------
    VerificationError
        At the first number that is not what the others make it, or claim that they do not prove; or
        if the network is too large to check.
    """
    _check_network(certificate)
    chunks = _by_source(certificate)
    parts = len(certificate.gpus) + len(certificate.links)
    if len(chunks) * parts > _MOST_WORK:
        fail(
            f"{len(chunks)} GPUs with data and {parts} GPUs and links are too many to check: at "
            f"most {_MOST_WORK} of both multiplied"
        )
    room = _room(certificate)
    paid, costs, count, whole = 0, _costs(certificate), 0, 0
    for source in chunks:
        away = _away(costs, source)
        for size, targets in chunks[source] or _equal(certificate.gpus, source):
            lost = next((one for one in targets if one not in away), None)
            if lost is not None:
                fail(f"{source} has a chunk for {lost}, which no path leads to")
            paid += size * max(away[one] for one in targets)
            count, whole = count + 1, whole + size
    if paid != certificate.least_ns * room:
        fail(
            f"the chunks pay {paid}, and the links take {room} a nanosecond: that is no "
            f"{certificate.least_ns} ns"
        )
    data = len(certificate.gpus) if certificate.chunks is None else whole
    return AllToAllCertificateVerdict(
        network=certificate.network,
        demand=certificate.demand,
        gpus=len(certificate.gpus),
        chunks=count,
        links=len(certificate.links),
        bytes=whole,
        least_us=certificate.least_ns / 1000,
        at_most_gb_s=data / certificate.least_ns,
        model="chunks on any paths; GPUs and switches forward and copy",
    )


def _check_network(certificate: AllToAllCertificate) -> None:
    """Every name is that of one node, link or shared capacity; links join two of the nodes."""
    nodes = [*certificate.gpus, *certificate.forwarding]
    _check_once([*nodes, *(one.name for one in certificate.shared)], "the names")
    if len(certificate.gpus) < 2:
        fail(f"{len(certificate.gpus)} GPU has no other GPU to send to")
    known = set(nodes)
    ends = [(link.tail, link.head) for link in certificate.links]
    _check_once((f"{tail} -> {head}" for tail, head in ends), "the links")
    for tail, head in ends:
        if tail not in known or head not in known or tail == head:
            fail(f"link {tail} -> {head} must join two of the nodes")
    links = set(ends)
    for one in certificate.shared:
        held = [(link.tail, link.head) for link in one.links]
        if not held or len(links.intersection(held)) < len(held):
            fail(f"{one.name} must hold links of the network, one or more, each once")


def _check_once(names: Iterable[str], what: str) -> None:
    name, times = max(Counter(names).items(), key=lambda item: item[1], default=("", 1))
    if times > 1:
        fail(f"{what} have {name} {times} times; it must be once")


def _equal(gpus: Iterable[str], source: str) -> Iterator[tuple[int, list[str]]]:
    """Yield a chunk of a byte for each other GPU."""
    return ((1, [other]) for other in gpus if other != source)


def _by_source(certificate: AllToAllCertificate) -> _Chunks:
    """Check the chunks, and return them by source."""
    if certificate.chunks is None:
        return {one: [] for one in certificate.gpus}
    known, total = set(certificate.gpus), 0
    found: _Chunks = defaultdict(list)
    for chunk in certificate.chunks:
        targets = set(chunk.head)
        if not targets or len(targets) < len(chunk.head) or not targets <= known:
            fail(f"a chunk of {chunk.tail} must name GPUs that need it, each once")
        if chunk.tail not in known or chunk.tail in targets:
            fail(f"a chunk of {chunk.tail} must come from a GPU that does not need it")
        total += chunk.size
        if chunk.size < 1 or total > _MOST_BYTES:
            fail(f"the chunks must have from 1 byte each up to {_MOST_BYTES} in all")
        found[chunk.tail].append((chunk.size, chunk.head))
    if not found:
        fail("there is no chunk")
    return found


def _room(certificate: AllToAllCertificate) -> Fraction:
    """Return what links and shared capacities take in a nanosecond, at their prices."""
    room = Fraction(0)
    priced: list[PricedLink | PricedShared] = [*certificate.links, *certificate.shared]
    for one in priced:
        if one.price > _MOST_PRICE:
            fail(f"a price is above {_MOST_PRICE}")
        if one.price:
            room += one.price * one.bandwidth_gb_s
            if room.denominator > 10**_MOST_DIGITS:
                fail(f"the bandwidths have a common denominator of over {_MOST_DIGITS} digits")
    if not room:
        fail("all prices are 0; they prove nothing")
    return room


def _costs(certificate: AllToAllCertificate) -> _Costs:
    """Return what it costs to leave each node, by link."""
    extra: Counter[tuple[str, str]] = Counter()
    for one in certificate.shared:
        for held in one.links:
            extra[held.tail, held.head] += one.price
    costs: _Costs = defaultdict(list)
    for link in certificate.links:
        costs[link.tail].append((link.price + extra[link.tail, link.head], link.head))
    return costs


def _away(costs: _Costs, source: str) -> dict[str, int]:
    """Return the price of the cheapest path to each node that can be reached."""
    found: dict[str, int] = {}
    heap = [(0, source)]
    while heap:
        spent, node = heapq.heappop(heap)
        if node in found:
            continue
        found[node] = spent
        for price, then in costs.get(node, ()):
            if then not in found:
                heapq.heappush(heap, (spent + price, then))
    return found
