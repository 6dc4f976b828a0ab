"""The pipeline: a network in, a provably optimal schedule out.

Problem: a collective in the least possible time.
Input:   a topology of GPUs and switches; the collective with its root or weights.
Output:  spanning trees, k times its weight per GPU, with their physical paths, and the cut that
         proves that nothing can be faster. A reduction runs over trees of the reversed network,
         an allreduce over those of a reduction and then of a gathering.
Cost:    the sum of the stages; generate_timed measures each. Of an allreduce that cuts do not prove
         optimal that of a linear program, too (:mod:`forestcoll.allreduce`).
Source:  ForestColl sections 5 and 5.7; by the core's algorithms, or by the paper's own to compare
         with.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, Literal, NamedTuple, TypedDict, TypeVar, Unpack, overload

import numpy as np
import numpy.typing as npt

from forestcoll import paper
from forestcoll.allreduce import (
    PROGRAM_S,
    PROGRAM_STAGE,
    Parts,
    best_allreduce,
    check_seconds,
    families_of,
)
from forestcoll.bottleneck import Optimum
from forestcoll.demand import Weights, weights_for
from forestcoll.errors import InvalidParameterError, UnknownMethodError, UnsupportedError
from forestcoll.expansion import expand
from forestcoll.fixed_k import check_k, fixed_k
from forestcoll.optimality import optimum, tree_capacities
from forestcoll.routing import find_routes
from forestcoll.schedule.collectives import Allreduce
from forestcoll.schedule.factored import FactoredForest
from forestcoll.schedule.forest import Forest, Routes
from forestcoll.schedule.turning import turned
from forestcoll.stages import Progress, Stopwatch, forest_within
from forestcoll.topology.model import Topology
from forestcoll.topology.validate import validate

__all__ = [
    "METHODS",
    "PAPER_STAGES",
    "STAGES",
    "Options",
    "Progress",
    "generate",
    "generate_factored",
    "generate_factored_timed",
    "generate_timed",
    "usable_cores",
]

STAGES = ("optimality", "tight sets", "switch removal", "tree packing", "routing")
"""Of the method "forestcoll"; an allreduce has :data:`forestcoll.allreduce.PROGRAM_STAGE` too."""

PAPER_STAGES = ("optimality", "switch removal", "tree packing", "routing")
"""Of the method "paper"."""

METHODS = ("forestcoll", "paper")

OneWay = Literal["allgather", "reduce-scatter", "broadcast", "reduce"]
"""Collectives of a single forest."""

F = TypeVar("F", Forest, FactoredForest)


class Options(TypedDict, total=False):
    """What :func:`generate` takes beside the network and the collective."""

    root: str | int | None
    weights: Weights | None
    k: int | None
    method: str
    threads: int | None
    progress: Progress | None
    program_s: float


@overload
def generate(
    topology: Topology, *, collective: OneWay = "allgather", **options: Unpack[Options]
) -> Forest: ...
@overload
def generate(
    topology: Topology, *, collective: Literal["allreduce"], **options: Unpack[Options]
) -> Allreduce[Forest]: ...
@overload
def generate(
    topology: Topology, *, collective: str, **options: Unpack[Options]
) -> Forest | Allreduce[Forest]: ...
def generate(
    topology: Topology,
    *,
    collective: str = "allgather",
    root: str | int | None = None,
    weights: Weights | None = None,
    k: int | None = None,
    method: str = "forestcoll",
    threads: int | None = None,
    progress: Progress | None = None,
    program_s: float = PROGRAM_S,
) -> Forest | Allreduce[Forest]:
    """Generate a throughput-optimal schedule of a collective; the best allreduce there is.

    Parameters
    ----------
    topology : Topology
    collective : str
        "allgather", "reduce-scatter", "broadcast", "reduce" or "allreduce".
    root : str or int, optional
        Name or rank of the GPU that a broadcast starts from, or that a reduce ends at. An
        allreduce with a root is a reduce and a broadcast.
    weights : mapping or sequence, optional
        How much of the data each GPU has (in a reduction, wants the sum of): numbers from 0 up, by
        name or by rank, as of :func:`forestcoll.demand.whole_weights`. All the same if not given.
    k : int, optional
        Trees per unit of weight; the optimum's k if not given. The forest attains the best that
        was found for such trees (:func:`forestcoll.fixed_k.fixed_k`).
    method : str
        "forestcoll", the core; or "paper", the ForestColl paper's own algorithms
        (:mod:`forestcoll.paper`), to compare with: as optimal, far slower, taller trees; for equal
        weights and the optimal k only. The forest's ``method`` is "forestcoll" or
        "forestcoll-paper".
    threads : int, optional
        At most so many; all cores that this process may use if not given. The forest does not
        depend on their number. The method "paper" uses one.
    progress : callable, optional
        Told (stage, done, total); stages are :data:`STAGES` or :data:`PAPER_STAGES`, for each
        forest of an allreduce, and
        :data:`forestcoll.allreduce.PROGRAM_STAGE`.
    program_s : float
        Of an allreduce: if cuts do not prove that reduction and gathering, each optimal, are the
        best together, so many seconds for the allreduce program (:mod:`forestcoll.allreduce`). It
        is not asked if this is 0, a k is given or the method is "paper".

    Returns
    -------
    Forest or Allreduce
        With ``forest.optimum`` set: the bound it attains and the cut that proves it; None if the k
        given does not attain it. An allreduce has a ``bound``, which it may attain or not, and a
        ``remark`` on what it is. Physical paths are found when they are first asked for. The
        schedule of a single GPU is empty, with no optimum.

    Raises
    ------
    InvalidTopologyError
        No GPU, an unreachable GPU, or a switch that sends more than it receives (in a reduction,
        receives more than it sends).
    CapacityOverflowError
        If the exact whole numbers of this network do not fit 64 bits.
    UnknownMethodError
        If the method is none of :data:`METHODS`.
    UnsupportedError
        If there is no such collective, or the method does not support it.
    InvalidParameterError
        If there are fewer than one thread or tree; if the root or the weights are wrong, missing,
        or not for this collective.

    Examples
    --------
    >>> from forestcoll.topology import load_topology
    >>> forest = generate(load_topology("ring:nodes=4"))
    >>> forest.k, forest.time_s_per_gb == forest.optimum.time_s_per_gb
    (2, True)
    >>> generate(load_topology("ring:nodes=4"), collective="broadcast", root="gpu2").algbw_gb_s
    Fraction(2, 1)
    """
    return _generated(
        _EXPLICIT,
        topology,
        collective,
        routed=False,
        root=root,
        weights=weights,
        k=k,
        method=method,
        threads=threads,
        progress=progress,
        program_s=program_s,
    )[0]


@overload
def generate_factored(
    topology: Topology, *, collective: OneWay = "allgather", **options: Unpack[Options]
) -> FactoredForest: ...
@overload
def generate_factored(
    topology: Topology, *, collective: Literal["allreduce"], **options: Unpack[Options]
) -> Allreduce[FactoredForest]: ...
@overload
def generate_factored(
    topology: Topology, *, collective: str, **options: Unpack[Options]
) -> FactoredForest | Allreduce[FactoredForest]: ...
def generate_factored(
    topology: Topology,
    *,
    collective: str = "allgather",
    root: str | int | None = None,
    weights: Weights | None = None,
    k: int | None = None,
    method: str = "forestcoll",
    threads: int | None = None,
    progress: Progress | None = None,
    program_s: float = PROGRAM_S,
) -> FactoredForest | Allreduce[FactoredForest]:
    """Generate as :func:`generate` does, without writing the trees out.

    For networks of thousands of GPUs, whose trees fill gigabytes;
    :mod:`forestcoll.expansion` makes them.
    """
    return _generated(
        _FACTORED,
        topology,
        collective,
        routed=False,
        root=root,
        weights=weights,
        k=k,
        method=method,
        threads=threads,
        progress=progress,
        program_s=program_s,
    )[0]


@overload
def generate_timed(
    topology: Topology, *, collective: OneWay = "allgather", **options: Unpack[Options]
) -> tuple[Forest, dict[str, float]]: ...
@overload
def generate_timed(
    topology: Topology, *, collective: str, **options: Unpack[Options]
) -> tuple[Forest | Allreduce[Forest], dict[str, float]]: ...
def generate_timed(
    topology: Topology,
    *,
    collective: str = "allgather",
    root: str | int | None = None,
    weights: Weights | None = None,
    k: int | None = None,
    method: str = "forestcoll",
    threads: int | None = None,
    progress: Progress | None = None,
    program_s: float = PROGRAM_S,
) -> tuple[Forest | Allreduce[Forest], dict[str, float]]:
    """Generate as :func:`generate` does, and measure the wall-clock seconds of each stage.

    All stages are run, the routing too.
    """
    return _generated(
        _EXPLICIT,
        topology,
        collective,
        routed=True,
        root=root,
        weights=weights,
        k=k,
        method=method,
        threads=threads,
        progress=progress,
        program_s=program_s,
    )


@overload
def generate_factored_timed(
    topology: Topology, *, collective: OneWay = "allgather", **options: Unpack[Options]
) -> tuple[FactoredForest, dict[str, float]]: ...
@overload
def generate_factored_timed(
    topology: Topology, *, collective: str, **options: Unpack[Options]
) -> tuple[FactoredForest | Allreduce[FactoredForest], dict[str, float]]: ...
def generate_factored_timed(
    topology: Topology,
    *,
    collective: str = "allgather",
    root: str | int | None = None,
    weights: Weights | None = None,
    k: int | None = None,
    method: str = "forestcoll",
    threads: int | None = None,
    progress: Progress | None = None,
    program_s: float = PROGRAM_S,
) -> tuple[FactoredForest | Allreduce[FactoredForest], dict[str, float]]:
    """Generate as :func:`generate_factored` does, and measure the seconds of each stage.

    All stages are run, the routing too.
    """
    return _generated(
        _FACTORED,
        topology,
        collective,
        routed=True,
        root=root,
        weights=weights,
        k=k,
        method=method,
        threads=threads,
        progress=progress,
        program_s=program_s,
    )


def usable_cores() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@dataclass(frozen=True, slots=True)
class _Task:
    """One forest to be made."""

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
class _Maker(Generic[F]):
    """How forests are held.

    ``make`` makes one, beside its factored form if it has one; ``hold`` brings one that is written
    out into this form.
    """

    make: Callable[[_Task, Stopwatch], tuple[F, FactoredForest | None]]
    hold: Callable[[Forest], F]


def _generated(
    maker: _Maker[F],
    topology: Topology,
    collective: str,
    *,
    routed: bool,
    root: str | int | None,
    weights: Weights | None,
    k: int | None,
    method: str,
    threads: int | None,
    progress: Progress | None,
    program_s: float,
) -> tuple[F | Allreduce[F], dict[str, float]]:
    """Check what is asked for, make one forest or two, and measure."""
    if method not in METHODS:
        raise UnknownMethodError(f"there is no method {method!r}; known: {', '.join(METHODS)}")
    threads = usable_cores() if threads is None else threads
    if threads < 1:
        raise InvalidParameterError(f"threads is {threads}; it must be at least 1")
    if k is not None:
        check_k(k)
    check_seconds(program_s)
    whole = weights_for(topology, collective, root=root, weights=weights)
    clock = Stopwatch(progress)

    def task(reduction: bool) -> _Task:
        return _Task(topology, whole, reduction, k, method, threads)

    schedule: F | Allreduce[F]
    if collective == "allreduce":
        combination, families = _combination(maker, task, clock)
        schedule = best_allreduce(
            combination,
            families,
            weights=None if root is None and weights is None else whole,
            seconds=program_s if k is None and method == "forestcoll" else 0.0,
            run=lambda work: clock.run(PROGRAM_STAGE, lambda _: work()),
            hold=maker.hold,
        )
    else:
        schedule, _ = maker.make(task(collective in ("reduce-scatter", "reduce")), clock)
    if routed:
        phases = schedule.phases if isinstance(schedule, Allreduce) else (schedule,)
        clock.run("routing", lambda _: [forest.routes.hop for forest in phases])
    return schedule, clock.seconds


def _combination(
    maker: _Maker[F], task: Callable[[bool], _Task], clock: Stopwatch
) -> tuple[Allreduce[F], list[Parts]]:
    """Make both phases; where links come in pairs of equal ones, one is the other turned round.

    Returned with the partitions of the GPUs that their tight sets make.
    """
    network = task(False).topology
    gather: tuple[F, FactoredForest | None] = maker.make(task(False), clock)
    if network.reversed().links == network.links:
        return Allreduce(turned(gather[0], network), gather[0]), _families(gather[1])
    reduce: tuple[F, FactoredForest | None] = maker.make(task(True), clock)
    return Allreduce(reduce[0], gather[0]), [*_families(reduce[1]), *_families(gather[1])]


def _families(factored: FactoredForest | None) -> list[Parts]:
    return [] if factored is None else list(families_of(factored))


def _written(task: _Task, clock: Stopwatch) -> tuple[Forest, FactoredForest | None]:
    if task.is_empty or task.method == "paper":
        return _written_out(task, clock), None
    factored = _by_the_core(task, clock)
    return clock.run("tree packing", lambda report: expand(factored, progress=report)), factored


def _factored(task: _Task, clock: Stopwatch) -> tuple[FactoredForest, FactoredForest | None]:
    if task.is_empty or task.method == "paper":
        return FactoredForest.from_forest(_written_out(task, clock)), None
    forest = _by_the_core(task, clock)
    return forest, forest


_EXPLICIT = _Maker(_written, lambda forest: forest)
_FACTORED = _Maker(_factored, FactoredForest.from_forest)


def _by_the_core(task: _Task, clock: Stopwatch) -> FactoredForest:
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


def _planned(task: _Task, progress: Callable[[int, int], None] | None) -> _Plan:
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


def _written_out(task: _Task, clock: Stopwatch) -> Forest:
    """Make a forest that is not factored to begin with: an empty one, or the paper's."""
    return _empty(task) if task.is_empty else _by_the_paper(task, clock)


def _empty(task: _Task) -> Forest:
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


def _by_the_paper(task: _Task, clock: Stopwatch) -> Forest:
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
