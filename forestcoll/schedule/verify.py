"""Independent proof that a schedule does what its collective asks and attains what it claims.

Problem: does every tree span, does every shard reach every GPU (in a reduction, every contribution
         its root exactly once), is load(e) <= U b(e) on every link e, and is the time the optimum
         where that is claimed?
Input:   a forest, explicit or factored: batches of trees over the GPUs or over the items of tight
         sets, and the physical paths of their edges; or physical trees, in which switches copy; or
         two of one kind, an allreduce.
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
from typing import Any, Literal, overload

import numpy as np
import numpy.typing as npt

from forestcoll.bottleneck import Optimum
from forestcoll.errors import VerificationError
from forestcoll.schedule.collectives import Allreduce, AnyForest, AnySchedule, TreeSchedule
from forestcoll.schedule.factored import FactoredForest
from forestcoll.schedule.flows import FlowSchedule
from forestcoll.schedule.forest import Forest
from forestcoll.schedule.multicast import MulticastForest
from forestcoll.schedule.naming import Claims, fail
from forestcoll.schedule.steps import StepSchedule
from forestcoll.schedule.unsupported import not_taken
from forestcoll.schedule.verify_allreduce import PhaseLoads, check_allreduce
from forestcoll.schedule.verify_factored import (
    check_factored_arrays,
    check_sets,
    loads_over_routes,
)
from forestcoll.schedule.verify_flows import FlowVerdict, verify_flows
from forestcoll.schedule.verify_multicast import check_multicast, check_multicast_arrays
from forestcoll.schedule.verify_paths import (
    busiest_link,
    check_congestion,
    check_loads,
    check_paths,
    link_loads,
)
from forestcoll.schedule.verify_steps import StepVerdict, verify_steps
from forestcoll.schedule.verify_trees import check_roots, check_trees, tree_loads
from forestcoll.schedule.wellformed import check_arrays, check_method, check_routes
from forestcoll.topology.model import Topology

__all__ = ["AllreduceVerdict", "Verdict", "verify"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was proved about a forest.

    Parameters
    ----------
    collective : str
        What the forest does: "allgather", "reduce-scatter", "broadcast" or "reduce".
    gpus, roots : int
        Number of GPUs, and of GPUs that root trees: those with a positive weight.
    k : int
        Trees per unit of weight, counted with multiplicity.
    batches, trees : int
        Distinct trees, and trees counted with multiplicity. Of a factored forest the distinct
        trees of its shapes.
    tree_edges : int
        Edges of the distinct trees.
    logical_links, paths : int
        GPU-to-GPU links that the trees use, and the physical paths behind them.
    deliveries : int
        (shard, GPU) pairs for which it was proved that the whole shard reaches the GPU: the shard
        of a root travels in trees that span, so it reaches the N - 1 other GPUs. In a reduction,
        that the GPU's contribution to the whole shard is counted once at the root.
    height : int
        Hops from GPU to GPU in the tallest tree; of a factored forest a bound that no tree of
        it exceeds. Where switches copy, they count as GPUs do, in links and edges too.
    congestion : Fraction
        Measured: the largest load / bandwidth of a link, in trees per GB/s.
    busiest_link : tuple of str, optional
        Tail and head of the (first) link where it is attained; None in an empty schedule.
    time_s_per_gb, algbw_gb_s : Fraction
        Seconds for one gigabyte of data in all at that congestion, and its inverse (None in an
        empty schedule, which takes no time).
    optimal : bool
        Whether a cut was shown that no schedule can beat; False when nothing was claimed.
    """

    collective: str
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
    busiest_link: tuple[str, str] | None
    time_s_per_gb: Fraction
    algbw_gb_s: Fraction | None
    optimal: bool


@dataclass(frozen=True, slots=True)
class AllreduceVerdict:
    """What was proved about an allreduce: both phases, that they fit, and the bound it claims.

    Parameters
    ----------
    reduce, gather : Verdict
        Each phase by itself; its ``optimal`` says that no phase of its kind is faster, which makes
        no optimal allreduce of the two.
    time_s_per_gb, algbw_gb_s : Fraction
        Seconds for one gigabyte of data whose pieces flow, the phases sharing the links, and the
        inverse (None in an empty schedule).
    busiest_link : tuple of str, optional
        Tail and head of the (first) link that takes so long.
    in_turn_s_per_gb : Fraction
        Seconds for one gigabyte, one phase after the other.
    bound_gb_s : Fraction, optional
        No allreduce of ``model`` is faster; None when nothing was claimed.
    model : str, optional
        Which allreduces the bound is about, in words.
    optimal : bool
        Whether the bound is attained.
    """

    reduce: Verdict
    gather: Verdict
    time_s_per_gb: Fraction
    algbw_gb_s: Fraction | None
    busiest_link: tuple[str, str] | None
    in_turn_s_per_gb: Fraction
    bound_gb_s: Fraction | None
    model: str | None
    optimal: bool

    @property
    def collective(self) -> str:
        """Always "allreduce"."""
        return "allreduce"


@overload
def verify(schedule: AnyForest) -> Verdict: ...
@overload
def verify(schedule: Allreduce[Any]) -> AllreduceVerdict: ...
@overload
def verify(schedule: StepSchedule) -> StepVerdict: ...
@overload
def verify(schedule: FlowSchedule) -> FlowVerdict: ...
@overload
def verify(schedule: TreeSchedule) -> Verdict | AllreduceVerdict: ...
@overload
def verify(schedule: TreeSchedule | StepSchedule) -> Verdict | AllreduceVerdict | StepVerdict: ...
@overload
def verify(schedule: AnySchedule) -> Verdict | AllreduceVerdict | StepVerdict | FlowVerdict: ...
def verify(
    schedule: AnySchedule,
) -> Verdict | AllreduceVerdict | StepVerdict | FlowVerdict:
    """Prove that a schedule does what its collective asks, within its claims.

    Parameters
    ----------
    schedule : Forest, FactoredForest, MulticastForest, Allreduce, StepSchedule or FlowSchedule
        From anywhere: nothing in it is believed. A factored forest is proved as it is, not
        expanded; its verdict is that of the forest it stands for.

    Returns
    -------
    Verdict, AllreduceVerdict, StepVerdict or FlowVerdict

    Raises
    ------
    VerificationError
        At the first violation, with a counter-example in the topology's names. Trees are
        numbered as batches, from 0.
    UnsupportedError
        If it is given anything but a schedule.

    Notes
    -----
    Checked in this order: arrays, roots and multiplicities, trees, paths, the paths' multiplicities
    against the trees, link loads against the claimed congestion, the claimed optimum. Of a step
    schedule: arrays, chunks, paths, steps, delivery (with a clock: times before it, rates after).
    Of a flow schedule: arrays, pairs, paths, and that those of each pair carry the whole of its
    part.
    """
    if isinstance(schedule, FlowSchedule):
        return verify_flows(schedule)
    if isinstance(schedule, StepSchedule):
        return verify_steps(schedule)
    if isinstance(schedule, Allreduce):
        return _verify_phases(schedule)
    if not isinstance(schedule, AnyForest):
        raise not_taken("verify", schedule)
    return _verify(schedule)[0]


def _verify_phases(schedule: Allreduce[Any]) -> AllreduceVerdict:
    """Both phases do their part, what the first sums up the second sends out, the bound holds."""
    verdicts, loads = [], []
    for phase in schedule.phases:
        if not isinstance(phase, AnyForest):
            raise not_taken("verify", phase, "forests as the phases of an allreduce")
    for name, phase in zip(("reduce", "gather"), schedule.phases, strict=True):
        try:
            verdict, load = _verify(phase)
        except VerificationError as error:
            fail(f"phase {name}: {error}")
        verdicts.append(verdict)
        loads.append(PhaseLoads(load, sum(phase.weights) * phase.k))
    shared = check_allreduce(schedule, *loads)
    reduce, gather = verdicts
    return AllreduceVerdict(
        reduce=reduce,
        gather=gather,
        time_s_per_gb=shared.time_s_per_gb,
        algbw_gb_s=1 / shared.time_s_per_gb if shared.time_s_per_gb else None,
        busiest_link=shared.busiest,
        in_turn_s_per_gb=reduce.time_s_per_gb + gather.time_s_per_gb,
        bound_gb_s=shared.bound_gb_s,
        model=schedule.bound.model if schedule.bound is not None else None,
        optimal=shared.optimal,
    )


def _verify(forest: AnyForest) -> tuple[Verdict, list[int]]:
    """Prove one phase; return what was proved and the trees over each link."""
    if isinstance(forest, MulticastForest):
        facts = _prove_physical(forest)
    else:
        facts = _prove_logical(forest)
    if facts is None:
        return _verify_empty(forest), [0] * len(forest.topology.links)
    congestion, busiest = busiest_link(forest.topology, facts.loads)
    check_congestion(forest, congestion, busiest)
    optimal = forest.optimum is not None and _check_optimum(forest, forest.optimum, congestion)
    gpus, roots = forest.topology.num_compute, sum(weight > 0 for weight in forest.weights)
    time = congestion / (sum(forest.weights) * forest.k)
    verdict = Verdict(
        collective=forest.collective,
        gpus=gpus,
        roots=roots,
        k=forest.k,
        batches=facts.batches,
        trees=sum(forest.weights) * forest.k,
        tree_edges=facts.edges,
        logical_links=facts.links,
        paths=facts.paths,
        deliveries=roots * (gpus - 1),
        height=facts.height,
        congestion=congestion,
        busiest_link=busiest,
        time_s_per_gb=time,
        algbw_gb_s=1 / time,
        optimal=optimal,
    )
    return verdict, facts.loads.tolist()


@dataclass(frozen=True, slots=True)
class _Facts:
    """What was proved about a forest, as in a verdict."""

    batches: int
    edges: int
    links: int
    paths: int
    height: int
    loads: npt.NDArray[Any]


def _prove_logical(forest: Forest | FactoredForest) -> _Facts | None:
    """Prove trees of GPUs and the paths of their edges; None if there is a single GPU."""
    trees = _check_factored(forest) if isinstance(forest, FactoredForest) else _check(forest)
    if forest.topology.num_compute == 1:
        if len(forest.routes.tail):
            fail("the schedule of a single GPU is empty, but logical links have physical paths")
        return None
    hops = check_paths(forest)
    check_loads(forest, trees.needed())
    links, paths = len(forest.routes.tail), len(forest.routes.multiplicity)
    return _Facts(trees.batches, trees.edges, links, paths, trees.height, link_loads(forest, hops))


def _prove_physical(forest: MulticastForest) -> _Facts | None:
    """Prove trees in which switches copy or add; None if there is a single GPU."""
    check_multicast_arrays(forest)
    _check_claims(forest)
    if _is_without_trees(forest, len(forest.root) + len(forest.walks)):
        return None
    check_roots(forest)
    trees = check_multicast(forest)
    return _Facts(
        batches=len(forest.root),
        edges=trees.edges,
        links=trees.pairs,
        paths=len(forest.walks),
        height=trees.height,
        loads=trees.loads,
    )


def _verify_empty(forest: Claims) -> Verdict:
    """A single GPU has all data and all sums: nothing moves and nothing is claimed."""
    if forest.congestion != 0 or forest.optimum is not None:
        fail(
            f"the schedule of a single GPU is empty; its congestion must be 0, not "
            f"{forest.congestion}, and no optimum be claimed"
        )
    return Verdict(
        collective=forest.collective,
        gpus=1,
        roots=1,
        k=forest.k,
        batches=0,
        trees=0,
        tree_edges=0,
        logical_links=0,
        paths=0,
        deliveries=0,
        height=0,
        congestion=Fraction(0),
        busiest_link=None,
        time_s_per_gb=Fraction(0),
        algbw_gb_s=None,
        optimal=True,
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
    batches = len(forest.root)
    if _is_without_trees(forest, batches):
        return _Trees(0, 0, 0, lambda: np.zeros(0, dtype=np.int64))
    check_roots(forest)
    height = check_trees(forest)
    edges = batches * (forest.topology.num_compute - 1)
    return _Trees(batches, edges, height, lambda: tree_loads(forest))


def _check_factored(forest: FactoredForest) -> _Trees:
    """The arrays are sound, the trees of all sets span, and their numbers match."""
    check_factored_arrays(forest)
    check_routes(forest)
    _check_claims(forest)
    if _is_without_trees(forest, len(forest.shapes.root) + len(forest.links)):
        return _Trees(0, 0, 0, lambda: np.zeros(0, dtype=np.int64))
    height = check_sets(forest)
    edges = int((forest.shapes.batches * (forest.shapes.items.astype(np.int64) - 1)).sum())
    return _Trees(len(forest.shapes.root), edges, height, lambda: loads_over_routes(forest))


def _is_without_trees(forest: Claims, trees: int) -> bool:
    """Whether there is a single GPU; then there must be no trees."""
    if forest.topology.num_compute > 1:
        return False
    if trees:
        fail(f"{forest.topology.name} has a single GPU, so its schedule must be empty: no trees")
    return True


def _check_claims(forest: Claims) -> None:
    """The number of trees and the congestion claimed are positive exact numbers; it has a maker."""
    check_method(forest)
    if not isinstance(forest.k, int) or isinstance(forest.k, bool) or forest.k < 1:
        fail(f"k is {forest.k!r}; it must be a positive int, the number of trees per root")
    alone = forest.topology.num_compute == 1  # whose empty schedule loads nothing
    if not isinstance(forest.congestion, Fraction) or not (alone or forest.congestion > 0):
        fail(f"the congestion claimed is {forest.congestion!r}; it must be a positive Fraction")


# --- optimality --------------------------------------------------------------------------------


def _check_optimum(forest: Claims, claim: Optimum, congestion: Fraction) -> Literal[True]:
    """The claimed cut proves the claimed bound, and the forest attains it."""
    if claim.topology != forest.topology:
        fail(f"the optimum claimed is that of another topology, {claim.topology.name}")
    if (claim.weights, claim.reduction) != (forest.weights, forest.reduction):
        fail(
            f"the optimum claimed is that of another collective: {claim.collective}, where the "
            f"forest is to do {forest.collective}, or of other weights"
        )
    bound = _cut_ratio(forest, claim.cut)
    if claim.inverse_rate != bound:
        fail(f"the optimum claims 1/x* = {claim.inverse_rate} s per GB, but its cut proves {bound}")
    least = _least_trees(forest.topology, bound)
    if claim.k != least:
        fail(
            f"the optimum claims k = {claim.k} trees per root; the least that fills every "
            f"link with whole trees is {least}"
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


def _cut_ratio(forest: Claims, cut: Iterable[int]) -> Fraction:
    """Return w(S) / B+(S) in s per GB for a node set S that misses at least one GPU.

    In a reduction the sums for the GPUs inside must enter: w(S) / B-(S).
    """
    topology, inside = forest.topology, set(cut)
    if not inside <= set(range(len(topology.nodes))):
        fail(f"the optimum's cut names nodes outside 0 to {len(topology.nodes) - 1}")
    if inside.issuperset(topology.compute):
        fail("the optimum's cut contains every GPU; it must miss at least one to bound anything")
    bandwidth = Fraction(0)
    for link in topology.links:
        start, end = (link.head, link.tail) if forest.reduction else (link.tail, link.head)
        if start in inside and end not in inside:
            bandwidth += link.bandwidth_gb_s
    if bandwidth == 0:
        verb = "enters" if forest.reduction else "leaves"
        fail(f"the optimum's cut has no link that {verb} it, so it proves nothing")
    ranks = zip(topology.compute, forest.weights, strict=True)
    return sum(weight for gpu, weight in ranks if gpu in inside) / bandwidth
