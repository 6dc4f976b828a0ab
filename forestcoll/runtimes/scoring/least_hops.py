"""Shortest paths through switches (equal-cost multipath) and their link loads, as a fluid.

Problem: a file says "a sends to b"; find the paths and the loads of the links.
Input:   a topology, and the amount that each GPU sends to each other.
Output:  the load of every link. Paths have the fewest links, and all inner nodes are switches;
         each switch shares its traffic evenly. A GPU uses the widest of its links that begin such
         a path, and the parallel planes of that link, by bandwidth. Between GPUs of a box, paths
         stay in the box where they can, as in runtimes. Alternatively these paths with integer
         weights. A transfer that names switches takes a path through switches even if a direct
         link exists.
Cost:    a breadth-first search for each receiver, a pass over the links that lead to it.
Source:  own; as a fabric with equal-cost multipath does.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise

from forestcoll.errors import CapacityOverflowError, UnsupportedError
from forestcoll.schedule.forest import Path
from forestcoll.topology.model import Topology

__all__ = ["Pair", "loads_between", "paths_between"]

Pair = tuple[int, int]

_MOST_WEIGHT = 2**31


def loads_between(topology: Topology, sent: Mapping[Pair, Fraction]) -> list[Fraction]:
    """Return the loads of the links, in the order of the topology.

    Raises UnsupportedError if there is no path through switches alone.

    Parameters
    ----------
    sent : mapping of (rank, rank) to Fraction
        From a GPU to another.

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
        inside = _hops_to(topology, head, arriving, inside=True)
        near = {gpu: amount for gpu, amount in amounts.items() if gpu in inside}
        far = {gpu: amount for gpu, amount in amounts.items() if gpu not in inside}
        hops = _hops_to(topology, head, arriving) if far else {}
        for gpu in far:
            if gpu not in hops:
                raise _no_path(topology, gpu, head)
        _flow(topology, inside, leaving, near, loads)
        _flow(topology, hops, leaving, far, loads)
    return loads


def paths_between(
    topology: Topology, pairs: Iterable[Pair], *, through: bool = False
) -> dict[Pair, tuple[Path, ...]]:
    """Return the paths between GPUs; multiplicities are their weights.

    Parameters
    ----------
    pairs : iterable of (rank, rank)
    through : bool
        Whether to exclude direct links, so that all paths go through switches.

    Raises
    ------
    UnsupportedError
        If there is no such path.
    CapacityOverflowError
        If the weights have more than 31 bits.

    Examples
    --------
    >>> from forestcoll.topology import load_topology
    >>> paths_between(load_topology("ring:nodes=3"), [(0, 1)])
    {(0, 1): (Path(nodes=(0, 1), multiplicity=1),)}
    """
    by_head: dict[int, list[int]] = defaultdict(list)
    for tail, head in sorted(set(pairs)):
        by_head[head].append(tail)
    arriving, leaving = _links(topology)
    found: dict[Pair, tuple[Path, ...]] = {}
    for head, tails in by_head.items():
        distances = [
            _hops_to(topology, topology.compute[head], arriving, inside=inside)
            for inside in (True, False)
        ]
        for tail in tails:
            gpu = topology.compute[tail]
            tried = (
                _through(topology, hops, gpu, leaving[gpu]) if through else hops
                for hops in distances
            )
            away = next((hops for hops in tried if gpu in hops), None)
            if away is None:
                raise _no_path(topology, gpu, topology.compute[head])
            found[tail, head] = _paths(topology, away, leaving, gpu)
    return found


def _no_path(topology: Topology, tail: int, head: int) -> UnsupportedError:
    return UnsupportedError(
        f"unsupported: no path from {topology.nodes[tail].name} to {topology.nodes[head].name} "
        f"through switches alone"
    )


def _through(
    topology: Topology, hops: Mapping[int, int], gpu: int, leaving: Sequence[int]
) -> dict[int, int]:
    """Return the distances of nodes; that of the GPU itself is by way of a switch."""
    heads = [topology.links[number].head for number in leaving]
    switches = [hops[v] for v in heads if v in hops and topology.nodes[v].is_switch]
    others = {node: away for node, away in hops.items() if node != gpu}
    return {**others, gpu: min(switches) + 1} if switches else others


def _paths(
    topology: Topology, hops: Mapping[int, int], leaving: Sequence[Sequence[int]], gpu: int
) -> tuple[Path, ...]:
    """Decompose the flow from a GPU into paths, each as large as the remaining flow allows."""
    loads = [Fraction(0)] * len(topology.links)
    _flow(topology, hops, leaving, {gpu: Fraction(1)}, loads)
    after: dict[int, dict[int, Fraction]] = defaultdict(dict)
    for link, load in zip(topology.links, loads, strict=True):
        if load:
            after[link.tail][link.head] = load
    found: list[tuple[tuple[int, ...], Fraction]] = []
    while after[gpu]:
        path = [gpu]
        while after.get(path[-1]):
            path.append(min(after[path[-1]]))
        share = min(after[tail][head] for tail, head in pairwise(path))
        for tail, head in pairwise(path):
            after[tail][head] -= share
            if not after[tail][head]:
                del after[tail][head]
        found.append((tuple(path), share))
    # Shares become the least whole weights with the same proportions.
    whole = math.lcm(*(share.denominator for _, share in found))
    if whole >= _MOST_WEIGHT:
        name = topology.nodes[gpu].name
        raise CapacityOverflowError(f"the paths from {name} share it in parts beyond 31 bits")
    return tuple(Path(nodes, int(share * whole)) for nodes, share in found)


def _links(topology: Topology) -> tuple[list[list[int]], list[list[int]]]:
    arriving: list[list[int]] = [[] for _ in topology.nodes]
    leaving: list[list[int]] = [[] for _ in topology.nodes]
    for number, link in enumerate(topology.links):
        arriving[link.head].append(number)
        leaving[link.tail].append(number)
    return arriving, leaving


def _hops_to(
    topology: Topology, head: int, arriving: Sequence[Sequence[int]], *, inside: bool = False
) -> dict[int, int]:
    """Return how many links each node is away from a GPU, or those ``inside`` its box.

    Only switches pass on.
    """
    hops, found = {head: 0}, [head]
    box = topology.nodes[head].box
    if inside and box is None:
        return hops
    for node in found:
        if node == head or topology.nodes[node].is_switch:
            for number in arriving[node]:
                tail = topology.links[number].tail
                if tail not in hops and not (inside and topology.nodes[tail].box != box):
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
    """Propagate the traffic to one GPU by distance, the farthest nodes first."""
    waiting = dict(amounts)
    for node in sorted(hops, key=lambda one: -hops[one]):
        amount = waiting.pop(node, Fraction(0))
        if not amount or not hops[node]:
            continue
        ways = _ways(topology, node, hops, leaving)
        if topology.nodes[node].is_switch:
            widths = dict.fromkeys(ways, Fraction(1))
        else:
            widths = {number: topology.links[number].bandwidth_gb_s for number in ways}
        whole = sum(widths.values(), start=Fraction(0))
        for number, width in widths.items():
            share = amount * width / whole
            loads[number] += share
            after = topology.links[number].head
            waiting[after] = waiting.get(after, Fraction(0)) + share


def _ways(
    topology: Topology, node: int, hops: Mapping[int, int], leaving: Sequence[Sequence[int]]
) -> list[int]:
    """Return the links towards the receiver; of a GPU, the widest and its parallel planes."""
    links, nodes = topology.links, topology.nodes
    ways = [
        number
        for number in leaving[node]
        if hops.get(links[number].head, -1) == hops[node] - 1
        and (hops[node] == 1 or nodes[links[number].head].is_switch)
    ]
    if nodes[node].is_switch:
        return ways
    widest = max(ways, key=lambda number: links[number].bandwidth_gb_s)
    return [
        number
        for number in ways
        if links[number].bandwidth_gb_s == links[widest].bandwidth_gb_s
        or _are_planes(topology, links[number].head, links[widest].head, leaving)
    ]


def _are_planes(topology: Topology, one: int, other: int, leaving: Sequence[Sequence[int]]) -> bool:
    """Return whether two switches of one box lead to the same GPUs.

    A GPU stripes over all its NVSwitches, also where it has more links to one than to another. A
    PCIe switch of the box leads to fewer GPUs, a switch between boxes is in no box.
    """
    box = topology.nodes[one].box
    if box is None or box != topology.nodes[other].box:
        return False
    first, second = (
        {topology.links[number].head for number in leaving[switch]} & set(topology.compute)
        for switch in (one, other)
    )
    return first == second
