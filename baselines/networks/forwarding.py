"""Forwarding: how data gets from one GPU to another over switches and over other GPUs.

Problem: a peer that goes in steps says "a sends to b"; find the physical paths that carry it.
Input:   a topology; pairs of GPUs.
Output:  for each pair its least-cost paths, where a link costs 1 / bandwidth. Any node may lie on
         them. A transfer is divided evenly over ties, of which ``MAX_PATHS`` are kept.
Cost:    one Dijkstra search for each receiver, stopped at its farthest sender, and at most
         ``MAX_PATHS`` paths from each node on the way.
Source:  Own; the peers' papers have their networks' own routing, or leave it open. What stands
         behind it: Dijkstra, "A note on two problems in connexion with graphs" (1959).

1 / bandwidth is the time that a transfer keeps a link busy, so that a path costs what it takes away
from the others; each path is the best for itself alone. Costs are whole numbers over one
denominator, so that ties are exact. On boxes that one tier of switches joins, paths are those of
``switch_paths``.

Of many ties, as on large tori, those are kept that come up first when the ways on from each node
are taken in turn, each way's own ties likewise: the first hops get equal numbers as far as they
have them.

What is left out: latencies, and what other transfers load. A GPU that forwards does so at once, as
a switch does, and needs no step of its own for it. What forwarding by GPUs brings, and what the cut
of ties costs: docs/baselines/steps.md.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from heapq import heappop, heappush
from itertools import chain, islice, zip_longest

from baselines.networks.switch_paths import MAX_PATHS, LogicalPaths
from forestcoll.errors import UnsupportedError
from forestcoll.schedule.forest import Path
from forestcoll.topology.model import Topology

__all__ = ["forwarded"]

Neighbours = Sequence[Sequence[tuple[int, int]]]
"""Of each node, as (node, cost of the link)."""

Way = tuple[int, ...]


def forwarded(topology: Topology, pairs: Iterable[tuple[int, int]]) -> LogicalPaths:
    """Find the least-cost paths of each pair (tail rank, head rank), alike in multiplicity.

    Raises
    ------
    UnsupportedError
        If there is none.
    """
    compute, rank_of = topology.compute, topology.rank_of
    tails: dict[int, list[int]] = defaultdict(list)
    for tail, head in pairs:
        tails[compute[head]].append(compute[tail])
    before, after = _neighbours(topology)
    found: LogicalPaths = {}
    for head, senders in tails.items():
        distance = _distances(before, head, senders)
        for tail in senders:
            if tail not in distance:
                names = [topology.nodes[v].name for v in (tail, head)]
                raise UnsupportedError(f"unsupported: no path from {names[0]} to {names[1]}")
        ways = _ways(after, distance, head, senders)
        for tail in senders:
            found[rank_of[tail], rank_of[head]] = tuple(Path(way, 1) for way in ways[tail])
    return found


def _neighbours(topology: Topology) -> tuple[Neighbours, Neighbours]:
    """The nodes before and after each node, with whole costs in proportion to 1 / bandwidth."""
    per = math.lcm(*(link.bandwidth_gb_s.numerator for link in topology.links))
    before: list[list[tuple[int, int]]] = [[] for _ in topology.nodes]
    after: list[list[tuple[int, int]]] = [[] for _ in topology.nodes]
    for link in topology.links:
        cost = int(per / link.bandwidth_gb_s)
        before[link.head].append((link.tail, cost))
        after[link.tail].append((link.head, cost))
    return before, after


def _distances(before: Neighbours, head: int, senders: Collection[int]) -> dict[int, int]:
    """Costs to a node, nearest first, up to the farthest sender."""
    best, missing = {head: 0}, set(senders)
    distance: dict[int, int] = {}
    queue = [(0, head)]
    while queue and missing:
        cost, node = heappop(queue)
        if node in distance:
            continue
        distance[node] = cost
        missing.discard(node)
        for tail, more in before[node]:
            if tail not in best or cost + more < best[tail]:
                best[tail] = cost + more
                heappush(queue, (cost + more, tail))
    return distance


def _ways(
    after: Neighbours, distance: Mapping[int, int], head: int, senders: Iterable[int]
) -> dict[int, list[Way]]:
    """Return the paths to a node from these senders and from all nodes between."""
    nexts: dict[int, list[int]] = {head: []}
    todo = list(senders)
    while todo:
        node = todo.pop()
        if node not in nexts:
            here = distance[node]
            nexts[node] = [v for v, cost in after[node] if distance.get(v, here) + cost == here]
            todo += nexts[node]
    ways: dict[int, list[Way]] = {head: [(head,)]}
    for node in sorted(nexts.keys() - {head}, key=distance.__getitem__):
        if len(nexts[node]) == 1:
            ways[node] = [(node, *way) for way in ways[nexts[node][0]]]
            continue
        in_turn = chain.from_iterable(zip_longest(*(ways[v] for v in nexts[node])))
        ways[node] = [(node, *way) for way in islice(filter(None, in_turn), MAX_PATHS)]
    return ways
