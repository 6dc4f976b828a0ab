"""One forest of a collective: out-trees packed by the core or by the paper's own algorithms.

Problem: trees that send out, or bring together, the parts of all roots in the least time.
Input:   a network, weights, a direction; perhaps a number of trees.
Output:  a forest, written out or factored, with the optimum that it attains.
Cost:    that of the stages.
Source:  ForestColl sections 5 and 5.7: reductions are packed on the network turned round.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from forestcoll.core import paper
from forestcoll.core.assembly import expand
from forestcoll.core.fixed_k import fixed_k
from forestcoll.core.optimality import optimum, tree_capacities
from forestcoll.core.path_recovery import find_routes
from forestcoll.core.stages import Stopwatch, forest_within
from forestcoll.errors import UnsupportedError
from forestcoll.problem.optimum import Optimum
from forestcoll.schedule.factored import FactoredForest
from forestcoll.schedule.forest import Forest, Routes
from forestcoll.schedule.transform.factoring import as_factored
from forestcoll.schedule.transform.reverse import turned
from forestcoll.topology.model import Topology
from forestcoll.topology.validate import validate

__all__ = ["EXPLICIT", "FACTORED", "Maker", "Task"]

F = TypeVar("F", Forest, FactoredForest)


@dataclass(frozen=True, slots=True)
class Task:
    """One forest to be made.

    Parameters
    ----------
    topology : Topology
    weights : tuple of int
        Of each rank.
    reduction : bool
    k : int, optional
        Trees per unit of weight; the optimum's if not given.
    method : str
        "forestcoll" or "paper".
    threads : int
    """

    topology: Topology
    weights: tuple[int, ...]
    reduction: bool
    k: int | None
    method: str
    threads: int

    @property
    def is_empty(self) -> bool:
        """Whether there is a single GPU, which has nothing to exchange."""
        return self.topology.num_compute == 1

    @property
    def unequal(self) -> tuple[int, ...] | None:
        """The weights, unless they are all the same."""
        return None if set(self.weights) <= {1} else self.weights

    @property
    def network(self) -> Topology:
        """On which out-trees are packed: that of a reduction has every link turned round."""
        return self.topology.reversed() if self.reduction else self.topology

    def finished(self, forest: F) -> F:
        """Return a forest on that network as what was asked for."""
        return turned(forest, self.topology) if self.reduction else forest


@dataclass(frozen=True, slots=True)
class Maker(Generic[F]):
    """How forests are made and held.

    ``make`` makes one, beside its factored form if it has one; ``hold`` brings one that is written
    out into this form.
    """

    make: Callable[[Task, Stopwatch], tuple[F, FactoredForest | None]]
    hold: Callable[[Forest], F]


def _written(task: Task, clock: Stopwatch) -> tuple[Forest, FactoredForest | None]:
    if task.is_empty or task.method == "paper":
        return _written_out(task, clock), None
    factored = _by_the_core(task, clock)
    return clock.run("tree packing", lambda report: expand(factored, progress=report)), factored


def _factored(task: Task, clock: Stopwatch) -> tuple[FactoredForest, FactoredForest | None]:
    if task.is_empty or task.method == "paper":
        return as_factored(_written_out(task, clock)), None
    forest = _by_the_core(task, clock)
    return forest, forest


def _by_the_core(task: Task, clock: Stopwatch) -> FactoredForest:
    plan = clock.run("optimality", lambda report: _planned(task, report))
    forest = forest_within(
        task.network,
        plan.capacity,
        plan.k * np.array(task.weights, dtype=np.int64),
        k=plan.k,
        congestion=plan.congestion,
        weights=task.weights,
        optimum=plan.claim,
        threads=task.threads,
        clock=clock,
    )
    return task.finished(forest)


class _Plan(NamedTuple):
    """What a forest is to be packed into, and what it may claim."""

    k: int
    congestion: Fraction
    capacity: npt.NDArray[np.int64]
    claim: Optimum | None


def _planned(task: Task, progress: Callable[[int, int], None] | None) -> _Plan:
    """Find the optimum, or the best for the number of trees that was given."""
    if task.k is None:
        best = optimum(
            task.topology,
            weights=task.unequal,
            reduction=task.reduction,
            threads=task.threads,
            progress=progress,
        )
        return _Plan(best.k, best.congestion, tree_capacities(task.network, best.congestion), best)
    found = fixed_k(
        task.topology,
        task.k,
        weights=task.unequal,
        reduction=task.reduction,
        threads=task.threads,
        progress=progress,
    )
    claim = found.optimum if found.optimal else None
    return _Plan(found.k, found.congestion, found.capacity, claim)


def _written_out(task: Task, clock: Stopwatch) -> Forest:
    """Make a forest that is not factored to begin with: an empty one, or the paper's."""
    return _empty(task) if task.is_empty else _by_the_paper(task, clock)


def _empty(task: Task) -> Forest:
    return Forest(
        topology=task.topology,
        method="forestcoll" if task.method == "forestcoll" else "forestcoll-paper",
        k=task.k or 1,
        congestion=Fraction(0),
        root=np.zeros(0, dtype=np.int32),
        multiplicity=np.zeros(0, dtype=np.int64),
        parent=np.zeros((0, 1), dtype=np.int32),
        routes=Routes.from_paths({}),
        reduction=task.reduction,
    )


def _by_the_paper(task: Task, clock: Stopwatch) -> Forest:
    if task.unequal is not None:
        raise UnsupportedError(
            "the paper's algorithms give every GPU as many trees; for a root or weights take the "
            "method forestcoll"
        )
    if task.k is not None:
        raise UnsupportedError(
            "the paper's algorithms make the optimal number of trees; for another k take the "
            "method forestcoll"
        )
    validate(task.topology, "reduce-scatter" if task.reduction else "allgather")
    network = task.network
    best = clock.run("optimality", lambda report: paper.optimum(network, progress=report))
    capacity = tree_capacities(network, best.congestion)
    trees = np.full(network.num_compute, best.k, dtype=np.int64)
    logical = clock.run(
        "switch removal",
        lambda report: paper.remove_switches(network, capacity, trees, progress=report),
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
        routes=Routes.later(lambda: find_routes(network, capacity, logical, batches.links)),
        optimum=best,
    )
    return task.finished(forest)


EXPLICIT = Maker(_written, lambda forest: forest)
"""Trees written out."""

FACTORED = Maker(_factored, as_factored)
"""Trees as the packings of tight sets."""
