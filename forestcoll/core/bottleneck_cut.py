"""Bottleneck cut of links given as arrays.

Problem: max over node sets S that miss a target of w(S) / B+(S).
Input:   links and capacities in whole numbers, the weight rooted at each node, the targets.
Output:  the ratio in lowest terms and a maximising S.
Cost:    one warm-started max-flow pass over the targets per Newton step.
Source:  ForestColl section 5.2; natively in ``native/src/optimality``. The only caller of that
         stage: the optimum, what-if questions and sub-capacities ask here.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from forestcoll.native import _core

__all__ = ["narrowest_cut_over"]


def narrowest_cut_over(
    tail: npt.NDArray[np.int32],
    head: npt.NDArray[np.int32],
    capacity: npt.NDArray[np.int64],
    weights: npt.NDArray[np.int64],
    target: npt.NDArray[np.uint8],
    *,
    threads: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[int, int, npt.NDArray[np.uint8]]:
    """Return the largest w(S) / B+(S) as p and q in lowest terms, and S: 1 for its nodes.

    Where a node that only forwards sends more than it receives, this is only a bound.

    Parameters
    ----------
    tail, head : int32 arrays, one entry a link
    capacity : int64 array, one entry a link
    weights : int64 array, one entry a node
        0 at nodes that root nothing; only targets may root.
    target : uint8 array, one entry a node
        1 where all data must arrive.
    threads : int
        The largest number of threads; the cut does not depend on it.
    progress : callable, optional
        Called with (targets passed, targets in all) now and then; may raise to stop.

    Raises
    ------
    CapacityOverflowError
        If the sum of capacities times that of weights is beyond exact 64-bit arithmetic.
    DisconnectedError
        If some target cannot be reached from some root.
    """
    p, q, cut, _ = _core.bottleneck(
        len(weights), tail, head, capacity, weights, target, threads, progress
    )
    return p, q, cut
