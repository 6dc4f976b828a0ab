"""Forwarding: how data gets from one GPU to another over switches and over other GPUs.

Problem: a step method says "a sends to b"; find the physical paths of the transfer.
Output:  the least-cost paths of each pair, through any nodes, where a link costs 1 / bandwidth. A
         transfer divides evenly over ties, at most ``MAX_PATHS`` of them.
Cost:    one Dijkstra search for each receiver, stopped at its farthest sender, and at most
         ``MAX_PATHS`` paths from each node on the way. Where no sender has ties, array operations
         follow all senders of a receiver at once, hop by hop.
Source:  ours; the methods' papers use the routing of their networks, or leave it open. Based on
         Dijkstra, "A note on two problems in connexion with graphs" (1959).

1 / bandwidth is the time that a transfer keeps a link busy, so the cost of a path is the time that
it takes from other transfers. Each path is optimal only by itself. Costs are whole numbers over one
denominator, so that ties are exact. On boxes with one tier of switches, the paths are those of
``switch_paths``.

With many ties, as on large tori, the next hops of each node take turns, and so do the ties behind
each hop. The first ``MAX_PATHS`` stay, so that the first hops get equal numbers where possible.

Left out: latencies, and the load of other transfers. A GPU forwards at once, as a switch does, and
needs no extra step. The gain of forwarding by GPUs and the loss by the limit on ties:
docs/baselines/steps.md.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from heapq import heappop, heappush
from itertools import chain, islice, zip_longest
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from baselines.networks.switch_paths import MAX_PATHS
from forestcoll.errors import UnsupportedError
from forestcoll.schedule.forest import Routes
from forestcoll.topology.model import Topology

__all__ = ["forwarded"]

Neighbours = Sequence[Sequence[tuple[int, int]]]
"""Neighbours of each node, as (node, cost of the link)."""

Numbers = npt.NDArray[Any]


class _Found(NamedTuple):
    """Paths to one rank: the sender and the number of nodes of each, then all nodes."""

    head: int
    tail: Numbers
    length: Numbers
    hop: Numbers


def forwarded(
    topology: Topology, pairs: Iterable[tuple[int, int]], *, direct: bool = False
) -> Routes:
    """Find the least-cost paths of each pair (tail rank, head rank), with equal multiplicity.

    If ``direct``, a linked pair takes only its link, even if other paths cost as much.

    Raises
    ------
    UnsupportedError
        If there is none.
    """
    compute, rank_of = topology.compute, topology.rank_of
    rank = np.array([rank_of.get(node, -1) for node in range(len(topology.nodes))], dtype=np.int32)
    tails: dict[int, list[int]] = defaultdict(list)
    found: list[_Found] = []
    for one, other in pairs:
        tail, head = compute[one], compute[other]
        if direct and (tail, head) in topology.link_between:
            found.append(_Found(other, np.array([one]), np.array([2]), np.array([tail, head])))
        else:
            tails[head].append(tail)
    before, after = _neighbours(topology)
    links = _Links.of(before)
    for head, senders in tails.items():
        distance = _distances(before, head, senders)
        for tail in senders:
            if tail not in distance:
                names = [topology.nodes[v].name for v in (tail, head)]
                raise UnsupportedError(f"unsupported: no path from {names[0]} to {names[1]}")
        only = links.only_ways(distance, head, senders)
        start, length, hop = only or _ways(after, distance, head, senders)
        found.append(_Found(rank_of[head], rank[start], length, hop))
    return _gathered(found)


def _gathered(found: Sequence[_Found]) -> Routes:
    if not found:
        return Routes.from_paths({})
    tail = np.concatenate([one.tail for one in found])
    head = np.repeat([one.head for one in found], [len(one.tail) for one in found])
    length = np.concatenate([one.length for one in found])
    hop = np.concatenate([one.hop for one in found], dtype=np.int32, casting="same_kind")
    # The paths of a pair are together, so pairs are sorted, not paths.
    new = np.ones(len(tail), dtype=np.bool_)
    new[1:] = (tail[1:] != tail[:-1]) | (head[1:] != head[:-1])
    first = np.flatnonzero(new)
    tail, head = tail[first], head[first]
    order = np.lexsort((head, tail))
    many = np.diff(first, append=len(length))[order]
    hops = np.add.reduceat(length, first)
    start = (np.cumsum(hops) - hops)[order]
    length = length[_runs(first[order], many)]
    return Routes(
        tail=tail[order].astype(np.int32),
        head=head[order].astype(np.int32),
        first_path=np.concatenate([[0], np.cumsum(many)]).astype(np.int64),
        multiplicity=np.ones(len(length), dtype=np.int64),
        first_hop=np.concatenate([[0], np.cumsum(length)]).astype(np.int64),
        hop=hop[_runs(start, hops[order])],
    )


def _runs(start: Numbers | Sequence[int], many: Numbers | Sequence[int]) -> Numbers:
    """Return so many numbers from each start on, one run after the other."""
    end = np.cumsum(many)
    found: Numbers = np.repeat(np.asarray(start) - (end - many), many) + np.arange(end[-1])
    return found


class _Links(NamedTuple):
    nodes: int
    tail: Numbers
    head: Numbers
    cost: Numbers

    @classmethod
    def of(cls, before: Neighbours) -> _Links:
        rows = [(tail, head, cost) for head, its in enumerate(before) for tail, cost in its]
        tail, head, costs = zip(*rows, strict=True) if rows else ((), (), ())
        exact = np.int64 if sum(costs) < 2**62 else object
        return cls(len(before), np.array(tail), np.array(head), np.array(costs, dtype=exact))

    def only_ways(
        self, distance: Mapping[int, int], head: int, senders: Sequence[int]
    ) -> tuple[Numbers, ...] | None:
        """Return the paths to a node if each sender has only one; None if there are ties."""
        far = np.full(self.nodes, -1, dtype=self.cost.dtype)
        far[list(distance)] = list(distance.values())
        there = far[self.head]
        least = (there >= 0) & (far[self.tail] == there + self.cost)
        following = np.full(self.nodes, head)
        following[self.tail[least]] = self.head[least]
        many = np.bincount(self.tail[least], minlength=self.nodes) > 1
        at = np.array(senders)
        columns = [at]
        while (at != head).any():
            if many[at].any():
                return None
            at = following[at]
            columns.append(at)
        return _written(np.stack(columns, axis=1), head)


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
    after: Neighbours, distance: Mapping[int, int], head: int, senders: Sequence[int]
) -> tuple[Numbers, ...]:
    """Return the paths to a node from these senders, by way of those of all nodes between.

    A path is its first node and the number of the path from its second one, so that none is copied.
    """
    nexts: dict[int, list[int]] = {head: []}
    todo = list(senders)
    while todo:
        node = todo.pop()
        if node not in nexts:
            here = distance[node]
            nexts[node] = [v for v, cost in after[node] if distance.get(v, here) + cost == here]
            todo += nexts[node]
    rest = [1, 1]  # number 0 stands for no path
    ways: dict[int, Sequence[int]] = {head: (1,)}
    nodes = [head, *sorted(nexts.keys() - {head}, key=distance.__getitem__)]
    for node in nodes[1:]:
        found = _in_turns([ways[v] for v in nexts[node]])
        ways[node] = range(len(rest), len(rest) + len(found))
        rest += found
    at = np.repeat([head, *nodes], [1, *(len(ways[node]) for node in nodes)])
    onward = np.array(rest)
    number = _runs([ways[tail][0] for tail in senders], [len(ways[tail]) for tail in senders])
    columns = [at[number]]
    while (columns[-1] != head).any():
        number = onward[number]
        columns.append(at[number])
    return _written(np.stack(columns, axis=1), head)


def _in_turns(ways: Sequence[Sequence[int]]) -> Sequence[int]:
    """Take a path of each node in turn, at most ``MAX_PATHS``."""
    if len(ways) == 1:
        return ways[0]
    if len({*map(len, ways)}) == 1:  # zip alone is faster
        return list(islice(chain.from_iterable(zip(*ways, strict=True)), MAX_PATHS))
    return list(islice(filter(None, chain.from_iterable(zip_longest(*ways))), MAX_PATHS))


def _written(way: Numbers, head: int) -> tuple[Numbers, ...]:
    """Return the start and the length of each path, a row up to the first ``head``; all nodes."""
    taken = np.ones(way.shape, dtype=np.bool_)
    taken[:, 1:] = way[:, :-1] != head
    return way[:, 0], taken.sum(axis=1), way[taken]
