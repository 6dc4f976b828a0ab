"""Paths that a routed network takes from GPU to GPU, as a fluid.

Problem: a file says "a sends to b"; find what that puts on the links.
Input:   a topology, and how much each GPU sends to each other.
Output:  the load of every link: paths of fewest links whose inner nodes are all switches, shared
         evenly at each node. A GPU leaves by the widest of its links that begin such a path.
Cost:    a breadth-first search for each receiver, a pass over the links that lead to it.
Source:  own; what a fabric with equal-cost multipath does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction

from forestcoll.errors import UnsupportedError
from forestcoll.topology.model import Topology

__all__ = ["loads_between"]

Pair = tuple[int, int]


def loads_between(topology: Topology, sent: Mapping[Pair, Fraction]) -> list[Fraction]:
    """Return what the links carry, in the order of the topology.

    Parameters
    ----------
    topology : Topology
    sent : mapping of (rank, rank) to Fraction
        From a GPU to another.

    Raises
    ------
    UnsupportedError
        If there is no path through switches alone.

    Examples
    --------
    >>> from forestcoll.topology import load_topology
    >>> ring = load_topology("ring:nodes=3")
    >>> [str(load) for load in loads_between(ring, {(0, 1): Fraction(2)}) if load]
    ['2']
    """
    loads = [Fraction(0)] * len(topology.links)
    by_head: dict[int, dict[int, Fraction]] = defaultdict(dict)
    for (tail, head), amount in sent.items():
        by_head[topology.compute[head]][topology.compute[tail]] = amount
    arriving, leaving = _links(topology)
    for head, amounts in by_head.items():
        hops = _hops_to(topology, head, arriving)
        for gpu in amounts:
            if gpu not in hops:
                raise UnsupportedError(
                    f"unsupported: no path from {topology.nodes[gpu].name} to "
                    f"{topology.nodes[head].name} through switches alone"
                )
        _flow(topology, hops, leaving, amounts, loads)
    return loads


def _links(topology: Topology) -> tuple[list[list[int]], list[list[int]]]:
    """Return the links into and out of each node."""
    arriving: list[list[int]] = [[] for _ in topology.nodes]
    leaving: list[list[int]] = [[] for _ in topology.nodes]
    for number, link in enumerate(topology.links):
        arriving[link.head].append(number)
        leaving[link.tail].append(number)
    return arriving, leaving


def _hops_to(topology: Topology, head: int, arriving: Sequence[Sequence[int]]) -> dict[int, int]:
    """Return how many links each node is away from a GPU; only switches pass on."""
    hops, found = {head: 0}, [head]
    for node in found:
        if node == head or topology.nodes[node].is_switch:
            for number in arriving[node]:
                tail = topology.links[number].tail
                if tail not in hops:
                    hops[tail] = hops[node] + 1
                    found.append(tail)
    return hops


def _flow(
    topology: Topology,
    hops: Mapping[int, int],
    leaving: Sequence[Sequence[int]],
    amounts: Mapping[int, Fraction],
    loads: list[Fraction],
) -> None:
    """Let what GPUs send flow to one that is so many hops away, the farthest nodes first."""
    waiting = dict(amounts)
    for node in sorted(hops, key=lambda one: -hops[one]):
        amount = waiting.pop(node, Fraction(0))
        if not amount or not hops[node]:
            continue
        ways = _ways(topology, node, hops, leaving[node])
        for number in ways:
            loads[number] += amount / len(ways)
            after = topology.links[number].head
            waiting[after] = waiting.get(after, Fraction(0)) + amount / len(ways)


def _ways(
    topology: Topology, node: int, hops: Mapping[int, int], leaving: Sequence[int]
) -> list[int]:
    """Return the links that lead on; of a GPU the widest."""
    links, nodes = topology.links, topology.nodes
    ways = [
        number
        for number in leaving
        if hops.get(links[number].head, -1) == hops[node] - 1
        and (hops[node] == 1 or nodes[links[number].head].is_switch)
    ]
    if nodes[node].is_switch:
        return ways
    widest = max(links[number].bandwidth_gb_s for number in ways)
    return [number for number in ways if links[number].bandwidth_gb_s == widest]
