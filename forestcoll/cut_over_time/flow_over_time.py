"""Maximum flow over time from sources to sinks, at every time, with its cut.

Problem: D(T) = max over flows f of T |f| - sum_e l_e f_e, which is how much can reach the sinks by
         T; the least T with D(T) = m, and labels that prove it.
Input:   links of whole capacities and latencies, source and sink nodes.
Output:  T as a Fraction of ticks, and the label of each node.
Cost:    a shortest path search and a maximum flow on shortest paths for each path length below T.
         All amounts share them: the flows of a smaller T are the first of a larger one.
Source:  Ford and Fulkerson 1958 (flows over time); Busacker and Gowen (successive shortest paths).

After the flows on paths of lengths d_1 < .. < d_k with value F and cost C, D(T) = F T - C from d_k
to d_k+1. Distances in the residual graph before and after the k-th flow are optimal labels at d_k
and at d_k+1, both complementary to it. So those between are their mixtures.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.problem.over_time.timed_links import TimedLinks

__all__ = ["FlowOverTime"]


@dataclass(frozen=True, slots=True)
class _Phase:
    """Flow on all paths up to a length, with the distances before it."""

    length: int
    labels: list[int]
    value: int
    cost: int


class FlowOverTime:
    """Flows over time between two sets of nodes; phases are computed when they are needed."""

    def __init__(self, links: TimedLinks, sources: Iterable[int], sinks: Iterable[int]) -> None:
        self._source, self._sink = links.nodes, links.nodes + 1
        size = links.nodes + 2
        self._arcs: list[list[int]] = [[] for _ in range(size)]
        self._head: list[int] = []
        self._left: list[int] = []
        self._cost: list[int] = []
        for tail, head, capacity, latency in zip(
            links.tail, links.head, links.capacity, links.latency, strict=True
        ):
            self._add(tail, head, capacity, latency)
        unlimited = sum(links.capacity) + 1
        for node in sources:
            self._add(self._source, node, unlimited, 0)
        for node in sinks:
            self._add(node, self._sink, unlimited, 0)
        self._potential = [0] * size
        self._phases: list[_Phase] = []
        self._ended = False

    def _add(self, tail: int, head: int, capacity: int, cost: int) -> None:
        for end, other, left, price in ((tail, head, capacity, cost), (head, tail, 0, -cost)):
            self._arcs[end].append(len(self._head))
            self._head.append(other)
            self._left.append(left)
            self._cost.append(price)

    def least_time(self, amount: Fraction) -> tuple[Fraction, list[Fraction]] | None:
        """Return the time in ticks at which an amount has arrived, and the labels of the nodes.

        Parameters
        ----------
        amount : Fraction
            In units of capacity times ticks; positive.

        Returns
        -------
        tuple or None
            None if no path leads from the sources to the sinks.
        """
        number = 0
        while True:
            phase, after = self._phase(number), self._phase(number + 1)
            if phase is None:
                return None
            time = (amount + phase.cost) / Fraction(phase.value)
            if after is None or time <= after.length:
                return time, self._labels(phase, after, time)
            number += 1

    def _labels(self, phase: _Phase, after: _Phase | None, time: Fraction) -> list[Fraction]:
        nodes = self._source
        if after is None:
            beyond = self._behind_the_cut()
            later = time - phase.length
            found = [phase.labels[v] + (later if beyond[v] else 0) for v in range(nodes)]
        else:
            part = (time - phase.length) / (after.length - phase.length)
            found = [
                phase.labels[v] + part * (after.labels[v] - phase.labels[v]) for v in range(nodes)
            ]
        return [min(max(Fraction(label), Fraction(0)), time) for label in found]

    def _phase(self, number: int) -> _Phase | None:
        while len(self._phases) <= number and not self._ended:
            self._extend()
        return self._phases[number] if number < len(self._phases) else None

    def _extend(self) -> None:
        distance = self._distances()
        farther = distance[self._sink]
        if farther is None:
            self._ended = True
            return
        # Beyond the sink's distance labels do not matter; the limit keeps reduced costs from 0 up.
        for node, one in enumerate(distance):
            self._potential[node] += farther if one is None else min(one, farther)
        length = self._potential[self._sink]
        labels = self._potential[: self._source]
        before = self._phases[-1] if self._phases else _Phase(0, [], 0, 0)
        value = self._augment()
        self._phases.append(
            _Phase(length, labels, before.value + value, before.cost + value * length)
        )

    def _distances(self) -> list[int | None]:
        """Return reduced distances from the source (Dijkstra)."""
        distance: list[int | None] = [None] * len(self._arcs)
        heap = [(0, self._source)]
        while heap:
            so_far, node = heapq.heappop(heap)
            if distance[node] is not None:
                continue
            distance[node] = so_far
            if node == self._sink:
                break
            for arc in self._arcs[node]:
                head = self._head[arc]
                if self._left[arc] and distance[head] is None:
                    heapq.heappush(heap, (so_far + self._reduced(node, arc), head))
        return distance

    def _reduced(self, node: int, arc: int) -> int:
        return self._cost[arc] + self._potential[node] - self._potential[self._head[arc]]

    def _behind_the_cut(self) -> list[bool]:
        """Return whether each node is out of reach of the source when no more flow is possible."""
        reached = [False] * len(self._arcs)
        reached[self._source] = True
        stack = [self._source]
        while stack:
            for arc in self._arcs[stack.pop()]:
                head = self._head[arc]
                if self._left[arc] and not reached[head]:
                    reached[head] = True
                    stack.append(head)
        return [not one for one in reached]

    def _augment(self) -> int:
        """Send a maximum flow over arcs of reduced cost 0 (Dinic)."""
        total = 0
        while (level := self._levels())[self._sink] >= 0:
            following = [0] * len(self._arcs)
            while sent := self._send(level, following):
                total += sent
        return total

    def _levels(self) -> list[int]:
        level = [-1] * len(self._arcs)
        level[self._source] = 0
        queue = [self._source]
        for node in queue:
            for arc in self._arcs[node]:
                head = self._head[arc]
                if level[head] < 0 and self._left[arc] and self._reduced(node, arc) == 0:
                    level[head] = level[node] + 1
                    queue.append(head)
        return level

    def _send(self, level: list[int], following: list[int]) -> int:
        """Send flow over one path of increasing levels; return how much, 0 if there is none."""
        path: list[int] = []
        node = self._source
        while node != self._sink:
            arcs = self._arcs[node]
            while following[node] < len(arcs):
                arc = arcs[following[node]]
                head = self._head[arc]
                if (
                    self._left[arc]
                    and level[head] == level[node] + 1
                    and self._reduced(node, arc) == 0
                ):
                    path.append(arc)
                    node = head
                    break
                following[node] += 1
            else:
                if not path:
                    return 0
                node = self._head[path.pop() ^ 1]
                following[node] += 1
        sent = min(self._left[arc] for arc in path)
        for arc in path:
            self._left[arc] -= sent
            self._left[arc ^ 1] += sent
        return sent
