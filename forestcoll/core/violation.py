"""Flow test of integer capacities: whether the links can carry the trees of all roots.

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

__all__ = ["Violation", "violated_cut", "violated_cut_between", "violated_cut_over"]


@dataclass(frozen=True, slots=True)
class Violation:
    """A cut whose capacity is too small for the trees that must leave it.

    Parameters
    ----------
    passed : int
        Number of GPUs, in the order of ranks, that the trees of all roots can reach. More
        capacity does not change that.
    inside : bool array, one entry a node
        Whether it is in the cut; the GPU of rank ``passed`` is not.
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

    Raises CapacityOverflowError if the capacities, or the trees, do not fit 62 bits in sum.

    Parameters
    ----------
    passed : int
        Number of first GPUs that all trees are known to reach; they are not tested.
    threads : int
        Threads that share the GPUs, at most; the cut does not depend on it.
    progress : callable, optional
        Called with (GPUs passed, GPUs in all) now and then; may raise to stop.
    """
    _, _, _, capacity, rooted, target = problem.arrays
    return violated_cut_between(
        problem.topology,
        capacity,
        rooted,
        target,
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
        As for :func:`violated_cut`.
    """
    links = topology.integer_capacities
    passed, cut = violated_cut_over(
        links.tail,
        links.head,
        capacity,
        rooted,
        target,
        passed=passed,
        threads=threads,
        progress=progress,
    )
    if not len(cut):
        return None
    inside = cut.astype(np.bool_)
    leaving = inside[links.tail] & ~inside[links.head]
    return Violation(passed, inside, int(rooted[inside].sum() - capacity[leaving].sum()))


def violated_cut_over(
    tail: npt.NDArray[np.int32],
    head: npt.NDArray[np.int32],
    capacity: npt.NDArray[np.int64],
    rooted: npt.NDArray[np.int64],
    target: npt.NDArray[np.uint8],
    *,
    passed: int = 0,
    threads: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[int, npt.NDArray[np.uint8]]:
    """Return how many first targets all trees can reach, and the cut before the next one.

    The cut is 1 for its nodes, and empty if all targets are reached.

    Parameters
    ----------
    tail, head, capacity : arrays, one entry a link
        Links that no topology may have, such as one of unlimited capacity into a GPU.
    rooted, target, passed, threads, progress
        As for :func:`violated_cut_between`.
    """
    return _core.violated_cut(
        len(rooted), tail, head, capacity, rooted, target, passed, threads, progress
    )
