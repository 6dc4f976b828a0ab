"""The pipeline: a network in, a provably optimal forest out.

Problem: allgather in the least possible time.
Input:   a topology of GPUs and switches.
Output:  k spanning out-trees per GPU with their physical paths, and the cut that proves that
         nothing can be faster.
Cost:    the sum of the stages; generate_timed measures each.
Source:  ForestColl section 5; by the core's algorithms, or by the paper's own to compare with.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from forestcoll import paper
from forestcoll.edge_splitting import remove_switches
from forestcoll.errors import InvalidParameterError, UnknownMethodError
from forestcoll.expansion import expand
from forestcoll.optimality import optimum, tree_capacities
from forestcoll.routing import find_routes
from forestcoll.schedule.factored import FactoredForest
from forestcoll.schedule.forest import Forest, Routes
from forestcoll.tight_sets import decompose
from forestcoll.topology.model import Topology
from forestcoll.tree_packing import pack_trees

__all__ = [
    "METHODS",
    "PAPER_STAGES",
    "STAGES",
    "Progress",
    "generate",
    "generate_factored",
    "generate_factored_timed",
    "generate_timed",
    "usable_cores",
]

Progress = Callable[[str, int, int], None]
"""Told (stage, done, total) now and then; may raise to stop the work."""

T = TypeVar("T")

STAGES = ("optimality", "tight sets", "switch removal", "tree packing", "routing")
"""Of the method "forestcoll"."""

PAPER_STAGES = ("optimality", "switch removal", "tree packing", "routing")
"""Of the method "paper"."""

METHODS = ("forestcoll", "paper")


def generate(
    topology: Topology,
    *,
    method: str = "forestcoll",
    threads: int | None = None,
    progress: Progress | None = None,
) -> Forest:
    """Generate a throughput-optimal allgather.

    Parameters
    ----------
    topology : Topology
    method : str
        "forestcoll", the core; or "paper", the ForestColl paper's own algorithms
        (:mod:`forestcoll.paper`), to compare with: as optimal, far slower, taller trees. The
        forest's ``method`` is "forestcoll" or "forestcoll-paper".
    threads : int, optional
        At most so many; all cores that this process may use if not given. The forest does not
        depend on their number. The method "paper" uses one.
    progress : callable, optional
        Told (stage, done, total); stages are :data:`STAGES` or :data:`PAPER_STAGES`.

    Returns
    -------
    Forest
        With ``forest.optimum`` set: the bound it attains and the cut that proves it. Its
        physical paths are found when they are first asked for.

    Raises
    ------
    InvalidTopologyError
        Fewer than two GPUs, an unreachable GPU, or a switch that sends more than it receives.
    CapacityOverflowError
        If the exact whole numbers of this network do not fit 64 bits.
    UnknownMethodError
        If the method is none of :data:`METHODS`.
    InvalidParameterError
        If there are fewer than one thread.

    Examples
    --------
    >>> from forestcoll.topology import load_topology
    >>> forest = generate(load_topology("ring:nodes=4"))
    >>> forest.k, forest.time_s_per_gb == forest.optimum.time_s_per_gb
    (2, True)
    """
    return _forest(topology, method, threads, _Stopwatch(progress))


def generate_factored(
    topology: Topology, *, threads: int | None = None, progress: Progress | None = None
) -> FactoredForest:
    """Generate as the core does, without writing the trees out.

    For networks of thousands of GPUs, whose trees fill gigabytes;
    :mod:`forestcoll.expansion` makes them.
    """
    return _by_the_core(topology, threads, _Stopwatch(progress))


def generate_timed(
    topology: Topology,
    *,
    method: str = "forestcoll",
    threads: int | None = None,
    progress: Progress | None = None,
) -> tuple[Forest, dict[str, float]]:
    """Generate as :func:`generate` does, and measure the wall-clock seconds of each stage.

    All stages are run, the routing too.
    """
    clock = _Stopwatch(progress)
    forest = _forest(topology, method, threads, clock)
    clock.run("routing", lambda _: forest.routes.hop)
    return forest, clock.seconds


def generate_factored_timed(
    topology: Topology, *, threads: int | None = None, progress: Progress | None = None
) -> tuple[FactoredForest, dict[str, float]]:
    """Generate as :func:`generate_factored` does, and measure the seconds of each stage.

    All stages are run, the routing too.
    """
    clock = _Stopwatch(progress)
    factored = _by_the_core(topology, threads, clock)
    clock.run("routing", lambda _: factored.routes.hop)
    return factored, clock.seconds


def usable_cores() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _forest(topology: Topology, method: str, threads: int | None, clock: _Stopwatch) -> Forest:
    if method not in METHODS:
        raise UnknownMethodError(f"there is no method {method!r}; known: {', '.join(METHODS)}")
    if method == "paper":
        return _by_the_paper(topology, clock)
    factored = _by_the_core(topology, threads, clock)
    return clock.run("tree packing", lambda report: expand(factored, progress=report))


def _by_the_core(topology: Topology, threads: int | None, clock: _Stopwatch) -> FactoredForest:
    threads = usable_cores() if threads is None else threads
    if threads < 1:
        raise InvalidParameterError(f"threads is {threads}; it must be at least 1")
    best = clock.run(
        "optimality", lambda report: optimum(topology, threads=threads, progress=report)
    )
    capacity = tree_capacities(topology, best.congestion)
    trees = np.full(topology.num_compute, best.k, dtype=np.int64)
    parts = clock.run(
        "tight sets",
        lambda report: decompose(topology, capacity, trees, threads=threads, progress=report),
    )
    logical = clock.run(
        "switch removal",
        lambda report: remove_switches(
            topology, parts.capacity, trees, parts.sets, progress=report
        ),
    )
    packing = clock.run("tree packing", lambda report: pack_trees(logical, trees, progress=report))
    return FactoredForest(
        topology=topology,
        method="forestcoll",
        k=best.k,
        congestion=best.congestion,
        sets=packing.sets,
        shapes=packing.shapes,
        links=packing.links,
        routes=Routes.later(lambda: find_routes(topology, parts.capacity, logical, packing.links)),
        optimum=best,
    )


def _by_the_paper(topology: Topology, clock: _Stopwatch) -> Forest:
    best = clock.run("optimality", lambda report: paper.optimum(topology, progress=report))
    capacity = tree_capacities(topology, best.congestion)
    trees = np.full(topology.num_compute, best.k, dtype=np.int64)
    logical = clock.run(
        "switch removal",
        lambda report: paper.remove_switches(topology, capacity, trees, progress=report),
    )
    batches = clock.run(
        "tree packing", lambda report: paper.pack_trees(logical, trees, progress=report)
    )
    return Forest(
        topology=topology,
        method="forestcoll-paper",
        k=best.k,
        congestion=best.congestion,
        root=batches.root,
        multiplicity=batches.multiplicity,
        parent=batches.parent,
        routes=Routes.later(lambda: find_routes(topology, capacity, logical, batches.links)),
        optimum=best,
    )


class _Stopwatch:
    """Runs the stages, reports their start and end, and adds up their times."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress
        self.seconds: dict[str, float] = {}

    def run(self, stage: str, work: Callable[[Callable[[int, int], None] | None], T]) -> T:
        report = self._progress
        if report is not None:
            report(stage, 0, 1)
        start = time.perf_counter()
        result = work(None if report is None else lambda done, total: report(stage, done, total))
        spent = time.perf_counter() - start
        self.seconds[stage] = self.seconds.get(stage, 0.0) + spent
        if report is not None:
            report(stage, 1, 1)
        return result
