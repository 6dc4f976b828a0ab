"""Proof that a forest of any form performs its collective and attains its claims."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from forestcoll.schedule.allreduce import AnyForest
from forestcoll.schedule.factored import FactoredForest
from forestcoll.schedule.forest import Forest
from forestcoll.schedule.multicast import MulticastForest
from forestcoll.schedule.protocols import Claims
from forestcoll.schedule.verification.arrays import check_arrays, check_method, check_routes
from forestcoll.schedule.verification.naming import fail
from forestcoll.schedule.verification.paths import (
    busiest_link,
    check_congestion,
    check_loads,
    check_paths,
    link_loads,
)
from forestcoll.schedule.verification.trees.factored import (
    check_factored_arrays,
    check_sets,
    loads_over_routes,
)
from forestcoll.schedule.verification.trees.multicast import check_multicast, check_multicast_arrays
from forestcoll.schedule.verification.trees.optimum import check_optimum
from forestcoll.schedule.verification.trees.plan_times import check_plan
from forestcoll.schedule.verification.trees.spanning import check_roots, check_trees, tree_loads
from forestcoll.schedule.verification.trees.sums import Rings
from forestcoll.schedule.verification.verdict import Verdict

__all__ = ["verify_forest"]


def verify_forest(forest: AnyForest) -> tuple[Verdict, list[int]]:
    """Prove one phase; return what was proved and the trees over each link."""
    if isinstance(forest, MulticastForest):
        facts = _prove_physical(forest)
    else:
        facts = _prove_logical(forest)
    if facts is None:
        return _verify_empty(forest), [0] * forest.topology.num_links
    congestion, busiest = busiest_link(forest.topology, facts.loads)
    check_congestion(forest, congestion, busiest)
    optimal = forest.optimum is not None and check_optimum(forest, forest.optimum, congestion)
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
        depth=facts.depth,
        congestion=congestion,
        busiest_link=busiest,
        time_s_per_gb=time,
        algbw_gb_s=1 / time,
        optimal=optimal,
        model=None if forest.optimum is None else forest.optimum.bound.model,
        plan_time_us=_plan_time_us(forest),
    )
    return verdict, facts.loads.tolist()


def _plan_time_us(forest: AnyForest) -> Fraction | None:
    plan = forest.plan if isinstance(forest, Forest) else None
    return None if plan is None else plan.time_us


@dataclass(frozen=True, slots=True)
class _Facts:
    """The proved facts about a forest, as in a verdict."""

    batches: int
    edges: int
    links: int
    paths: int
    depth: int
    loads: npt.NDArray[Any]


def _prove_logical(forest: Forest | FactoredForest) -> _Facts | None:
    """Prove trees of GPUs and the paths of their edges; None if there is a single GPU."""
    trees = _check_factored(forest) if isinstance(forest, FactoredForest) else _check(forest)
    if forest.topology.num_compute == 1:
        if len(forest.routes.tail):
            fail("the schedule of a single GPU is empty, but logical links have physical paths")
        if isinstance(forest, Forest) and forest.plan is not None:
            fail("the schedule of a single GPU is empty, so it takes no time: leave the plan out")
        return None
    hops = check_paths(forest)
    check_loads(forest, trees.needed())
    if isinstance(forest, Forest) and forest.plan is not None:
        check_plan(forest, forest.plan, hops)
    links, paths = len(forest.routes.tail), len(forest.routes.multiplicity)
    return _Facts(trees.batches, trees.edges, links, paths, trees.depth, link_loads(forest, hops))


def _prove_physical(forest: MulticastForest) -> _Facts | None:
    """Prove trees with multicast switches; None if there is a single GPU."""
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
        depth=trees.depth,
        loads=trees.loads,
    )


def _verify_empty(forest: Claims) -> Verdict:
    """Return the facts for a single GPU: nothing moves and nothing is claimed."""
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
        depth=0,
        congestion=Fraction(0),
        busiest_link=None,
        time_s_per_gb=Fraction(0),
        algbw_gb_s=None,
        optimal=True,
    )


@dataclass(frozen=True)
class _Trees:
    """The proved facts about trees, and a function that counts trees over each logical link."""

    batches: int
    edges: int
    depth: int
    needed: Callable[[], npt.NDArray[Any]]


def _check(forest: Forest) -> _Trees:
    """Check that the arrays are sound and the trees span."""
    check_arrays(forest)
    _check_claims(forest)
    batches = len(forest.root)
    if _is_without_trees(forest, batches):
        return _Trees(0, 0, 0, lambda: np.zeros(0, dtype=np.int64))
    check_roots(forest)
    rings: list[Rings] = []
    depth = check_trees(forest, rings)
    edges = batches * (forest.topology.num_compute - 1)
    return _Trees(batches, edges, depth, lambda: tree_loads(forest, rings))


def _check_factored(forest: FactoredForest) -> _Trees:
    """Check that the arrays are sound, the trees of all sets span, and their numbers match."""
    check_factored_arrays(forest)
    check_routes(forest)
    _check_claims(forest)
    if _is_without_trees(forest, len(forest.shapes.root) + len(forest.links)):
        return _Trees(0, 0, 0, lambda: np.zeros(0, dtype=np.int64))
    depth = check_sets(forest)
    batches = forest.shapes.batches * forest.shapes.images
    edges = int((batches * (forest.shapes.items.astype(np.int64) - 1)).sum())
    return _Trees(int(batches.sum()), edges, depth, lambda: loads_over_routes(forest))


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
