"""Depth of a schedule's trees in hops and links, their number, and proven lower bounds.

Problem: the least depth h that trees can have, at the rate and k of a given forest.
Input:   a forest (explicit, factored or with multicast switches) or an allreduce.
Output:  depths in GPU hops and in links, numbers of trees, and a proven bound for each.
Cost:    figures: linear in the tree edges, times log2(depth). Bounds: a word-parallel search from
         all roots at once (links x levels x N/64), and N log N for each root with little egress.
Source:  Own; ForestColl optimizes throughput alone. Proofs: :func:`least_latency`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt

from forestcoll.bounded_depth.hop_distances import eccentricities
from forestcoll.core.assembly import blocks, tree_depths
from forestcoll.errors import UnsupportedError
from forestcoll.schedule.allreduce import Allreduce, AnyForest, AnySchedule, not_taken
from forestcoll.schedule.factored import FactoredForest
from forestcoll.schedule.flows import FlowSchedule
from forestcoll.schedule.forest import Forest, Routes
from forestcoll.schedule.multicast import MulticastForest
from forestcoll.schedule.steps import StepSchedule
from forestcoll.topology.in_brief import InARow, cell_text
from forestcoll.topology.model import Topology

__all__ = ["Latency", "LeastLatency", "latency", "least_latency"]

_ENTRIES_AT_A_TIME = 2**18  # depths held together: few enough to stay in the cache


@dataclass(frozen=True, slots=True, repr=False)
class LeastLatency(InARow):
    """Lower bounds for all schedules with the same trees per GPU and congestion.

    Parameters
    ----------
    depth : int
        Depth of the deepest tree, in hops from GPU to GPU.
    average_depth : Fraction
        Over all trees, in hops from GPU to GPU.
    physical_hops : int
        Depth of the deepest tree, in links.
    distinct_trees : int
    """

    depth: int
    average_depth: Fraction
    physical_hops: int
    distinct_trees: int

    def in_a_row(self) -> dict[str, object]:
        """Return the bounds by their names."""
        return {
            "depth": self.depth,
            "average_depth": self.average_depth,
            "physical_hops": self.physical_hops,
            "distinct_trees": self.distinct_trees,
        }


@dataclass(frozen=True, slots=True, repr=False)
class Latency(InARow):
    """Depths and numbers of trees, which decide latency; for an allreduce the sum of both phases.

    With multicast switches, a hop leads from one multicasting node (a GPU or such a switch) to the
    next.

    Parameters
    ----------
    depth : int
        Depth of the deepest tree, in hops from GPU to GPU.
    average_depth : Fraction
        Over all trees, counted with multiplicity, in hops from GPU to GPU.
    physical_hops : int, optional
        Links from the root to the farthest GPU, in the worst tree. An edge counts with the longest
        of its paths, because a forest does not assign paths to single trees. None if not requested.
    trees, distinct_trees : int
        With multiplicity and without.
    at_least : LeastLatency
    """

    depth: int
    average_depth: Fraction
    physical_hops: int | None
    trees: int
    distinct_trees: int
    at_least: LeastLatency

    def in_a_row(self) -> dict[str, object]:
        """Return the figures, each with its lower bound."""
        least = self.at_least.in_a_row()
        found = {
            "depth": self.depth,
            "average_depth": self.average_depth,
            "physical_hops": self.physical_hops,
            "distinct_trees": self.distinct_trees,
        }
        pairs = {
            name: value
            if value in (None, least[name])
            else f"{cell_text(value)} (at least {cell_text(least[name])})"
            for name, value in found.items()
        }
        return {**pairs, "trees": self.trees}


def latency(schedule: AnySchedule, *, physical: bool = True) -> Latency:
    """Measure the trees of a schedule, and bound them from below.

    Parameters
    ----------
    schedule : Forest, FactoredForest, MulticastForest or Allreduce
        Assumed to do what it claims; :func:`forestcoll.schedule.verify` proves that.
    physical : bool
        Whether to count links too. Trees of a factored forest are expanded for it, a few at a
        time.

    Raises
    ------
    VerificationError
        If a factored forest cannot be expanded.
    UnsupportedError
        For step and flow schedules, which have no trees.

    Examples
    --------
    >>> import forestcoll
    >>> found = latency(forestcoll.generate("dgx_a100:boxes=4").schedule)
    >>> found.depth, found.at_least.depth, found.physical_hops, found.at_least.physical_hops
    (2, 2, 4, 4)
    """
    if isinstance(schedule, Allreduce):
        return _one_after_the_other(*(latency(part, physical=physical) for part in schedule.phases))
    if isinstance(schedule, StepSchedule):
        raise UnsupportedError(
            "unsupported: a step schedule has no trees; synchronous(schedule).steps has the number "
            "of its steps"
        )
    if isinstance(schedule, FlowSchedule):
        raise UnsupportedError(
            "unsupported: a flow schedule has neither trees nor steps; its paths flow at once"
        )
    if not isinstance(schedule, AnyForest):
        raise not_taken("latency", schedule)
    if isinstance(schedule, FactoredForest):
        multiplicity, depth = tree_depths(schedule)
    else:
        multiplicity, depth = schedule.multiplicity, schedule.tree_depths()
    trees, deepest = sum(multiplicity.tolist()), int(depth.max(initial=0))
    of_all = sum(m * h for m, h in zip(multiplicity.tolist(), depth.tolist(), strict=True))
    return Latency(
        depth=deepest,
        average_depth=Fraction(of_all, max(trees, 1)),
        physical_hops=_physical_hops(schedule, deepest) if physical else None,
        trees=trees,
        distinct_trees=len(depth),
        at_least=least_latency(schedule),
    )


def _one_after_the_other(first: Latency, then: Latency) -> Latency:
    links = (first.physical_hops, then.physical_hops)
    a, b = first.at_least, then.at_least
    return Latency(
        depth=first.depth + then.depth,
        average_depth=first.average_depth + then.average_depth,
        physical_hops=None if links[0] is None or links[1] is None else links[0] + links[1],
        trees=first.trees + then.trees,
        distinct_trees=first.distinct_trees + then.distinct_trees,
        at_least=LeastLatency(
            a.depth + b.depth,
            a.average_depth + b.average_depth,
            a.physical_hops + b.physical_hops,
            a.distinct_trees + b.distinct_trees,
        ),
    )


# --- measured depths ---------------------------------------------------------------------------


def _physical_hops(forest: AnyForest, depth: int) -> int:
    """Return the links to the farthest GPU in the worst tree, of a forest with this depth."""
    if isinstance(forest, MulticastForest):
        return int(forest.depths(links=True).max(initial=0))
    size = forest.topology.num_compute
    if size < 2:
        return 0
    links = _longest_paths(forest.routes)
    if links.min() == links.max():
        return depth * int(links[0])  # the deepest tree, without a look at any
    lengths = _by_ends(links, forest.routes, size, forest.reduction)
    at_a_time = max(1, _ENTRIES_AT_A_TIME // size)
    farthest = (_farthest(parent, lengths) for parent in _parents(forest, at_a_time))
    return max(farthest, default=0)


def _parents(forest: Forest | FactoredForest, at_a_time: int) -> Iterator[npt.NDArray[np.int32]]:
    if isinstance(forest, FactoredForest):
        yield from (block.parent for block in blocks(forest, at_a_time))
        return
    for start in range(0, forest.num_batches, at_a_time):
        yield forest.parent[start : start + at_a_time]


def _longest_paths(routes: Routes) -> npt.NDArray[np.int32]:
    """Return the links of the longest path of each logical link."""
    links = np.diff(routes.first_hop).astype(np.int32) - 1
    return np.maximum.reduceat(links, routes.first_path[:-1])


def _by_ends(
    links: npt.NDArray[np.int32], routes: Routes, size: int, reduction: bool
) -> npt.NDArray[Any]:
    """Return the lengths from each parent to each child, shape (N, N)."""
    parent, child = (routes.head, routes.tail) if reduction else (routes.tail, routes.head)
    # Trees read the table all over, so it is as small as its numbers allow.
    table = np.zeros((size, size), dtype=np.min_scalar_type(links.max()))
    table[parent, child] = links
    return table


def _farthest(parent: npt.NDArray[np.int32], lengths: npt.NDArray[Any]) -> int:
    """Return the greatest distance from a root, by pointer doubling, in a few trees."""
    batches, size = parent.shape
    ranks, at_root = np.arange(size), parent < 0
    # All trees are one flat array; a root jumps to itself.
    jump = np.where(at_root, ranks, parent) + size * np.arange(batches)[:, None]
    edge = parent.astype(np.intp) * size + ranks
    depth = lengths.take(edge, mode="clip").astype(np.int32)
    depth[at_root] = 0
    # Each round doubles the hops that ``jump`` spans, so log2(size) rounds reach every root.
    for _ in range(size.bit_length()):
        step = depth.take(jump)
        if not step.any():
            break
        depth += step
        jump = jump.take(jump)
    return int(depth.max(initial=0))


# --- lower bounds ------------------------------------------------------------------------------


def least_latency(forest: AnyForest) -> LeastLatency:
    """Return lower bounds for all forests with this k, these weights and this congestion U.

    Notes
    -----
    The bounds are stated for out-trees; a reduction is the same on the reversed network. Each bound
    is a theorem, none is always attained:

    - *Distance.* An edge of a tree leads from a GPU over switches to a GPU. So the depth of a tree
      of root r is at least the eccentricity of r in such hops, and its links at least the
      eccentricity of r in links.
    - *Capacity.* Let S be a set of nodes with GPUs inside and outside, T the GPUs outside, c(S) the
      trees that all links out of S carry, floor(U b) each, and o(v) those of the links out of GPU
      v. Count pairs (tree rooted in S, GPU of T) with the GPU at most d hops from the root, X(d);
      X(0) = 0. Such a GPU gets the data over a link out of S, which happens c(S) times in all, or
      from a GPU of T that is in a pair of X(d - 1). One such pair sends to at most |T| - 1 others,
      and all pairs of v to at most o(v). So X(d) <= c(S) + F(X(d - 1)), where F(X) adds up the X
      largest shares if every o(v) is split into shares of |T| - 1 and a rest. Trees of depth h
      need X(h) = k w(S) |T|. Taken for every root alone, everything but each box, and the
      bottleneck cut.
    - *Links.* Each GPU hop takes a link, and two where no link joins two GPUs.
    - *Trees.* Trees of different roots differ.

    The average follows from distances alone.

    With multicast switches only the distances and the number of trees bound. A walk from one
    multicasting node to the next passes no GPU, so a GPU is at least as many walks away as GPU
    hops. The capacity bound fails, because one arrival at a switch may serve many GPUs.
    """
    topology = forest.topology.reversed() if forest.reduction else forest.topology
    roots = [rank for rank, weight in enumerate(forest.weights) if weight > 0]
    if topology.num_compute < 2:
        return LeastLatency(0, Fraction(0), 0, 0)
    hops = eccentricities(topology, roots, through_gpus=False)
    links = eccentricities(topology, roots, through_gpus=True)
    multicast = isinstance(forest, MulticastForest)
    depth = max([*hops, *(() if multicast else _by_capacity(forest, topology, roots))])
    compute = set(topology.compute)
    adjacent = any(link.tail in compute and link.head in compute for link in topology.links)
    weighted = sum(forest.weights[r] * away for r, away in zip(roots, hops, strict=True))
    return LeastLatency(
        depth=depth,
        average_depth=Fraction(weighted, sum(forest.weights)),
        physical_hops=max(*links, depth if adjacent else 2 * depth),
        distinct_trees=len(roots),
    )


def _by_capacity(forest: AnyForest, topology: Topology, roots: Sequence[int]) -> Iterator[int]:
    """Yield the capacity bound for every root alone, all but each box, and the bottleneck cut."""
    carries = [int(forest.congestion * link.bandwidth_gb_s) for link in topology.links]
    egress = [0] * len(topology.nodes)
    for link, trees in zip(topology.links, carries, strict=True):
        egress[link.tail] += trees
    gpus, weights = topology.compute, forest.weights
    everyone = sorted(egress[v] for v in gpus)
    # A bound depends on the numbers alone, and clusters have few distinct ones.
    for sends, weight in {(egress[gpus[root]], weights[root]) for root in roots}:
        others = everyone.copy()
        others.remove(sends)
        yield _levels(sends, others, forest.k * weight)
    whole, rank_of = sum(weights), {v: rank for rank, v in enumerate(gpus)}
    seen: set[tuple[int, int, tuple[int, ...]]] = set()
    for outside, exits in _cuts(forest, topology, carries):
        ranks = [rank_of[v] for v in outside if v in rank_of]
        rooted = whole - sum(weights[rank] for rank in ranks)
        seen.add((exits, rooted, tuple(sorted(egress[gpus[rank]] for rank in ranks))))
    for exits, rooted, sent in seen:
        yield _levels(exits, sent, forest.k * rooted)


def _cuts(
    forest: AnyForest, topology: Topology, carries: Sequence[int]
) -> Iterator[tuple[set[int], int]]:
    """Yield V - S and c(S) of cuts: S is everything but a box, or the bottleneck cut."""
    boxes: dict[int, set[int]] = {}
    for v, node in enumerate(topology.nodes):
        if node.box is not None:
            boxes.setdefault(node.box, set()).add(v)
    into = dict.fromkeys(boxes, 0)
    for link, trees in zip(topology.links, carries, strict=True):
        box = topology.nodes[link.head].box
        if box is not None and topology.nodes[link.tail].box != box:
            into[box] += trees
    yield from ((boxes[box], exits) for box, exits in into.items())
    if forest.optimum is not None:
        outside = set(range(len(topology.nodes))) - set(forest.optimum.cut)
        leaving = (link.tail not in outside and link.head in outside for link in topology.links)
        yield outside, sum(trees for trees, leaves in zip(carries, leaving, strict=True) if leaves)


def _levels(exits: int, egress: Sequence[int], trees: int) -> int:
    """Return the least h with X(h) = trees |T|, where ``egress`` are the o(v) of T."""
    goal = trees * len(egress)
    if exits >= goal:
        return min(goal, 1)  # a cut without roots inside or GPUs outside gives no bound
    most = len(egress) - 1  # GPUs that one pair sends to, at most
    whole = sum(sends // most for sends in egress) if most else 0
    rests = sorted((sends % most for sends in egress), reverse=True) if most else []
    upto = [0, *accumulate(rests)]
    reached, depth = exits, 1
    while reached < goal:
        beyond = min(max(reached - whole, 0), len(rests))
        further = exits + most * min(reached, whole) + upto[beyond]
        if further <= reached:
            break  # no forest at all has this k and U
        reached, depth = further, depth + 1
    return depth
