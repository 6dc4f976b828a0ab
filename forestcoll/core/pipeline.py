"""Pipeline of the core's stages: from a request to a forest, or to both forests of an allreduce.

Problem: trees that distribute, or sum up, the parts of all roots in the least time.
Input:   a request.
Output:  a forest, explicit or factored, with the optimum that it attains; for an allreduce two,
         which :mod:`forestcoll.allreduce` bounds and improves.
Cost:    the sum of the stages; a stopwatch measures each.
Source:  ForestColl sections 5 and 5.7: reductions are packed on the reversed network. Ours:
         parallel planes are packed as one switch, and its paths are distributed over them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from forestcoll.core.assembly import expand_packed
from forestcoll.core.edge_splitting import remove_switches
from forestcoll.core.optimality import optimum
from forestcoll.core.partition_bound import Parts, families_of
from forestcoll.core.path_recovery import find_routes
from forestcoll.core.problem import Problem
from forestcoll.core.stopwatch import Stopwatch
from forestcoll.core.tight_sets import decompose
from forestcoll.core.tree_packing import pack_trees
from forestcoll.errors import TimeLimitError, UnsupportedError
from forestcoll.problem.optimum import Optimum
from forestcoll.problem.options import Options
from forestcoll.problem.request import Request
from forestcoll.schedule.allreduce import Allreduce
from forestcoll.schedule.factored import FactoredForest
from forestcoll.schedule.forest import Forest, Routes
from forestcoll.schedule.transform.factoring import as_factored
from forestcoll.schedule.transform.plane_routes import paths_over_planes
from forestcoll.schedule.transform.reversal import transposed
from forestcoll.topology.model import Topology
from forestcoll.topology.symmetry.parallel_planes import (
    Planes,
    merged_capacities,
    merged_planes,
    unmerged,
)
from forestcoll.topology.validation import check_balanced, validate

__all__ = [
    "EXPLICIT", "FACTORED", "PAPER_STAGES", "STAGES", "Form", "both_phases", "forest_of",
    "forest_with",
]  # fmt: skip

STAGES = ("optimality", "tight sets", "switch removal", "tree packing", "routing")
"""Stages of the method "forestcoll"."""

PAPER_STAGES = ("optimality", "switch removal", "tree packing", "routing")
"""Stages of the method "paper"."""

F = TypeVar("F", Forest, FactoredForest)


@dataclass(frozen=True, slots=True)
class Form(Generic[F]):
    """The form of forests, explicit or factored: how they are made and converted.

    ``make`` returns a forest, with its factored form if it has one. ``hold`` converts an explicit
    forest to this form.
    """

    make: Callable[[_Phase, Stopwatch], tuple[F, FactoredForest | None]]
    hold: Callable[[Forest], F]


def forest_of(request: Request, form: Form[F], clock: Stopwatch) -> F:
    """Make the forest of a collective of one phase.

    Raises ForestCollError as :func:`forestcoll.generation.generate` does.

    Parameters
    ----------
    request : Request
        Of any collective but an allreduce (:func:`both_phases`). Its ``options.multicast`` is
        ignored: switches only forward here. See :mod:`forestcoll.in_network`.
    form : Form
        :data:`EXPLICIT` or :data:`FACTORED`.
    """
    forest, _ = form.make(_Phase(request, *request.reductions), clock)
    return forest


def forest_with(weights: tuple[int, ...], topology: Topology, *, reduction: bool = False) -> Forest:
    """Make the explicit forest of an allgather or reduce-scatter with these weights.

    Errors are those of :func:`forest_of`.
    """
    collective = "reduce-scatter" if reduction else "allgather"
    asked = Options(collective=collective, weights=weights)
    return forest_of(Request.of(topology, asked), EXPLICIT, Stopwatch())


def both_phases(
    request: Request, form: Form[F], clock: Stopwatch
) -> tuple[Allreduce[F], list[Parts]]:
    """Make both phases of an allreduce, without a bound.

    Where every link has an equal reverse, one phase is the other reversed. Also return the
    partitions of the GPUs by the tight sets of the phases. Parameters and errors are those of
    :func:`forest_of`.
    """
    network = request.topology
    gather: tuple[F, FactoredForest | None] = form.make(_Phase(request, False), clock)
    if network.reversed() == network:
        return Allreduce(transposed(gather[0], network), gather[0]), _families(gather[1])
    reduce: tuple[F, FactoredForest | None] = form.make(_Phase(request, True), clock)
    return Allreduce(reduce[0], gather[0]), [*_families(reduce[1]), *_families(gather[1])]


def _families(factored: FactoredForest | None) -> list[Parts]:
    return [] if factored is None else list(families_of(factored))


# --- one forest ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Phase:
    """One forest of a request: whether its data is distributed or summed up."""

    request: Request
    reduction: bool

    @property
    def is_empty(self) -> bool:
        return self.request.topology.num_compute == 1

    @property
    def unequal(self) -> tuple[int, ...] | None:
        return None if set(self.request.weights) <= {1} else self.request.weights

    @property
    def network(self) -> Topology:
        """The network on which out-trees are packed; for a reduction, the reversed one."""
        topology = self.request.topology
        return topology.reversed() if self.reduction else topology

    def finished(self, forest: F) -> F:
        """Convert a forest on :meth:`network` to the requested direction."""
        return transposed(forest, self.request.topology) if self.reduction else forest


def _by_the_core(phase: _Phase, clock: Stopwatch, *, factored: bool) -> FactoredForest:
    """Run the stages in order; path recovery runs when the routes are first read.

    With ``factored``, the trees of large sets may be kept as the rotations of a few.
    """
    plan = clock.run("optimality", lambda report: _planned(phase, report))
    planes, problem = _merged(plan.problem)
    threads, trees = phase.request.threads, problem.trees
    # Tight sets come first: switches are removed and trees packed set by set, and equal sets share
    # one packing.
    parts = clock.run(
        "tight sets", lambda report: decompose(problem, threads=threads, progress=report)
    )
    logical = clock.run(
        "switch removal",
        lambda report: remove_switches(
            parts.problem,
            parts.sets,
            sparse_exchange=phase.request.options.sparse_exchange,
            progress=report,
        ),
    )
    thorough = phase.request.thorough
    packing = clock.run(
        "tree packing",
        lambda report: pack_trees(
            logical, trees, factored=factored, thorough=thorough, progress=report
        ),
    )
    forest = FactoredForest(
        topology=phase.network,
        method="forestcoll",
        k=plan.k,
        congestion=plan.congestion,
        sets=packing.sets,
        shapes=packing.shapes,
        links=packing.links,
        routes=Routes.later(
            # The splits were made from the trimmed capacities, so paths are found in these.
            lambda: paths_over_planes(find_routes(parts.problem, logical, packing.links), planes)
        ),
        optimum=plan.claim,
        weights=phase.request.weights,
    )
    return phase.finished(forest)


def _merged(problem: Problem) -> tuple[Planes, Problem]:
    """Merge parallel planes, if each may carry exactly its share of the trees."""
    planes = merged_planes(problem.topology)
    if planes.is_trivial:
        return planes, problem
    capacity = merged_capacities(planes, problem.capacity)
    if capacity is None:
        return unmerged(problem.topology), problem
    return planes, Problem(planes.merged, capacity, problem.trees)


class _Plan(NamedTuple):
    """The problem that a forest solves, and the optimum that it may claim."""

    k: int
    congestion: Fraction
    problem: Problem
    claim: Optimum | None


def _planned(phase: _Phase, progress: Callable[[int, int], None] | None) -> _Plan:
    request, weights = phase.request, np.array(phase.request.weights, dtype=np.int64)
    if request.options.k is None:
        best, proved = _optimum(phase, progress)
        problem = Problem.of(best, best.k * weights)
        return _Plan(best.k, best.congestion, problem, best if proved else None)
    from forestcoll.core.fixed_k import fixed_k  # seldom asked for, as the paper's stages are

    found = fixed_k(
        request.topology,
        request.options.k,
        weights=phase.unequal,
        reduction=phase.reduction,
        threads=request.threads,
        progress=progress,
    )
    problem = Problem(phase.network, found.capacity, found.k * weights)
    return _Plan(found.k, found.congestion, problem, found.optimum if found.optimal else None)


def _optimum(phase: _Phase, progress: Callable[[int, int], None] | None) -> tuple[Optimum, bool]:
    """Return the optimum, or the best rate found in time, and whether it is proved."""
    request = phase.request
    try:
        best = optimum(
            request.topology,
            weights=phase.unequal,
            reduction=phase.reduction,
            threads=request.threads,
            progress=progress,
        )
    except TimeLimitError as error:
        if not isinstance(error.incumbent, Optimum):
            raise
        return error.incumbent, False
    return best, True


def _by_the_paper(phase: _Phase, clock: Stopwatch) -> Forest:
    if phase.unequal is not None:
        raise UnsupportedError(
            "the paper's algorithms give every GPU as many trees; for a root or weights take the "
            "method forestcoll"
        )
    if phase.request.options.k is not None:
        raise UnsupportedError(
            "the paper's algorithms make the optimal number of trees; for another k take the "
            "method forestcoll"
        )
    collective = "reduce-scatter" if phase.reduction else "allgather"
    validate(phase.request.topology, collective)
    check_balanced(phase.request.topology, collective)
    network = phase.network
    from forestcoll.core import paper

    best = clock.run("optimality", lambda report: paper.optimum(network, progress=report))
    trees = np.full(network.num_compute, best.k, dtype=np.int64)
    problem = Problem.at(network, best.congestion, trees)
    logical = clock.run(
        "switch removal", lambda report: paper.remove_switches(problem, progress=report)
    )
    batches = clock.run(
        "tree packing", lambda report: paper.pack_trees(logical, trees, progress=report)
    )
    forest = Forest(
        topology=network,
        method="forestcoll-paper",
        k=best.k,
        congestion=best.congestion,
        root=batches.root,
        multiplicity=batches.multiplicity,
        parent=batches.parent,
        routes=Routes.later(lambda: find_routes(problem, logical, batches.links)),
        optimum=best,
    )
    return phase.finished(forest)


def _empty(phase: _Phase) -> Forest:
    request = phase.request
    return Forest(
        topology=request.topology,
        method="forestcoll" if request.options.method == "forestcoll" else "forestcoll-paper",
        k=request.options.k or 1,
        congestion=Fraction(0),
        root=np.zeros(0, dtype=np.int32),
        multiplicity=np.zeros(0, dtype=np.int64),
        parent=np.zeros((0, 1), dtype=np.int32),
        routes=Routes.from_paths({}),
        reduction=phase.reduction,
    )


# --- explicit and factored form -----------------------------------------------------------------


def _explicit(phase: _Phase, clock: Stopwatch) -> tuple[Forest, FactoredForest | None]:
    if phase.is_empty or phase.request.options.method == "paper":
        return _not_factored(phase, clock), None
    factored = _by_the_core(phase, clock, factored=False)
    forest = clock.run("tree packing", lambda report: expand_packed(factored, progress=report))
    return forest, factored


def _factored(phase: _Phase, clock: Stopwatch) -> tuple[FactoredForest, FactoredForest | None]:
    if phase.is_empty or phase.request.options.method == "paper":
        return as_factored(_not_factored(phase, clock)), None
    forest = _by_the_core(phase, clock, factored=True)
    return forest, forest


def _not_factored(phase: _Phase, clock: Stopwatch) -> Forest:
    return _empty(phase) if phase.is_empty else _by_the_paper(phase, clock)


EXPLICIT = Form(_explicit, lambda forest: forest)
"""Explicit trees."""

FACTORED = Form(_factored, as_factored)
"""Trees stored as packings of tight sets."""
