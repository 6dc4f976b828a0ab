"""Independent proof that a forest is an allgather and attains what it claims.

Problem: does every tree span, does every shard reach every GPU, is load(e) <= U b(e) on every
         link e, and is the time the optimum where that is claimed?
Input:   a forest, explicit or factored: batches of out-trees over the GPUs or over the items of
         tight sets, and the physical paths of their edges.
Output:  a verdict with the congestion measured exactly, or the first violation, by name.
Cost:    O(log height) passes over the B x N parents for B batches over N GPUs, and one sort-free
         look-up per hop of a path; 0.1 s for 1024 GPUs.
Source:  ForestColl sections 2 and 4: out-trees that span the compute nodes, the cost model
         max load(e) / b(e), and the cut bound (*). Shares no code with what makes forests.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from forestcoll.bottleneck import Optimum
from forestcoll.schedule.factored import FactoredForest
from forestcoll.schedule.forest import Forest
from forestcoll.schedule.multicast import MulticastForest
from forestcoll.schedule.naming import Claims, fail
from forestcoll.schedule.verify_factored import (
    check_factored_arrays,
    check_sets,
    loads_over_routes,
)
from forestcoll.schedule.verify_multicast import check_multicast, check_multicast_arrays
from forestcoll.schedule.verify_paths import check_congestion, check_loads, check_paths, measure
from forestcoll.schedule.verify_trees import check_roots, check_trees, tree_loads
from forestcoll.schedule.wellformed import check_arrays, check_routes
from forestcoll.topology.model import Topology

__all__ = ["Verdict", "verify"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was proved about a forest.

    Parameters
    ----------
    collective : {"allgather"}
        What the forest does.
    gpus, roots : int
        Number of GPUs, and of GPUs that root trees: all of them.
    k : int
        Trees per root, counted with multiplicity.
    batches, trees : int
        Distinct trees, and trees counted with multiplicity. Of a factored forest the distinct
        trees of its shapes.
    tree_edges : int
        Edges of the distinct trees.
    logical_links, paths : int
        GPU-to-GPU links that the trees use, and the physical paths behind them.
    deliveries : int
        (shard, GPU) pairs for which it was proved that the whole shard reaches the GPU: each of
        the N shards travels in k trees that span, so each reaches the N - 1 other GPUs.
    height : int
        Hops from GPU to GPU in the tallest tree; of a factored forest a bound that no tree of
        it exceeds.
    congestion : Fraction
        Measured: the largest load / bandwidth of a link, in trees per GB/s.
    busiest_link : tuple of str
        Tail and head of the (first) link where it is attained.
    time_s_per_gb, algbw_gb_s : Fraction
        Seconds to allgather one gigabyte in all at that congestion, and its inverse.
    optimal : bool
        Whether a cut was shown that no allgather can beat; False when nothing was claimed.
    """

    collective: Literal["allgather"]
    gpus: int
    roots: int
    k: int
    batches: int
    trees: int
    tree_edges: int
    logical_links: int
    paths: int
    deliveries: int
    height: int
    congestion: Fraction
    busiest_link: tuple[str, str]
    time_s_per_gb: Fraction
    algbw_gb_s: Fraction
    optimal: bool


def verify(forest: Forest | FactoredForest | MulticastForest) -> Verdict:
    """Prove that a forest is an allgather within its claims.

    Parameters
    ----------
    forest : Forest or FactoredForest
        From anywhere: nothing in it is believed. A factored forest is proved as it is, not
        expanded; its verdict is that of the forest it stands for.

    Returns
    -------
    Verdict

    Raises
    ------
    VerificationError
        At the first violation, with a counter-example in the topology's names. Trees are
        numbered as batches, from 0.

    Notes
    -----
    Checked in this order: arrays, roots and multiplicities, trees, paths, the paths' multiplicities
    against the trees, link loads against the claimed congestion, the claimed optimum.
    """
    if isinstance(forest, MulticastForest):
        return _verify_physical(forest)
    trees = _check_factored(forest) if isinstance(forest, FactoredForest) else _check(forest)
    hops = check_paths(forest)
    check_loads(forest, trees.needed())
    congestion, busiest = measure(forest, hops)
    check_congestion(forest, congestion, busiest)
    optimal = forest.optimum is not None and _check_optimum(forest, forest.optimum, congestion)
    gpus = forest.topology.num_compute
    time = congestion / (gpus * forest.k)
    return Verdict(
        collective="allgather",
        gpus=gpus,
        roots=gpus,
        k=forest.k,
        batches=trees.batches,
        trees=gpus * forest.k,
        tree_edges=trees.edges,
        logical_links=len(forest.routes.tail),
        paths=len(forest.routes.multiplicity),
        deliveries=gpus * (gpus - 1),
        height=trees.height,
        congestion=congestion,
        busiest_link=busiest,
        time_s_per_gb=time,
        algbw_gb_s=1 / time,
        optimal=optimal,
    )


@dataclass(frozen=True)
class _Trees:
    """What was proved about trees, and how to count those over each link of the routes."""

    batches: int
    edges: int
    height: int
    needed: Callable[[], npt.NDArray[Any]]


def _check(forest: Forest) -> _Trees:
    """The arrays are sound and the trees span."""
    check_arrays(forest)
    _check_claims(forest)
    check_roots(forest)
    height = check_trees(forest)
    batches = len(forest.root)
    edges = batches * (forest.topology.num_compute - 1)
    return _Trees(batches, edges, height, lambda: tree_loads(forest))


def _check_factored(forest: FactoredForest) -> _Trees:
    """The arrays are sound, the trees of all sets span, and their numbers match."""
    check_factored_arrays(forest)
    check_routes(forest)
    _check_claims(forest)
    height = check_sets(forest)
    edges = int((forest.shapes.batches * (forest.shapes.items.astype(np.int64) - 1)).sum())
    return _Trees(len(forest.shapes.root), edges, height, lambda: loads_over_routes(forest))


def _check_claims(forest: Claims) -> None:
    """The number of trees and the congestion claimed are positive exact numbers."""
    if not isinstance(forest.k, int) or isinstance(forest.k, bool) or forest.k < 1:
        fail(f"k is {forest.k!r}; it must be a positive int, the number of trees per root")
    if not isinstance(forest.congestion, Fraction) or forest.congestion <= 0:
        fail(f"the congestion claimed is {forest.congestion!r}; it must be a positive Fraction")


def _verify_physical(forest: MulticastForest) -> Verdict:
    """Prove a forest in which switches copy or add."""
    check_multicast_arrays(forest)
    _check_claims(forest)
    check_roots(forest)
    trees = check_multicast(forest)
    check_congestion(forest, trees.congestion, trees.busiest)
    claim = forest.optimum
    optimal = claim is not None and _check_optimum(forest, claim, trees.congestion)
    gpus, roots = forest.topology.num_compute, sum(weight > 0 for weight in forest.weights)
    time = trees.congestion / (sum(forest.weights) * forest.k)
    return Verdict(
        collective=forest.collective,
        gpus=gpus,
        roots=roots,
        k=forest.k,
        batches=forest.num_batches,
        trees=sum(forest.weights) * forest.k,
        tree_edges=trees.edges,
        logical_links=trees.pairs,
        paths=len(forest.walks),
        deliveries=roots * (gpus - 1),
        height=trees.height,
        congestion=trees.congestion,
        busiest_link=trees.busiest,
        time_s_per_gb=time,
        algbw_gb_s=1 / time,
        optimal=optimal,
    )


# --- optimality --------------------------------------------------------------------------------


def _check_optimum(forest: Claims, claim: Optimum, congestion: Fraction) -> Literal[True]:
    """The claimed cut proves the claimed bound, and the forest attains it."""
    if claim.topology != forest.topology:
        fail(f"the optimum claimed is that of another topology, {claim.topology.name}")
    bound = _cut_ratio(forest.topology, claim.cut)
    if claim.inverse_rate != bound:
        fail(f"the optimum claims 1/x* = {claim.inverse_rate} s per GB, but its cut proves {bound}")
    least = _least_trees(forest.topology, bound)
    if claim.k != least:
        fail(
            f"the optimum claims k = {claim.k} trees per root; the least that attains it is {least}"
        )
    if claim.congestion != claim.k * bound:
        fail(
            f"the optimum claims k = {claim.k} and congestion {claim.congestion}, but k / x* is "
            f"{claim.k * bound}"
        )
    for what, value in (("measured", congestion), ("claimed", forest.congestion)):
        if value != forest.k * bound:
            fail(
                f"the forest is claimed to be optimal, but its {what} congestion is {value}; "
                f"{forest.k} trees per root are optimal at k / x* = {forest.k * bound}"
            )
    return True


def _least_trees(topology: Topology, bound: Fraction) -> int:
    """Return the least k for which every link carries a whole number k / x* b of trees."""
    return math.lcm(*{(bound * link.bandwidth_gb_s).denominator for link in topology.links})


def _cut_ratio(topology: Topology, cut: Iterable[int]) -> Fraction:
    """Return |GPUs in S| / B+(S) in s per GB for a node set S that misses at least one GPU."""
    inside = set(cut)
    if not inside <= set(range(len(topology.nodes))):
        fail(f"the optimum's cut names nodes outside 0 to {len(topology.nodes) - 1}")
    gpus = {i for i, node in enumerate(topology.nodes) if not node.is_switch}
    if gpus <= inside:
        fail("the optimum's cut contains every GPU; it must miss at least one to bound anything")
    exits = (
        link.bandwidth_gb_s
        for link in topology.links
        if link.tail in inside and link.head not in inside
    )
    bandwidth = sum(exits, start=Fraction(0))
    if bandwidth == 0:
        fail("the optimum's cut has no link that leaves it, so it proves nothing")
    return len(gpus & inside) / bandwidth
