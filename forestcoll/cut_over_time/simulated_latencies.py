"""A network whose latencies are paid where a simulation pays them.

Problem: a simulated transfer waits for the latency of its whole path, then uses all links of the
         path at once. A bound on simulations must not assume more.
Input:   a topology, alpha.
Output:  a topology: the link that a GPU sends on has the least latency, alpha included, of a path
         over it to another GPU; links behind it have none.
Cost:    a search for the two nearest GPUs of each node.
Source:  ours. What leaves a GPU over such a link is on all further links that much later, at
         least. Where all paths behind a switch take equally long, nothing changes but the place at
         which latencies are paid: bounds stay the same. Else they are lower.
"""

from __future__ import annotations

import heapq
from dataclasses import replace
from fractions import Fraction

from forestcoll.problem.over_time.timed_links import TimedLinks
from forestcoll.topology.model import NodeKind, Topology

__all__ = ["simulated_latencies"]

_NEAREST = 2  # one of them is not the GPU that sends


def simulated_latencies(topology: Topology, alpha_us: Fraction) -> Topology:
    """Return the network for a bound on simulations, with alpha 0.

    Examples
    --------
    >>> from forestcoll.topology import load_topology
    >>> made = simulated_latencies(load_topology("dgx_a100:boxes=2"), Fraction(10))
    >>> sorted({link.latency_us for link in made.links})
    [Fraction(0, 1), Fraction(10, 1)]
    """
    links = TimedLinks.of(topology, alpha_us, reduction=False)
    sending = set(topology.compute)
    after = _two_nearest(links, sending)
    paid = []
    for link, own in zip(topology.links, links.latency, strict=True):
        # A link that leads to no other GPU is of no use, whatever its latency.
        rest = min((away for gpu, away in after[link.head].items() if gpu != link.tail), default=0)
        ticks = own + rest if link.tail in sending else 0
        paid.append(replace(link, latency_us=Fraction(ticks, links.ticks_per_us)))
    return replace(
        topology,
        links=tuple(paid),
        nodes=tuple(
            replace(node, kind=NodeKind.SWITCH) if node.kind is NodeKind.RELAY else node
            for node in topology.nodes
        ),
    )


def _two_nearest(links: TimedLinks, ends: set[int]) -> list[dict[int, int]]:
    """Return the two ends with the least latency from each node, over nodes that are no ends."""
    entering: list[list[tuple[int, int]]] = [[] for _ in range(links.nodes)]
    for tail, head, latency in zip(links.tail, links.head, links.latency, strict=True):
        if tail not in ends:
            entering[head].append((tail, latency))
    found: list[dict[int, int]] = [{} for _ in range(links.nodes)]
    heap = [(0, end, end) for end in sorted(ends)]
    while heap:
        away, node, end = heapq.heappop(heap)
        if end in found[node] or len(found[node]) == _NEAREST:
            continue
        found[node][end] = away
        for tail, latency in entering[node]:
            heapq.heappush(heap, (away + latency, tail, end))
    return found
