"""Lower bounds on the times of a placement from cuts of GPUs, fast enough for a search.

Problem: all groups of a kind share the network. For a set S of GPUs, the time is at least the data
         that must leave S (enter it) over the bandwidth out of S (into it).
Input:   a network, kinds, and which GPU each rank is.
Output:  the bound of each kind in microseconds, and how unevenly the cuts are used.
Cost:    two max-flows a cut once; then sets times GPUs a placement.
Source:  ForestColl's Theorem 1, summed over groups. A group of g with k GPUs in S sends k shards of
         an allgather out of S, g - k of a reduce-scatter, and k (g - k) parts of an all-to-all.
         Shortest paths bound an all-to-all too: every byte loads its hops.

Sets are single GPUs, and the GPUs within some hops of a node (boxes, rails, pods); of small
networks all. Switches go to the side where the cut is narrower, by max-flow.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.csgraph import maximum_flow, shortest_path

from forestcoll.topology.model import Topology
from lp.placement.parallel_kinds import Ints, Kind, grid_groups

__all__ = ["CutTimes", "gpu_sets"]

Floats = npt.NDArray[np.float64]
Sets = npt.NDArray[np.bool_]

ALL_SETS = 8
"""GPUs up to which every set is a cut."""

MOST_HOPS = 4
_LARGEST_INT32 = 2**30


class CutTimes:
    """Bounds for placements of the same kinds on one network.

    Parameters
    ----------
    topology : Topology
    kinds : sequence of Kind
    """

    def __init__(self, topology: Topology, kinds: Sequence[Kind]) -> None:
        self.kinds = tuple(kinds)
        self.groups = grid_groups(kinds, topology.num_compute)
        distance = _distances(topology)
        places = list(topology.compute)
        self.hops: Floats = distance[np.ix_(places, places)]
        self.total = float(sum(link.bandwidth_gb_s for link in topology.links))
        self.sets = gpu_sets(topology)
        self.out, self.into = _bandwidths(topology, self.sets)

    def times_us(self, placement: Ints) -> list[float]:
        """Return a lower bound on the time of each kind; ``placement[rank]`` is a GPU's rank."""
        return [
            sum(float(ratio.max()) for ratio in self._ratios(i, placement))
            for i in range(len(self.kinds))
        ]

    def unevenness(self, placement: Ints) -> float:
        """Return the sum of squares of the times of all cuts, for a search to prefer less.

        Trees cost a cut as much until it splits no group. Pairs of members that a cut separates
        become fewer before that, so they count as well.
        """
        total = 0.0
        for i in range(len(self.kinds)):
            for ratio in (*self._ratios(i, placement), self._exchange(i, placement)):
                total += float((ratio * ratio).sum())
        return total

    def _exchange(self, number: int, placement: Ints) -> Floats:
        """Return the time that each cut needs, and all links for the hops, in an all-to-all."""
        kind, members = self.kinds[number], placement[self.groups[number]]
        inside = self.sets[:, members].sum(axis=2)
        crossing = (inside * (kind.size - inside)).sum(axis=1)
        hops = self.hops[members[:, :, None], members[:, None, :]].sum() / self.total
        times: Floats = np.append(crossing / np.minimum(self.out, self.into), hops)
        return times * (kind.size_bytes / kind.size / 1000)

    def _ratios(self, number: int, placement: Ints) -> Iterator[Floats]:
        """Yield, for each phase, the time in microseconds that each cut needs."""
        kind = self.kinds[number]
        if kind.collective == "all-to-all":
            yield self._exchange(number, placement)
            return
        inside = self.sets[:, placement[self.groups[number]]].sum(axis=2)
        outside = kind.size - inside
        split = (inside > 0) & (outside > 0)
        shard = kind.size_bytes / kind.size / 1000
        leaving, entering = (inside * split).sum(axis=1), (outside * split).sum(axis=1)
        if kind.collective != "reduce-scatter":
            yield shard * np.maximum(leaving / self.out, entering / self.into)
        if kind.collective != "allgather":
            yield shard * np.maximum(entering / self.out, leaving / self.into)


def gpu_sets(topology: Topology) -> Sets:
    """Return the sets of GPUs whose cuts are looked at, one a row, a column for each rank."""
    gpus = topology.num_compute
    if gpus <= ALL_SETS:
        chosen = {
            frozenset(some) for size in range(1, gpus) for some in combinations(range(gpus), size)
        }
    else:
        chosen = {frozenset([gpu]) for gpu in range(gpus)} | _near_sets(topology)
    sets = np.zeros((len(chosen), gpus), dtype=np.bool_)
    for row, some in enumerate(sorted(chosen, key=sorted)):
        sets[row, list(some)] = True
    return sets


def _near_sets(topology: Topology) -> set[frozenset[int]]:
    """Return the boxes, and the GPUs within some hops of each node."""
    near = _distances(topology)[:, list(topology.compute)]
    found = {
        frozenset(np.flatnonzero(row <= hops).tolist())
        for hops in range(1, MOST_HOPS + 1)
        for row in near
    }
    box = [topology.nodes[place].box for place in topology.compute]
    found |= {
        frozenset(i for i, other in enumerate(box) if other == one)
        for one in set(box)
        if one is not None
    }
    return {some for some in found if 0 < len(some) < topology.num_compute}


def _distances(topology: Topology) -> Floats:
    tails, heads = _ends(topology)
    size = len(topology.nodes)
    graph = sp.csr_array((np.ones(len(tails)), (tails, heads)), shape=(size, size))
    found: Floats = shortest_path(graph, unweighted=True)
    return found


def _ends(topology: Topology) -> tuple[Ints, Ints]:
    tails = np.array([link.tail for link in topology.links], dtype=np.int64)
    return tails, np.array([link.head for link in topology.links], dtype=np.int64)


def _bandwidths(topology: Topology, sets: Sets) -> tuple[Floats, Floats]:
    """Return the bandwidth out of each set and into it, with switches on the better side."""
    tails, heads = _ends(topology)
    size = len(topology.nodes)
    capacity, unit = _small_integers(topology)
    # A set's GPUs are fed by one extra node, the other GPUs feed another.
    compute = np.array(topology.compute, dtype=np.int64)
    found = np.empty((2, len(sets)))
    for row, inside in enumerate(sets):
        own, others = compute[inside], compute[~inside]
        for way, (start, end) in enumerate(((own, others), (others, own))):
            tail = np.concatenate([tails, np.full(len(start), size), end])
            head = np.concatenate([heads, start, np.full(len(end), size + 1)])
            most = np.full(len(compute), int(capacity.sum()), dtype=np.int32)
            values = np.concatenate([capacity, most]).astype(np.int32)
            graph = sp.csr_array((values, (tail, head)), shape=(size + 2, size + 2))
            found[way, row] = maximum_flow(graph, size, size + 1).flow_value * float(unit)
    return found[0], found[1]


def _small_integers(topology: Topology) -> tuple[Ints, Fraction]:
    """Return capacities for scipy's 32 bits, and their unit in GB/s; rounded up if they must be."""
    bandwidth = [link.bandwidth_gb_s for link in topology.links]
    exact = Fraction(1, math.lcm(*(one.denominator for one in bandwidth)))
    coarse = sum(bandwidth, Fraction(0)) / (_LARGEST_INT32 - len(bandwidth))
    unit = max(exact, coarse)
    return np.array([math.ceil(one / unit) for one in bandwidth], dtype=np.int64), unit
