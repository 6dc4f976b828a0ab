"""Upper bound on the rate of trees within a depth.

Problem: the least 1/x of trees of depth h or less, whatever their number.
Input:   a network on which out-trees are packed, weights, h.
Output:  an exact lower bound on 1/x.
Cost:    links x h x N for the network, and the same for each box by itself.
Source:  Own. Proof: :func:`depth_bound`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

import numpy as np

from forestcoll.topology.model import Topology

__all__ = ["depth_bound", "most_within"]


def depth_bound(network: Topology, weights: Sequence[int], depth: int) -> Fraction:
    """Return a lower bound on 1/x of trees within a depth, in s/GB per unit of weight.

    Parameters
    ----------
    network : Topology
        Out-trees are packed on it; a reduction has the reversed network here.
    weights : sequence of int
        One for each rank.
    depth : int
        In hops from GPU to GPU, at least the eccentricity of every root.

    Notes
    -----
    *Balls.* Let n GPUs be outside a set S of nodes. A tree rooted in S reaches each of them by a
    path whose last link out of S leads to some first GPU outside. From that GPU the path stays
    outside S, over h - 1 hops at most. Let no GPU outside have more than B of the n within h - 1
    hops outside S, itself included. Then a tree uses links out of S at least ceil(n / B) times, and
    1/x >= w(S) ceil(n / B) / b(S), with b(S) the bandwidth out of S. The bound is taken for the
    complement of each box. It is also taken for each root alone, with B the most GPUs that any GPU
    of the network has within h - 1 hops.

    *Pairs*, for depth 1. The root itself sends its shard to every GPU. Shards of GPUs without a
    link to v enter v over links from switches. Likewise, a root sends to GPUs without a link from
    it over links to switches.
    """
    ratios = [*_of_boxes(network, weights, depth), *_of_roots(network, weights, depth)]
    if depth == 1:
        ratios += _of_pairs(network, weights)
    return max(ratios, default=Fraction(0))


def _of_boxes(network: Topology, weights: Sequence[int], depth: int) -> Iterator[Fraction]:
    boxes: dict[int, list[int]] = {}
    for v, node in enumerate(network.nodes):
        if node.box is not None:
            boxes.setdefault(node.box, []).append(v)
    enters = dict.fromkeys(boxes, Fraction(0))
    for link in network.links:
        box = network.nodes[link.head].box
        if box is not None and network.nodes[link.tail].box != box:
            enters[box] += link.bandwidth_gb_s
    weight = dict(zip(network.compute, weights, strict=True))
    for box, nodes in boxes.items():
        gpus = [v for v in nodes if v in weight]
        rooted = sum(weights) - sum(weight[v] for v in gpus)
        if gpus and rooted and enters[box]:
            entries = -(-len(gpus) // most_within(network, nodes, depth - 1))
            yield rooted * entries / enters[box]


def _of_roots(network: Topology, weights: Sequence[int], depth: int) -> Iterator[Fraction]:
    most = most_within(network, range(len(network.nodes)), depth - 1)
    entries = -(-(network.num_compute - 1) // most)
    leaves = [Fraction(0)] * len(network.nodes)
    for link in network.links:
        leaves[link.tail] += link.bandwidth_gb_s
    for v, weight in zip(network.compute, weights, strict=True):
        if weight and leaves[v]:
            yield weight * entries / leaves[v]


def _of_pairs(network: Topology, weights: Sequence[int]) -> Iterator[Fraction]:
    weight = dict(zip(network.compute, weights, strict=True))
    enters = dict.fromkeys(weight, Fraction(0))
    leaves = dict.fromkeys(weight, Fraction(0))
    foreign = {v: sum(weights) - weight[v] for v in weight}
    others = dict.fromkeys(weight, network.num_compute - 1)
    for link in network.links:
        if link.tail in weight and link.head in weight:
            foreign[link.head] -= weight[link.tail]
            others[link.tail] -= 1
        elif link.head in weight:
            enters[link.head] += link.bandwidth_gb_s
        elif link.tail in weight:
            leaves[link.tail] += link.bandwidth_gb_s
    for v in weight:
        if enters[v]:
            yield foreign[v] / enters[v]
        if leaves[v]:
            yield weight[v] * others[v] / leaves[v]


def most_within(network: Topology, nodes: Iterable[int], hops: int) -> int:
    """Return the most GPUs that one GPU reaches within some nodes and hops, itself included.

    The result is at least 1. One search runs from all GPUs among the nodes at once.
    """
    inside = set(nodes)
    gpus = [v for v in network.compute if v in inside]
    reach = np.zeros((len(network.nodes), len(gpus)), dtype=np.bool_)
    reach[gpus, range(len(gpus))] = True
    links = [(a.tail, a.head) for a in network.links if a.tail in inside and a.head in inside]
    instant = [(u, v) for u, v in links if network.nodes[v].is_switch]
    timed = [(u, v) for u, v in links if not network.nodes[v].is_switch]
    for _ in range(min(hops, len(gpus))):
        if reach[gpus].all():
            break
        grown = True
        # Switches forward at once, so a hop leads over any number of them.
        while grown:
            grown = False
            for tail, head in instant:
                if np.any(reach[tail] & ~reach[head]):
                    reach[head] |= reach[tail]
                    grown = True
        before = reach.copy()
        for tail, head in timed:
            reach[head] |= before[tail]
    return int(reach[gpus].sum(axis=0).max(initial=1))
