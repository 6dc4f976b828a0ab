"""Tight sets: the node sets that every outside tree enters exactly once.

Problem: a laminar family of sets X that receive exactly the trees rooted outside them, h(X) = 0.
Input:   a topology, the number of trees each link may carry, the trees rooted at each GPU.
Output:  the smallest such set around every node, and around every set; and the capacities, trimmed
         where only surplus capacity kept a set from being tight.
Cost:    one warm-started max-flow pass over the GPUs per level of nesting; with surplus, a few
         more max-flows per set.
Source:  tight sets of rooted edge connectivity (Frank); see docs/mathematics/tight-sets.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from forestcoll.core.problem import Problem
from forestcoll.native import _core

__all__ = ["Decomposition", "TightSets", "decompose"]


@dataclass(frozen=True, slots=True)
class TightSets:
    """A laminar family of node sets, numbered so that inner sets come first.

    Parameters
    ----------
    set_of : int32 array
        The smallest set around each node.
    parent : int32 array
        The smallest set around each set; -1 for the last one, which holds every node.
    """

    set_of: npt.NDArray[np.int32]
    parent: npt.NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.parent)


@dataclass(frozen=True, slots=True)
class Decomposition:
    """Nested tight sets, and the problem in which they are tight.

    Parameters
    ----------
    problem : Problem
        Its capacities are trimmed of the surplus that kept sets from being tight.
    """

    sets: TightSets
    problem: Problem


def decompose(
    problem: Problem,
    *,
    threads: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Decomposition:
    """Find the tight sets of a network; trim surplus capacity where there are none.

    Raises InfeasibleError if the capacities cannot carry the trees.

    Parameters
    ----------
    threads : int
        Threads that share the GPUs, at most; the result does not depend on it.
    progress : callable, optional
        Called with (GPUs passed, GPUs in all) now and then; may raise to stop.
    """
    set_of, parent, trimmed = _core.decompose(*problem.arrays, threads, progress)
    return Decomposition(TightSets(set_of, parent), problem.within(trimmed))
