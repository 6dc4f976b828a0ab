"""Partition bound on allreduces, from disjoint node sets and without a linear program.

Problem: prove that reduce-scatter + allgather is the fastest allreduce, where it is.
Input:   a topology; sets of GPUs that may be tight in both phases.
Output:  the least of the bounds that these sets prove, together or one by one.
Cost:    linear in the links for each family of sets.
Source:  ForestColl section 5.7 for the claim; the proof is ours.

Let X_1, .., X_m be disjoint sets that hold all GPUs. They prove the combination optimal if each is
tight in both phases and both phases have the same rate x. The proof has price 1 for each set in
each phase, and potential 1/2 at the switches outside all sets. Every root is outside m - 1 sets,
so c = 2 (m - 1). Links that enter and leave the sets have price 1/2, which sums to W (m - 1) x:
a bound of W x / 2.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import chain

import numpy as np
import numpy.typing as npt

from forestcoll.problem.allreduce_bound import AllreduceBound, Potential, PricedSet
from forestcoll.schedule.factored import FactoredForest, Sets
from forestcoll.topology.model import Topology

__all__ = ["Parts", "best_known_bound", "box_parts", "closed", "families_of", "partition_bound"]

Parts = Sequence[Sequence[int]]
"""Sets of ranks, disjoint, every rank in one of them."""


def best_known_bound(
    topology: Topology,
    families: Iterable[Parts] = (),
    *,
    multicast: bool = False,
    least: Fraction = Fraction(0),
) -> AllreduceBound | None:
    """Return the least of the bounds by partitions and by cuts around their sets.

    Parameters
    ----------
    families : iterable of sets of ranks
        Tried first; single GPUs and boxes follow.
    multicast : bool
        Whether switches marked ``multicast`` multicast and reduce.
    least : Fraction
        An attained rate in GB/s; the search ends when a bound meets it.

    Returns
    -------
    AllreduceBound or None
        None for a single GPU.
    """
    if topology.num_compute == 1:
        return None
    ranks = range(topology.num_compute)
    tried, best = [], None
    for parts in chain(families, [[[rank] for rank in ranks]], box_parts(topology)):
        if len(parts) > 1:
            tried.append(closed(topology, parts))
            rate = _partition_rate(topology, tried[-1], multicast)
            # The first family of those with the least rate.
            best = min(filter(None, (best, (rate, len(tried) - 1))))
            if rate <= least:
                break
    assert best is not None  # single GPUs are always tried
    rate, which = best
    cuts = [] if rate <= least else _cuts(topology, tried, multicast)
    narrow = min(cuts, key=lambda one: one.algbw_gb_s, default=None)
    if narrow is not None and narrow.algbw_gb_s < rate:
        return narrow
    return partition_bound(topology, tried[which], multicast=multicast)


def _partition_rate(
    topology: Topology, parts: Sequence[Sequence[int]], multicast: bool
) -> Fraction:
    """Return the rate that :func:`partition_bound` would prove, in less time."""
    links, place = topology.integer_capacities, _places(topology, parts)
    height = np.where(place < 0, 1, 0)  # twice the potential, which is 0 in the sets
    if multicast:
        height[[node.multicast for node in topology.nodes]] = 0
    tail, head = place[links.tail], place[links.head]
    rise = height[links.head] - height[links.tail]
    apart = tail != head
    price = np.maximum(2 * (apart & (head >= 0)) + rise, 2 * (apart & (tail >= 0)) - rise)
    capacity = links.capacity.astype(object)
    return Fraction(int((capacity * price).sum()), links.denominator * 4 * (len(parts) - 1))


def _places(topology: Topology, parts: Sequence[Sequence[int]]) -> npt.NDArray[np.int64]:
    """Return the number of the part that holds each node; -1 for nodes outside."""
    place = np.full(len(topology.nodes), -1)
    counts = [len(part) for part in parts]
    place[[node for part in parts for node in part]] = np.repeat(np.arange(len(parts)), counts)
    return place


def partition_bound(
    topology: Topology,
    parts: Sequence[Sequence[int]],
    *,
    multicast: bool = False,
) -> AllreduceBound:
    """Bound allreduces by the bandwidth into and out of disjoint node sets, each at price 1.

    Parameters
    ----------
    parts : sequences of node positions
        Two or more, disjoint, each with a GPU.
    multicast : bool
        As for :class:`forestcoll.problem.allreduce_bound.AllreduceBound`.
    """
    one, half = Fraction(1), Fraction(1, 2)
    held = {node for part in parts for node in part}
    outside = [
        Potential(switch, half, half)
        for switch in topology.switches
        if switch not in held and not (multicast and topology.nodes[switch].multicast)
    ]
    sets = [PricedSet(tuple(sorted(part)), gather=one, reduce=one) for part in parts]
    return AllreduceBound.of(topology, sets, outside, multicast=multicast)


def families_of(forest: FactoredForest) -> Iterator[Parts]:
    """Yield a partition for each level of nested sets; GPUs outside the sets stand alone."""
    sets = forest.sets
    yield from (_level(sets, depth) for depth in range(1, _depth(sets)))


def _depth(sets: Sets) -> int:
    depth = np.zeros(len(sets), dtype=np.int64)
    for inner in range(len(sets) - 2, -1, -1):  # inner sets come first
        depth[inner] = depth[sets.parent[inner]] + 1
    return int(depth.max(initial=0)) + 1


def _level(sets: Sets, depth: int) -> Parts:
    """Group ranks by the set around them at a depth, or at the greatest depth below it."""
    chain: list[tuple[int, ...]] = [()] * len(sets)
    for inner in range(len(sets) - 2, -1, -1):
        chain[inner] = (*chain[sets.parent[inner]], inner)
    found: dict[tuple[int, ...], list[int]] = {}
    for rank, around in enumerate(sets.set_of.tolist()):
        path = chain[around][:depth]
        key = path if len(path) == depth else (*path, -1 - rank)
        found.setdefault(key, []).append(rank)
    return list(found.values())


def box_parts(topology: Topology) -> Iterator[Parts]:
    """Yield the boxes as a partition, if every GPU is in one and there are several."""
    boxes: dict[int, list[int]] = {}
    for rank, gpu in enumerate(topology.compute):
        if (box := topology.nodes[gpu].box) is None:
            return
        boxes.setdefault(box, []).append(rank)
    if len(boxes) > 1:
        yield list(boxes.values())


def closed(topology: Topology, parts: Parts) -> list[list[int]]:
    """Convert ranks to nodes; add the switches that reach GPUs of one set only.

    Connected switches are added together or not at all.
    """
    part_of = {topology.compute[rank]: i for i, part in enumerate(parts) for rank in part}
    beside: dict[int, set[int]] = {switch: set() for switch in topology.switches}
    for tail, head in zip(*(end.tolist() for end in topology.link_ends), strict=True):
        for near, far in ((tail, head), (head, tail)):
            if near in beside:
                beside[near].add(far)
    nodes = [[topology.compute[rank] for rank in part] for part in parts]
    for joined in _joined(beside):
        around = {part_of.get(node, -1) for switch in joined for node in beside[switch] - joined}
        if len(around) == 1 and -1 not in around:
            nodes[around.pop()] += sorted(joined)
    return nodes


def _joined(beside: Mapping[int, set[int]]) -> Iterator[set[int]]:
    """Yield the connected components of the switches, given the neighbours of each."""
    left = set(beside)
    while left:
        joined, found = set[int](), {min(left)}
        while found:
            joined |= found
            found = {node for switch in found for node in beside[switch]} & left - joined
        left -= joined
        yield joined


def _cuts(
    topology: Topology, partitions: Iterable[Sequence[Sequence[int]]], multicast: bool
) -> list[AllreduceBound]:
    """Return the narrowest cut around a set of the partitions, in each direction."""
    links, best = topology.integer_capacities, dict[bool, tuple[int, list[int]]]()
    for parts in partitions:
        place = _places(topology, parts)
        tail, head = place[links.tail], place[links.head]
        for into, end in ((True, head), (False, tail)):
            crossing = (tail != head) & (end >= 0)
            widths = np.zeros(len(parts), dtype=np.int64)
            np.add.at(widths, end[crossing], links.capacity[crossing])
            least = int(widths.min())
            found = least, min(sorted(parts[i]) for i in np.flatnonzero(widths == least).tolist())
            best[into] = min(best.get(into, found), found)
    return [
        AllreduceBound.of_cut(topology, part, into=into, multicast=multicast)
        for into, (_, part) in best.items()
    ]
