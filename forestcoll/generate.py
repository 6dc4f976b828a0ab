"""The pipeline: a network in, a schedule out, and the proof of how good it is.

Problem: a collective in the least possible time.
Input:   a topology of GPUs and switches; the collective with its root or weights.
Output:  spanning trees, k times its weight per GPU, with their physical paths, and the cut that
         proves that nothing can be faster. A reduction runs over trees of the reversed network,
         an allreduce over those of a reduction and of a gathering; its bound may leave a gap.
Cost:    the sum of the stages; generate_timed measures each. Of an allreduce that cuts do not prove
         optimal that of a linear program, too (:mod:`forestcoll.core.best_allreduce`).
Source:  ForestColl sections 5 and 5.7; by the core's algorithms, or by the paper's own to compare
         with.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Literal, TypedDict, TypeVar, Unpack, overload

from forestcoll.core.best_allreduce import PROGRAM_S, PROGRAM_STAGE, best_allreduce, check_seconds
from forestcoll.core.fixed_k import check_k
from forestcoll.core.one_way import EXPLICIT, FACTORED, Maker, Task
from forestcoll.core.partition_bound import Parts, families_of
from forestcoll.core.stages import Progress, Stopwatch
from forestcoll.errors import InvalidParameterError, UnknownMethodError
from forestcoll.problem.weights import Weights, weights_for
from forestcoll.schedule.allreduce import Allreduce
from forestcoll.schedule.factored import FactoredForest
from forestcoll.schedule.forest import Forest
from forestcoll.schedule.transform.reverse import turned
from forestcoll.topology.model import Topology

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
"""Of the method "forestcoll"; an allreduce has :data:`forestcoll.core.best_allreduce.PROGRAM_STAGE`
too."""

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
    """Generate a throughput-optimal schedule of a collective; the best allreduce that is found.

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
        name or by rank, as of :func:`forestcoll.problem.weights.whole_weights`. All the same if not
        given.
    k : int, optional
        Trees per unit of weight; the optimum's k if not given. The forest attains the best that
        was found for such trees (:func:`forestcoll.core.fixed_k.fixed_k`).
    method : str
        "forestcoll", the core; or "paper", the ForestColl paper's own algorithms
        (:mod:`forestcoll.core.paper`), to compare with: as optimal, far slower, taller trees; for
        equal weights and the optimal k only. The forest's ``method`` is "forestcoll" or
        "forestcoll-paper".
    threads : int, optional
        At most so many; all cores that this process may use if not given. The forest does not
        depend on their number. The method "paper" uses one.
    progress : callable, optional
        Told (stage, done, total); stages are :data:`STAGES` or :data:`PAPER_STAGES`, for each
        forest of an allreduce, and
        :data:`forestcoll.core.best_allreduce.PROGRAM_STAGE`.
    program_s : float
        Of an allreduce: if cuts do not prove that reduction and gathering, each optimal, are the
        best together, so many seconds for the allreduce program
        (:mod:`forestcoll.core.best_allreduce`). It is not asked if this is 0, a k is given or the
        method is "paper".

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
        EXPLICIT,
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
    :mod:`forestcoll.core.assembly` makes them.
    """
    return _generated(
        FACTORED,
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
        EXPLICIT,
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
        FACTORED,
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


def _generated(
    maker: Maker[F],
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

    def task(reduction: bool) -> Task:
        return Task(topology, whole, reduction, k, method, threads)

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
    maker: Maker[F], task: Callable[[bool], Task], clock: Stopwatch
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
