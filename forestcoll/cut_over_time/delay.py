"""Time in which links carry nothing of use, in every schedule of any rate.

Problem: a link e = (t, h) is of use only from a_e on, when first data can be at t, and until
         T - z_e, after which nothing that enters it arrives at a GPU by T. By how much does that
         delay every bound on the rate?
Input:   a topology, alpha.
Output:  delta in us: no schedule of M bytes ends before delta + M / rate.
Cost:    two shortest path searches.
Source:  ours; docs/mathematics/time-bound.md. The links of a shared capacity are of use together
         from the least a_e to T less the least z_e.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from fractions import Fraction

from forestcoll.problem.over_time.timed_links import TimedLinks
from forestcoll.topology.model import Topology

__all__ = ["delay_us", "least_latencies"]


def delay_us(topology: Topology, alpha_us: Fraction) -> Fraction:
    """Return delta, the least time in which no link, and no shared capacity, is of use.

    Examples
    --------
    >>> from forestcoll.topology import load_topology
    >>> delay_us(load_topology("dgx_a100:boxes=2"), Fraction(10))
    Fraction(10, 1)
    """
    links = TimedLinks.of(topology, alpha_us, reduction=False)
    first = least_latencies(links.nodes, links.tail, links.head, links.latency, topology.compute)
    last = least_latencies(links.nodes, links.head, links.tail, links.latency, topology.compute)
    use: dict[tuple[int, int], tuple[int, int]] = {}
    for tail, head, latency in zip(links.tail, links.head, links.latency, strict=True):
        before, after = first[tail], last[head]
        if before is not None and after is not None:  # else no data of use ever take the link
            use[tail, head] = before, latency + after
    least = [before + after for before, after in use.values()]
    for group in topology.shared:
        of_group = [use[ends] for ends in group.links if ends in use]
        if of_group:
            least.append(min(a for a, _ in of_group) + min(z for _, z in of_group))
    return Fraction(min(least, default=0), links.ticks_per_us)


def least_latencies(
    nodes: int,
    tails: Sequence[int],
    heads: Sequence[int],
    latencies: Sequence[int],
    sources: Iterable[int],
) -> list[int | None]:
    """Return the least latency from any source to each node, None where none leads there."""
    following: list[list[tuple[int, int]]] = [[] for _ in range(nodes)]
    for tail, head, latency in zip(tails, heads, latencies, strict=True):
        following[tail].append((head, latency))
    found: list[int | None] = [None] * nodes
    heap = [(0, source) for source in sources]
    while heap:
        so_far, node = heapq.heappop(heap)
        if found[node] is None:
            found[node] = so_far
            for head, latency in following[node]:
                if found[head] is None:
                    heapq.heappush(heap, (so_far + latency, head))
    return found
