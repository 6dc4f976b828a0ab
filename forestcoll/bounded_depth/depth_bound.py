"""A rate that no trees of a given depth exceed.

Problem: the least 1/x at which trees of depth h may be, whatever their number.
Input:   a network on which out-trees are packed, weights, h.
Output:  an exact bound on 1/x from below.
Cost:    links x h x N for the network, and the same of each box by itself.
Source:  Own. Proof: :func:`depth_bound`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

import numpy as np

from forestcoll.topology.model import Topology

__all__ = ["depth_bound", "most_within"]


def depth_bound(network: Topology, weights: Sequence[int], depth: int) -> Fraction:
    """Return what 1/x of a forest of trees up to a depth is not below, in s/GB per unit of weight.

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
    *Balls.* Let n GPUs be outside a set S of nodes. A tree rooted in S comes to each of them over a
    link out of S, the last such on the way there; from the first GPU behind it the way goes on
    outside S, over h - 1 hops at most. So if no GPU outside has more than B of them within h - 1
    hops outside S, itself among them, a tree uses links out of S ceil(n / B) times or more, and
    1/x >= w(S) ceil(n / B) / b(S), with b(S) the bandwidth out of S. Taken for all but each box,
    and for each root alone, with the GPUs that any GPU of the network has within h - 1 hops.

    *Pairs*, of depth 1. A shard goes to every GPU from its root itself. Those of GPUs that no
    link joins to v enter v over links from switches; so does all that leaves a root for such GPUs
    leave over links to switches.
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
    """Return the most GPUs that one GPU reaches over some nodes in so many hops, itself included.

    At least 1. Searches from all GPUs among the nodes at once.
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
