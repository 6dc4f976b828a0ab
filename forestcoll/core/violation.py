"""Whether links that carry whole numbers of trees can carry those of all roots.

Problem: every node set S that misses a GPU must have capacity for its trees on the links that
         leave it: condition (C), seen from the senders' side.
Input:   a topology, the trees each link may carry, the trees rooted at each GPU.
Output:  nothing, or a cut that lacks capacity.
Cost:    one warm-started max-flow pass over the GPUs.
Source:  ForestColl Theorems 1 and 11.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from forestcoll.core.problem import Problem
from forestcoll.native import _core
from forestcoll.topology.model import Topology

__all__ = ["Violation", "violated_cut", "violated_cut_between"]


@dataclass(frozen=True, slots=True)
class Violation:
    """A cut that its trees cannot leave.

    Parameters
    ----------
    passed : int
        So many GPUs, in the order of their ranks, can be reached by the trees of all roots.
        More capacity does not change that.
    inside : bool array, one entry a node
        Whether it is in the cut; the next GPU is not.
    shortage : int
        Trees rooted inside less the capacity that leaves; positive.
    """

    passed: int
    inside: npt.NDArray[np.bool_]
    shortage: int


def violated_cut(
    problem: Problem,
    *,
    passed: int = 0,
    threads: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Violation | None:
    """Find a cut whose trees exceed the capacity that leaves it; None if there is none.

    Parameters
    ----------
    problem : Problem
    passed : int
        So many GPUs are known to be reached by all trees and are not tested.
    threads : int
        At most so many share the GPUs; the cut does not depend on their number.
    progress : callable, optional
        Told (GPUs passed, GPUs in all) now and then; may raise to stop.

    Raises
    ------
    CapacityOverflowError
        If the capacities, or the trees, do not fit 62 bits in sum.
    """
    return violated_cut_between(
        problem.topology,
        problem.capacity,
        problem.rooted,
        problem.is_target,
        passed=passed,
        threads=threads,
        progress=progress,
    )


def violated_cut_between(
    topology: Topology,
    capacity: npt.NDArray[np.int64],
    rooted: npt.NDArray[np.int64],
    target: npt.NDArray[np.uint8],
    *,
    passed: int = 0,
    threads: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Violation | None:
    """Find a violated cut for trees of any roots, switches too, that must reach any targets.

    Parameters
    ----------
    rooted : int64 array, one entry a node
        Trees rooted there.
    target : uint8 array, one entry a node
        1 where all trees must arrive; these take the place of the GPUs in ``passed``.
    topology, capacity, passed, threads, progress
        As of :func:`violated_cut`.
    """
    links = topology.integer_capacities
    passed, cut = _core.violated_cut(
        len(topology.nodes),
        links.tail,
        links.head,
        capacity,
        rooted,
        target,
        passed,
        threads,
        progress,
    )
    if not len(cut):
        return None
    inside = cut.astype(np.bool_)
    leaving = inside[links.tail] & ~inside[links.head]
    return Violation(passed, inside, int(rooted[inside].sum() - capacity[leaving].sum()))
