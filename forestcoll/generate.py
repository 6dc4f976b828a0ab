"""The pipeline: a network in, a provably optimal forest out.

Problem: allgather in the least possible time.
Input:   a topology of GPUs and switches.
Output:  k spanning out-trees per GPU with their physical paths, and the cut that proves that
         nothing can be faster.
Cost:    the sum of the stages; generate_timed measures each.
Source:  ForestColl section 5; by the core's algorithms, or by the paper's own to compare with.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from forestcoll import paper
from forestcoll.bottleneck import Optimum
from forestcoll.edge_splitting import LogicalTopology, remove_switches
from forestcoll.errors import UnknownMethodError
from forestcoll.optimality import optimum, tree_capacities
from forestcoll.routing import find_routes
from forestcoll.schedule.forest import Forest
from forestcoll.tight_sets import decompose
from forestcoll.topology.model import Topology
from forestcoll.tree_packing import Batches, pack_trees

__all__ = ["METHODS", "PAPER_STAGES", "STAGES", "Progress", "generate", "generate_timed"]

Progress = Callable[[str, int, int], None]
"""Told (stage, done, total) now and then; may raise to stop the work."""

T = TypeVar("T")

STAGES = ("optimality", "tight sets", "switch removal", "tree packing", "routing")
"""Of the method "forestcoll"."""

PAPER_STAGES = ("optimality", "switch removal", "tree packing", "routing")
"""Of the method "paper"."""

METHODS = ("forestcoll", "paper")


def generate(
    topology: Topology, *, method: str = "forestcoll", progress: Progress | None = None
) -> Forest:
    """Generate a throughput-optimal allgather.

    Parameters
    ----------
    topology : Topology
    method : str
        "forestcoll", the core; or "paper", the ForestColl paper's own algorithms
        (:mod:`forestcoll.paper`), to compare with: as optimal, far slower, taller trees. The
        forest's ``method`` is "forestcoll" or "forestcoll-paper".
    progress : callable, optional
        Told (stage, done, total); stages are :data:`STAGES` or :data:`PAPER_STAGES`.

    Returns
    -------
    Forest
        With ``forest.optimum`` set: the bound it attains and the cut that proves it.

    Raises
    ------
    InvalidTopologyError
        Fewer than two GPUs, an unreachable GPU, or a switch that sends more than it receives.
    CapacityOverflowError
        If the exact whole numbers of this network do not fit 64 bits.
    UnknownMethodError
        If the method is none of :data:`METHODS`.

    Examples
    --------
    >>> from forestcoll.topology import load_topology
    >>> forest = generate(load_topology("ring:nodes=4"))
    >>> forest.k, forest.time_s_per_gb == forest.optimum.time_s_per_gb
    (2, True)
    """
    forest, _ = generate_timed(topology, method=method, progress=progress)
    return forest


def generate_timed(
    topology: Topology, *, method: str = "forestcoll", progress: Progress | None = None
) -> tuple[Forest, dict[str, float]]:
    """Generate as :func:`generate` does, and measure the wall-clock seconds of each stage."""
    if method not in METHODS:
        raise UnknownMethodError(f"there is no method {method!r}; known: {', '.join(METHODS)}")
    clock = _Stopwatch(progress)
    stages = _by_the_paper if method == "paper" else _by_the_core
    best, capacity, logical, batches = stages(topology, clock)
    routes = clock.run("routing", lambda _: find_routes(topology, capacity, logical, batches))
    forest = Forest(
        topology=topology,
        method="forestcoll-paper" if method == "paper" else "forestcoll",
        k=best.k,
        congestion=best.congestion,
        root=batches.root,
        multiplicity=batches.multiplicity,
        parent=batches.parent,
        routes=routes,
        optimum=best,
    )
    return forest, clock.seconds


_Stages = tuple[Optimum, npt.NDArray[np.int64], LogicalTopology, Batches]
"""The optimum, how many trees each link may carry, the logical links, the trees."""


def _by_the_core(topology: Topology, clock: _Stopwatch) -> _Stages:
    best = clock.run("optimality", lambda report: optimum(topology, progress=report))
    capacity = tree_capacities(topology, best.congestion)
    trees = np.full(topology.num_compute, best.k, dtype=np.int64)
    parts = clock.run(
        "tight sets", lambda report: decompose(topology, capacity, trees, progress=report)
    )
    capacity = parts.capacity
    logical = clock.run(
        "switch removal",
        lambda report: remove_switches(topology, capacity, trees, parts.sets, progress=report),
    )
    batches = clock.run("tree packing", lambda report: pack_trees(logical, trees, progress=report))
    return best, capacity, logical, batches


def _by_the_paper(topology: Topology, clock: _Stopwatch) -> _Stages:
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
    return best, capacity, logical, batches


class _Stopwatch:
    """Runs the stages, reports their start and end, and keeps their times."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress
        self.seconds: dict[str, float] = {}

    def run(self, stage: str, work: Callable[[Callable[[int, int], None] | None], T]) -> T:
        report = self._progress
        if report is not None:
            report(stage, 0, 1)
        start = time.perf_counter()
        result = work(None if report is None else lambda done, total: report(stage, done, total))
        self.seconds[stage] = time.perf_counter() - start
        if report is not None:
            report(stage, 1, 1)
        return result
