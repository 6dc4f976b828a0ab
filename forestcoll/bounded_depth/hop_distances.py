"""Eccentricities of GPUs: the least depth of a tree from each root.

Problem: from each root, the hops to the farthest GPU; a hop leads over switches to the next GPU.
Input:   a topology, ranks.
Output:  the eccentricity of each of them.
Cost:    links x hops x R/64, for R roots of distinct neighbours.
Source:  Own; a tree of a root that reaches all GPUs has a path to the farthest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from forestcoll.topology.model import Topology

__all__ = ["eccentricities"]


def eccentricities(
    topology: Topology, roots: Sequence[int], *, through_gpus: bool = False
) -> list[int]:
    """Return the distance of each root to the farthest GPU.

    One search runs from all roots at once: the bits of a node mark the roots that have reached it.
    GPUs with equal neighbours, such as those of a box behind its switches, share a root of the
    search: to exchange two of them maps the network to itself.

    Parameters
    ----------
    roots : sequence of int
        Ranks.
    through_gpus : bool
        Whether to count links, not hops from GPU to GPU over switches.
    """
    neighbours = _neighbours(topology)
    firsts = {neighbours[root]: root for root in roots}
    found = dict(zip(firsts, _search(topology, list(firsts.values()), through_gpus), strict=True))
    return [found[neighbours[root]] for root in roots]


def _neighbours(topology: Topology) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Return the nodes that each rank sends to, and those that it receives from."""
    heads: list[list[int]] = [[] for _ in topology.nodes]
    tails: list[list[int]] = [[] for _ in topology.nodes]
    for link in topology.links:
        heads[link.tail].append(link.head)
        tails[link.head].append(link.tail)
    return [(tuple(sorted(heads[v])), tuple(sorted(tails[v]))) for v in topology.compute]


def _search(topology: Topology, roots: Sequence[int], through_gpus: bool) -> list[int]:
    """Search from all roots at once, by the bits of every node."""
    bits = [0] * len(topology.nodes)
    for place, root in enumerate(roots):
        bits[topology.compute[root]] |= 1 << place
    instant = [
        (link.tail, link.head)
        for link in topology.links
        if topology.nodes[link.head].is_switch and not through_gpus
    ]
    timed = [
        (link.tail, link.head)
        for link in topology.links
        if through_gpus or not topology.nodes[link.head].is_switch
    ]
    away = [0] * len(roots)
    missing = _missing(topology, bits, len(roots))
    for hop in range(1, len(topology.nodes)):
        if not missing:
            break
        while _pass_on(bits, bits, instant):
            pass
        _pass_on(bits.copy(), bits, timed)
        for place in _places(missing):
            away[place] = hop
        missing = _missing(topology, bits, len(roots))
    return away


def _pass_on(before: Sequence[int], bits: list[int], links: Sequence[tuple[int, int]]) -> bool:
    """Propagate bits over links; return whether any was new."""
    news = False
    for tail, head in links:
        grown = bits[head] | before[tail]
        if grown != bits[head]:
            bits[head] = grown
            news = True
    return news


def _missing(topology: Topology, bits: Sequence[int], roots: int) -> int:
    """Return the bits of the roots that have not reached every GPU."""
    everywhere = (1 << roots) - 1
    for v in topology.compute:
        everywhere &= bits[v]
    return ((1 << roots) - 1) & ~everywhere


def _places(bits: int) -> Iterator[int]:
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest
