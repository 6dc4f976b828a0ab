"""The stages after the optimum: from capacities in trees to a forest.

Problem: pack k w(r) out-trees rooted at every rank r into given capacities.
Input:   a topology, the trees that each link may carry, the trees asked for.
Output:  a factored forest: tight sets, switch removal, tree packing; paths when they are asked for.
Cost:    the sum of the stages.
Source:  ForestColl sections 5.3 and 5.4.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from forestcoll.core.edge_splitting import remove_switches
from forestcoll.core.path_recovery import find_routes
from forestcoll.core.tight_sets import decompose
from forestcoll.core.tree_packing import pack_trees
from forestcoll.problem.optimum import Optimum
from forestcoll.schedule.factored import FactoredForest
from forestcoll.schedule.forest import Routes
from forestcoll.topology.model import Topology

__all__ = ["Progress", "Stopwatch", "forest_within"]

Progress = Callable[[str, int, int], None]
"""Told (stage, done, total) now and then; may raise to stop the work."""

T = TypeVar("T")


class Stopwatch:
    """Runs the stages, reports their start and end, and adds up their times."""

    def __init__(self, progress: Progress | None = None) -> None:
        self._progress = progress
        self.seconds: dict[str, float] = {}

    def run(self, stage: str, work: Callable[[Callable[[int, int], None] | None], T]) -> T:
        """Run a stage; ``work`` is given what it may tell its progress (done, total) to."""
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


def forest_within(
    topology: Topology,
    capacity: npt.NDArray[np.int64],
    trees: npt.NDArray[np.int64],
    *,
    k: int,
    congestion: Fraction,
    weights: tuple[int, ...] = (),
    optimum: Optimum | None = None,
    threads: int = 1,
    clock: Stopwatch | None = None,
) -> FactoredForest:
    """Pack out-trees into given capacities.

    Parameters
    ----------
    topology : Topology
    capacity : int64 array, one entry a link
        Trees that each link of ``topology.links`` may carry. No switch may send more than it
        receives.
    trees : int64 array, one entry a GPU
        Trees rooted at each rank: k times its weight.
    k : int
        Trees per unit of weight.
    congestion : Fraction
        That the forest will claim, in trees per GB/s.
    weights : tuple of int
        That the forest will claim; all 1 if not given.
    optimum : Optimum, optional
        That the forest will claim to attain.
    threads : int
        At most so many share the GPUs; the forest does not depend on their number.
    clock : Stopwatch, optional
        Measures the stages.

    Returns
    -------
    FactoredForest
        Its physical paths are found when they are first asked for.

    Raises
    ------
    InfeasibleError
        If the capacities cannot carry the trees, or a switch may send more than it receives.
    """
    clock = Stopwatch() if clock is None else clock
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
        k=k,
        congestion=congestion,
        sets=packing.sets,
        shapes=packing.shapes,
        links=packing.links,
        routes=Routes.later(lambda: find_routes(topology, parts.capacity, logical, packing.links)),
        optimum=optimum,
        weights=weights,
    )
