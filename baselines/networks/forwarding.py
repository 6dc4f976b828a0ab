"""Forwarding: how data gets from one GPU to another over switches and over other GPUs.

Problem: a step method says "a sends to b"; find the physical paths of the transfer.
Output:  the least-cost paths of each pair, through any nodes, where a link costs 1 / bandwidth. A
         transfer divides evenly over ties, at most ``MAX_PATHS`` of them.
Cost:    one Dijkstra search for each receiver, stopped at its farthest sender, and at most
         ``MAX_PATHS`` paths from each node on the way, listed for many receivers at once.
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
from collections.abc import Iterable, Sequence
from heapq import heappop, heappush
from itertools import pairwise
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

_CELLS = 2**18
"""Receivers times links that are searched at once."""

_AT_ONCE = 2**14
"""Paths that are written at once."""


def forwarded(
    topology: Topology, pairs: Iterable[tuple[int, int]] | Numbers, *, direct: bool = False
) -> Routes:
    """Find the least-cost paths of each pair (tail rank, head rank), with equal multiplicity.

    If ``direct``, a linked pair takes only its link, even if other paths cost as much.

    Raises
    ------
    UnsupportedError
        If there is none.
    """
    given = pairs if isinstance(pairs, np.ndarray) else list(pairs)
    asked = np.array(given, dtype=np.int32).reshape(-1, 2)
    asked = asked[np.lexsort(asked.T[::-1])]
    tail, head = np.array(topology.compute)[asked.T]
    linked = np.zeros(len(asked), dtype=np.bool_)
    if direct:
        ends = zip(tail.tolist(), head.tolist(), strict=True)
        linked[:] = [pair in topology.link_between for pair in ends]
    parts, known = [_Chains.of_links(tail[linked], head[linked])], 2 * int(linked.sum())
    first, many = np.zeros(len(asked), dtype=np.int64), np.ones(len(asked), dtype=np.int64)
    first[linked] = np.arange(0, known, 2)
    before, links = _costs(topology)
    receivers = np.unique(head[~linked])
    block = max(1, _CELLS // max(1, len(topology.links)))
    for some in np.split(receivers, range(block, len(receivers), block)):
        here = np.flatnonzero(~linked & np.isin(head, some))
        far = _distances(before, some, tail[here], head[here])
        row = np.searchsorted(some, head[here])
        if (unreached := far[row, tail[here]] < 0).any():
            names = [topology.nodes[end[here][unreached][0]].name for end in (tail, head)]
            raise UnsupportedError(f"unsupported: no path from {names[0]} to {names[1]}")
        ways = _ways(links, far, some, known)
        first[here], many[here] = (each[row, tail[here]] for each in (ways.first, ways.many))
        parts.append(ways.chains)
        known += len(ways.chains.at)
    chains = _Chains(*(np.concatenate(column) for column in zip(*parts, strict=True)))
    return _written(asked, first, many, chains)


class _Chains(NamedTuple):
    """Numbered paths, none of which is copied.

    Parameters
    ----------
    at : int array
        The first node of each path.
    onward : int array
        The number of the path that is left behind the first node; the own number at the end.
    """

    at: Numbers
    onward: Numbers

    @classmethod
    def of_links(cls, tail: Numbers, head: Numbers) -> _Chains:
        """Return the paths over single links: the numbers 0, 2, 4 and so on."""
        return cls(np.stack([tail, head], axis=1).reshape(-1), np.arange(2 * len(tail)) | 1)


class _Links(NamedTuple):
    tail: Numbers
    head: Numbers
    cost: Numbers


class _Ways(NamedTuple):
    """The paths from each node (column) to some receivers (rows), as numbers without a gap."""

    chains: _Chains
    first: Numbers
    many: Numbers


def _costs(topology: Topology) -> tuple[Neighbours, _Links]:
    """The nodes before each node, and the links; with whole costs in proportion to 1 / bandwidth.

    Costs are 64-bit integers if the longest path fits, else Python's.
    """
    per = math.lcm(*(link.bandwidth_gb_s.numerator for link in topology.links))
    before: list[list[tuple[int, int]]] = [[] for _ in topology.nodes]
    costs = [int(per / link.bandwidth_gb_s) for link in topology.links]
    for link, cost in zip(topology.links, costs, strict=True):
        before[link.head].append((link.tail, cost))
    tail, head = topology.link_ends
    exact = np.int64 if sum(costs) < 2**62 else object
    return before, _Links(np.asarray(tail), np.asarray(head), np.array(costs, dtype=exact))


def _distances(before: Neighbours, receivers: Numbers, tail: Numbers, head: Numbers) -> Numbers:
    """Return the cost from each node (column) to each receiver (row) as far as needed; else -1."""
    order = np.argsort(head, kind="stable")
    senders = np.split(tail[order], np.searchsorted(head[order], receivers))[1:]
    rows = [
        _distances_to(before, node, set(some.tolist()))
        for node, some in zip(receivers.tolist(), senders, strict=True)
    ]
    far = np.array(rows, dtype=object) if rows else np.zeros((0, len(before)), dtype=object)
    return far if (far >= 2**62).any() else far.astype(np.int64)


def _distances_to(before: Neighbours, head: int, missing: set[int]) -> list[int]:
    """Search until no sender is missing. The queue has distances: many nodes are equally far."""
    best = {head: 0}
    distance = [-1] * len(before)
    nodes, queue = {0: [head]}, [0]
    while queue and missing:
        cost = heappop(queue)
        for node in nodes.pop(cost):
            if distance[node] >= 0:
                continue
            distance[node] = cost
            missing.discard(node)
            if not missing:
                break
            for tail, more in before[node]:
                total = cost + more
                if tail not in best or total < best[tail]:
                    best[tail] = total
                    if total not in nodes:
                        nodes[total] = []
                        heappush(queue, total)
                    nodes[total].append(tail)
    return distance


def _ways(links: _Links, far: Numbers, receivers: Numbers, known: int) -> _Ways:
    """List the paths from the nearest nodes outwards, by way of those of the next nodes.

    Their numbers begin at ``known``.
    """
    rows, nodes = far.shape
    there = far[:, links.head]
    row, link = np.nonzero((there >= 0) & (far[:, links.tail] == there + links.cost))
    cell, onto = row * nodes + links.tail[link], row * nodes + links.head[link]
    levels, level = np.unique(far.reshape(-1)[cell], return_inverse=True)
    order = np.lexsort((cell, level))  # a node's links stay in their order
    ends = np.searchsorted(level[order], np.arange(len(levels) + 1)).tolist()
    first, many = np.zeros(rows * nodes, dtype=np.int64), np.zeros(rows * nodes, dtype=np.int64)
    own = np.arange(rows) * nodes + receivers
    first[own], many[own] = known + np.arange(rows), 1
    at, onward = [receivers], [first[own]]
    known += rows
    for start, end in pairwise(ends):
        some = order[start:end]
        new = np.flatnonzero(np.diff(cell[some], prepend=-1))
        cells = cell[some][new]
        total, rest = _in_turns(new, first[onto[some]], many[onto[some]])
        first[cells], many[cells] = known + np.cumsum(total) - total, total
        at.append(np.repeat(cells % nodes, total))
        onward.append(rest)
        known += len(rest)
    chains = _Chains(np.concatenate(at), np.concatenate(onward))
    return _Ways(chains, first.reshape(far.shape), many.reshape(far.shape))


def _in_turns(group: Numbers, first: Numbers, many: Numbers) -> tuple[Numbers, Numbers]:
    """Take a path of each next hop in turn, at most ``MAX_PATHS`` of each node.

    Parameters
    ----------
    group : int array
        Where the next hops of each node begin.
    first, many : int arrays
        The paths from each next hop.

    Returns
    -------
    int array, int array
        The number of paths of each node, and all of these.
    """
    hops = np.diff(group, append=len(first))
    node = np.repeat(np.arange(len(group)), hops)
    place = np.arange(len(first)) - group[node]
    counts = np.zeros((int(hops.max()), len(group)), dtype=np.int64)
    counts[place, node] = many
    total = np.minimum(counts.sum(axis=0), MAX_PATHS)
    hop = np.repeat(np.arange(len(first)), many)
    turn = np.arange(len(hop)) - np.repeat(np.cumsum(many) - many, many)
    rank = np.zeros(len(hop), dtype=np.int64)  # of a path among those of its node
    for i, count in enumerate(counts):
        there = count[node[hop]]
        rank += np.minimum(there, turn) + ((there > turn) & (i < place[hop]))
    kept = rank < MAX_PATHS
    rest = np.zeros(int(total.sum()), dtype=np.int64)
    start = np.cumsum(total) - total
    rest[(start[node[hop]] + rank)[kept]] = (first[hop] + turn)[kept]
    return total, rest


def _written(pairs: Numbers, first: Numbers, many: Numbers, chains: _Chains) -> Routes:
    """Write the nodes of the paths of each pair, which have consecutive numbers."""
    number = np.repeat(first - (np.cumsum(many) - many), many) + np.arange(many.sum())
    lengths, hops = [np.zeros(1, dtype=np.int64)], [np.zeros(0, dtype=np.int32)]
    at = chains.at.astype(np.int32)
    for start in range(0, len(number), _AT_ONCE):
        rows = [number[start : start + _AT_ONCE]]
        while ((onward := chains.onward.take(rows[-1])) != rows[-1]).any():
            rows.append(onward)
        left = np.array(rows)  # by hop and path, the rest of the path
        goes_on = np.ones(left.shape, dtype=np.bool_)
        np.not_equal(left[1:], left[:-1], out=goes_on[1:])
        lengths.append(goes_on.sum(axis=0))
        hops.append(at.take(left.T.take(np.flatnonzero(goes_on.T))))
    return Routes(
        tail=pairs[:, 0],
        head=pairs[:, 1],
        first_path=np.concatenate([[0], np.cumsum(many)]).astype(np.int64),
        multiplicity=np.ones(len(number), dtype=np.int64),
        first_hop=np.cumsum(np.concatenate(lengths)),
        hop=np.concatenate(hops),
    )
