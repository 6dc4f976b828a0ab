"""A network whose latencies are paid where a simulation pays them.

Problem: a simulated transfer waits for the latency of its whole path, then uses all links of the
         path at once. A bound on simulations must not assume more.
Input:   a topology, alpha.
Output:  a topology: the link that a GPU sends on has the least latency, alpha included, of a path
         over it to another GPU; links behind it have none.
Cost:    a shortest path search.
Source:  ours. What leaves a GPU over such a link is on all further links that much later, at
         least. Where all paths behind a switch take equally long, nothing changes but the place at
         which latencies are paid: bounds stay the same. Else they are lower.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from forestcoll.cut_over_time.delay import least_latencies
from forestcoll.problem.over_time.timed_links import TimedLinks
from forestcoll.topology.model import NodeKind, Topology

__all__ = ["simulated_latencies"]


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
    # To the next GPU of the group: a transfer ends there.
    sending = set(topology.compute)
    behind = [i for i, tail in enumerate(links.tail) if tail not in sending]
    rest = least_latencies(
        links.nodes,
        [links.head[i] for i in behind],
        [links.tail[i] for i in behind],
        [links.latency[i] for i in behind],
        topology.compute,
    )
    paid = []
    for place, link in enumerate(topology.links):
        after = rest[link.head]
        # A link that leads to no GPU is of no use, whatever its latency.
        own = links.latency[place] + (after or 0) if link.tail in sending else 0
        paid.append(replace(link, latency_us=Fraction(own, links.ticks_per_us)))
    return replace(
        topology,
        links=tuple(paid),
        nodes=tuple(
            replace(node, kind=NodeKind.SWITCH) if node.kind is NodeKind.RELAY else node
            for node in topology.nodes
        ),
    )
