"""Integer graphs as dictionaries, and one plain max-flow.

Problem: the largest flow from a source to a sink.
Input:   capacities {(tail, head): int} over integer nodes.
Output:  the value, and the nodes the source still reaches (the source side of a minimum cut).
Cost:    shortest augmenting paths, O(nodes links^2).
Source:  Edmonds and Karp; used for every F(x, y; .) in ForestColl appendix E.
"""

import math
from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from forestcoll.topology.model import Topology

Capacity = dict[tuple[int, int], int]
"""Capacity by (tail, head); a missing link has none."""

SOURCE = -1
"""The extra node s of the paper's auxiliary networks."""


class Flow(NamedTuple):
    """A flow's value, and the nodes its source still reaches (all of them valid as a cut)."""

    value: int
    reached: frozenset[int]


def integer_graph(topology: Topology) -> tuple[Capacity, int]:
    """Return the links scaled to whole numbers, and the factor that did it."""
    factor = math.lcm(*(link.bandwidth_gb_s.denominator for link in topology.links))
    scaled = {(e.tail, e.head): int(e.bandwidth_gb_s * factor) for e in topology.links}
    return scaled, factor


def with_source(capacity: Mapping[tuple[int, int], int], trees: Mapping[int, int]) -> Capacity:
    """Add the source s and a link of capacity trees[v] to every v: the paper's D with an arrow."""
    return {**capacity, **{(SOURCE, v): count for v, count in trees.items()}}


def max_flow(
    capacity: Mapping[tuple[int, int], int], source: int, sink: int, limit: int | None = None
) -> Flow:
    """Push flow from source to sink, stopping early once ``limit`` is reached.

    ``reached`` is a cut only if the limit did not stop the search.
    """
    residual: dict[int, dict[int, int]] = defaultdict(dict)  # without what has no room
    for (tail, head), room in capacity.items():
        if room:
            residual[tail][head] = room
    value = 0
    parent = _search(residual, source, sink)
    while sink in parent and (limit is None or value < limit):
        path = [sink]
        while path[-1] != source:
            path.append(parent[path[-1]])
        steps = list(zip(path[1:], path, strict=False))
        push = min(residual[tail][head] for tail, head in steps)
        for tail, head in steps:
            residual[tail][head] -= push
            if not residual[tail][head]:
                del residual[tail][head]
            residual[head][tail] = residual[head].get(tail, 0) + push
        value += push
        parent = _search(residual, source, sink)
    return Flow(value if limit is None else min(value, limit), frozenset(parent))


def _search(residual: Mapping[int, Mapping[int, int]], source: int, sink: int) -> dict[int, int]:
    """Search breadth first for the sink; return the parents of the nodes met."""
    parent = {source: source}
    queue = [source]
    for node in queue:
        heads = residual[node]
        if sink in heads and sink not in parent:
            parent[sink] = node
            return parent
        for head in heads:
            if head not in parent:
                parent[head] = node
                queue.append(head)
    return parent
