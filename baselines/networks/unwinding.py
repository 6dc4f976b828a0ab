"""Switch unwinding: every switch replaced by a preset pattern of links among its neighbours.

Problem: a network of GPUs alone in place of one with switches.
Output:  the logical links, with the physical paths that carry them.
Source:  the treatment of switches by TACCL (NSDI 2023) and TACOS (MICRO 2024), as ForestColl
         section 5.3 describes it. Reimplemented from these descriptions.

The n neighbours of a switch are in the order of the nodes. With a port of bandwidth b:

- "ring": a link of b from each neighbour to the next; in one direction, since two of b/2 would use
  the same bandwidth and give no set of GPUs more bandwidth out of it.
- "clique": a link of b/(n - 1) from each to every other.
- "hypercube": n = 2^d; numbers that differ in one bit are linked, with b/d.

If ports are unequal, a link has the lesser of what its two ends offer. So no physical link is
overloaded, but some may be partly idle.

Linked switches are removed one by one, those farthest from any GPU first; the remaining ones are
then neighbours over paths through the removed ones. A neighbour that only sends to a switch shares
a place in the ring with one that only receives, in order; unequal numbers of both have no ring. A
clique joins all senders to all receivers; a hypercube takes neighbours that do both. This rule is
ours. Reasons, and the cost of patterns: docs/baselines/unwinding.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import pairwise

from baselines.interface.parameters import check_choice
from baselines.networks.switch_free import Share, Unwound
from forestcoll.errors import UnsupportedError
from forestcoll.topology.model import Topology

__all__ = ["PATTERNS", "Share", "Unwound", "unwind"]

Ports = Mapping[int, Fraction]
"""The bandwidth of the link from (or to) each neighbour of a switch, in the order of the nodes."""

Pattern = Callable[[Ports, Ports, str], dict[tuple[int, int], Fraction]]
"""Links for those that send to a switch and those that receive from it; the name is for errors."""


def unwind(topology: Topology, pattern: str = "ring") -> Unwound:
    """Replace every switch by a pattern.

    Parameters
    ----------
    pattern : str
        One of :data:`PATTERNS`.

    Returns
    -------
    Unwound
        Not every GPU need still reach every other. A network without switches stays as it is.

    Raises
    ------
    InvalidParameterError
        If there is no such pattern.
    UnsupportedError
        If a switch does not have the neighbours that the pattern takes.

    Examples
    --------
    >>> from forestcoll.topology import load_topology
    >>> unwound = unwind(load_topology("dgx_a100:boxes=2"))
    >>> unwound.topology.link_between[0, 1].bandwidth_gb_s
    Fraction(325, 1)
    >>> unwound.paths[7, 8]  # gpu7 of the first box, by the InfiniBand switch
    (Share(nodes=(7, 18, 9), bandwidth_gb_s=Fraction(25, 1)),)
    """
    check_choice("pattern", pattern, PATTERNS)
    links = {
        (link.tail, link.head): [Share((link.tail, link.head), link.bandwidth_gb_s)]
        for link in topology.links
    }
    for switch in _farthest_first(topology):
        _remove(links, switch, PATTERNS[pattern], topology.nodes[switch].name)
    rank = topology.rank_of
    paths = {(rank[u], rank[t]): _merged(shares) for (u, t), shares in sorted(links.items())}
    name = f"{topology.name} unwound into {pattern}s" if topology.switches else topology.name
    return Unwound.from_paths(name, topology, paths)


def _farthest_first(topology: Topology) -> list[int]:
    """Sort the switches by the number of links to the nearest GPU, largest first, then by place."""
    beside: dict[int, set[int]] = {node: set() for node in range(len(topology.nodes))}
    for link in topology.links:
        beside[link.tail].add(link.head)
        beside[link.head].add(link.tail)
    far = dict.fromkeys(topology.compute, 0)
    reached = list(topology.compute)
    for node in reached:  # grows on the way: breadth first
        for other in beside[node] - far.keys():
            far[other] = far[node] + 1
            reached.append(other)
    return sorted(topology.switches, key=lambda switch: (-far.get(switch, 0), switch))


def _remove(
    links: dict[tuple[int, int], list[Share]], switch: int, pattern: Pattern, name: str
) -> None:
    into = {u: links.pop((u, w)) for u, w in sorted(links) if w == switch}
    out = {t: links.pop((w, t)) for w, t in sorted(links) if w == switch}
    wanted = pattern(_bandwidths(into), _bandwidths(out), name)
    for (u, t), amount in wanted.items():
        joined = _joined(_taken(into[u], amount), _taken(out[t], amount))
        links.setdefault((u, t), []).extend(joined)


def _bandwidths(ports: Mapping[int, list[Share]]) -> Ports:
    return {
        node: sum((share.bandwidth_gb_s for share in shares), Fraction(0))
        for node, shares in ports.items()
    }


def _taken(shares: list[Share], amount: Fraction) -> list[Share]:
    taken = []
    while amount:
        last = shares.pop()
        part = min(amount, last.bandwidth_gb_s)
        taken.append(Share(last.nodes, part))
        if part < last.bandwidth_gb_s:
            shares.append(Share(last.nodes, last.bandwidth_gb_s - part))
        amount -= part
    return taken


def _joined(first: list[Share], second: list[Share]) -> list[Share]:
    """Join paths to a switch and paths onwards, of as much bandwidth in all."""
    joined = []
    while first:
        part = min(first[-1].bandwidth_gb_s, second[-1].bandwidth_gb_s)
        (one,), (other,) = _taken(first, part), _taken(second, part)
        joined.append(Share(one.nodes + other.nodes[1:], part))
    return joined


def _merged(shares: list[Share]) -> tuple[Share, ...]:
    total: dict[tuple[int, ...], Fraction] = {}
    for share in shares:
        total[share.nodes] = total.get(share.nodes, Fraction(0)) + share.bandwidth_gb_s
    return tuple(Share(nodes, bandwidth) for nodes, bandwidth in total.items())


def _ring(into: Ports, out: Ports, name: str) -> dict[tuple[int, int], Fraction]:
    places = _places(into, out, name)
    around = pairwise([*places, *places[:1]])
    return {(u, t): min(into[u], out[t]) for (u, _), (_, t) in around if u != t}


def _places(into: Ports, out: Ports, name: str) -> list[tuple[int, int]]:
    """List who sends and who receives at each place in the ring, in the order of the senders."""
    senders = [node for node in into if node not in out]
    receivers = [node for node in out if node not in into]
    if len(senders) != len(receivers):
        raise UnsupportedError(
            f"unsupported: {len(senders)} nodes only send to {name} and {len(receivers)} only "
            f"receive from it; a ring takes as many of either"
        )
    partner = dict(zip(senders, receivers, strict=True))
    return [(node, partner.get(node, node)) for node in into]


def _clique(into: Ports, out: Ports, name: str) -> dict[tuple[int, int], Fraction]:
    return {
        (u, t): min(into[u] / len(out.keys() - {u}), out[t] / len(into.keys() - {t}))
        for u in into
        for t in out
        if u != t
    }


def _hypercube(into: Ports, out: Ports, name: str) -> dict[tuple[int, int], Fraction]:
    size, dimension = len(into), len(into).bit_length() - 1
    if into.keys() != out.keys() or size != 1 << dimension:
        raise UnsupportedError(
            f"unsupported: {size} nodes send to {name} and {len(out)} receive from it; a "
            f"hypercube takes the same ones for both, and a power of two of them"
        )
    nodes = list(into)
    return {
        (nodes[i], nodes[i ^ 1 << bit]): min(into[nodes[i]], out[nodes[i ^ 1 << bit]]) / dimension
        for i in range(size)
        for bit in range(dimension)
    }


PATTERNS: Mapping[str, Pattern] = {"ring": _ring, "clique": _clique, "hypercube": _hypercube}
"""What a switch can be unwound into."""
