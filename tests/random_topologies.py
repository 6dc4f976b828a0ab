"""Small random networks on which an allgather is possible, one plan for seeds and Hypothesis alike.

Every choice is an integer asked from a function ``integer(low, high)``, both ends included: a
seeded generator's, or a Hypothesis draw, which then shrinks the network itself. The lowest answers
give the smallest and plainest network.

Kinds:

- ``directed``: a sum of closed walks, so that every node is balanced (the paper's Eulerian case)
- ``bidirectional``: links of equal bandwidth both ways
- ``unbalanced``: a directed one whose bandwidths are then distorted, links between GPUs added; only
  switches keep in >= out

In all of them every GPU reaches every other, and no switch sends more than it can receive.
"""

import os
import random
from collections import defaultdict
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from forestcoll.topology.model import Link, Node, NodeKind, Topology

KINDS = ("directed", "bidirectional", "unbalanced")
MAX_NODES = 10
MAX_SWITCHES = 4

Integer = Callable[[int, int], int]
Bandwidths = dict[tuple[int, int], Fraction]


ALL_ROUNDS = "FORESTCOLL_ALL_ROUNDS"
"""Environment variable that asks for all rounds of random tests; ``make test-all`` sets it."""

FEW = 8
"""Fewest rounds that are run, if a test has as many."""


def rounds(most: int, soon: int | None = None) -> int:
    """Return how many rounds of a loop, or examples of Hypothesis, are run.

    All ``most`` of them where the environment asks for it; else ``soon``, or a third.
    """
    if os.environ.get(ALL_ROUNDS):
        return most
    return min(most, max(FEW, most // 3)) if soon is None else soon


def seeds(most: int, soon: int) -> list[Any]:
    """Return so many seeds as parameters of a test; those from ``soon`` on are slow."""
    slow = (pytest.param(seed, marks=pytest.mark.slow) for seed in range(soon, most))
    return [*range(soon), *slow]


def random_topology(seed: int, kind: str) -> Topology:
    """Return the network of a seed: 2 to 10 nodes, 0 to 4 of them switches."""
    return build_topology(kind, random.Random(f"{kind} {seed}").randint)


def build_topology(kind: str, integer: Integer) -> Topology:
    """Build a small network from the answers of ``integer(low, high)``."""
    compute = integer(2, MAX_NODES - MAX_SWITCHES + 2)
    switches = integer(0, min(MAX_SWITCHES, MAX_NODES - compute))
    return sized_topology(kind, compute, switches, integer)


def sized_topology(kind: str, compute: int, switches: int, integer: Integer) -> Topology:
    """Build a network of any size from the answers of ``integer(low, high)``."""
    denominators = integer(1, 4)

    def bandwidth() -> Fraction:
        return Fraction(integer(1, 8), integer(1, denominators))

    if kind == "bidirectional":
        links = _both_ways(compute + switches, integer, bandwidth)
    else:
        links = _closed_walks(compute, switches, integer, bandwidth)
    if kind == "unbalanced":
        links = _distorted(links, compute, integer, bandwidth)
    return _shuffled(f"random-{kind}", compute, switches, links, integer)


def _closed_walks(
    compute: int, switches: int, integer: Integer, bandwidth: Callable[[], Fraction]
) -> Bandwidths:
    """One closed walk over all GPUs, switches in between, and a few cycles over any nodes."""
    links: Bandwidths = defaultdict(Fraction)
    walks = [_grand_tour(compute, switches, integer)]
    for _ in range(integer(0, max(5, compute // 2))):
        walks.append(_some_of(list(range(compute + switches)), integer))
    for walk in walks:
        share = bandwidth()
        for tail, head in zip(walk, walk[1:] + walk[:1], strict=True):
            links[tail, head] += share
    return links


def _grand_tour(compute: int, switches: int, integer: Integer) -> list[int]:
    """Visit every GPU once and every switch at least once, never staying at a node."""
    hops: list[list[int]] = [[] for _ in range(compute)]
    for switch in range(compute, compute + switches):
        hops[integer(0, compute - 1)].append(switch)
    for between in hops:
        again = compute + integer(-1, switches - 1)
        if again >= compute and again not in between:
            between.append(again)
    return [node for gpu, between in enumerate(hops) for node in (gpu, *between)]


def _some_of(pool: list[int], integer: Integer) -> list[int]:
    """Return two or more distinct nodes in any order."""
    return [pool.pop(integer(0, len(pool) - 1)) for _ in range(integer(2, min(5, len(pool))))]


def _both_ways(size: int, integer: Integer, bandwidth: Callable[[], Fraction]) -> Bandwidths:
    """Return a random tree over all nodes, in any order, and more links."""
    links: Bandwidths = defaultdict(Fraction)
    pool = list(range(size))
    joined = [pool.pop(integer(0, len(pool) - 1))]
    pairs = []
    while pool:
        joined.append(pool.pop(integer(0, len(pool) - 1)))
        pairs.append((joined[-1], joined[integer(0, len(joined) - 2)]))
    for _ in range(integer(0, size + 2)):
        a = integer(0, size - 2)
        pairs.append((a, integer(a + 1, size - 1)))
    for a, b in pairs:
        share = bandwidth()
        links[a, b] += share
        links[b, a] += share
    return links


def _distorted(
    links: Bandwidths, compute: int, integer: Integer, bandwidth: Callable[[], Fraction]
) -> Bandwidths:
    """Upset the balance, but never lower what a switch receives nor raise what it sends."""
    distorted: Bandwidths = defaultdict(Fraction)
    for (tail, head), share in links.items():
        factor = integer(1, 3)
        if tail < compute:
            distorted[tail, head] = share * factor
        elif head < compute:
            distorted[tail, head] = share / factor
        else:
            distorted[tail, head] = share
    for _ in range(integer(0, 3)):
        tail, head = _some_of(list(range(compute)), integer)[:2]
        distorted[tail, head] += bandwidth()
    return distorted


def _shuffled(
    name: str, compute: int, switches: int, links: Bandwidths, integer: Integer
) -> Topology:
    """Name the nodes and spread the switches among the GPUs, so that rank is not position."""
    nodes = [Node(f"g{i}", NodeKind.COMPUTE) for i in range(compute)]
    nodes += [Node(f"w{i}", NodeKind.SWITCH) for i in range(switches)]
    order = list(range(compute))
    for switch in range(compute, compute + switches):
        order.insert(len(order) - integer(0, len(order)), switch)
    ends = (Link(tail, head, share) for (tail, head), share in links.items())
    return Topology(name, tuple(nodes), tuple(ends)).relabelled(order)
