"""Rings along the dimensions of a grid of GPUs, one dimension after the other.

Problem: an allgather in which GPUs talk only to their neighbours in a grid that closes on itself.
Input:   the ranks on the grid, the order of the dimensions, the way round.
Output:  the transfers; d - 1 steps for a dimension of length d.
Cost:    N (N - 1) transfers for N GPUs, made dimension by dimension in whole arrays.
Source:  the ring allgather (Thakur et al., IJHPCA 2005), repeated along each dimension with all
         that has been gathered so far.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from baselines.building.composing import in_step
from forestcoll.schedule.sends import Sends

__all__ = ["along_rings"]


def along_rings(
    grid: npt.NDArray[np.int32], order: Sequence[int], *, way: int = 1, first_chunk: int = 0
) -> list[Sends]:
    """Gather along each dimension in turn.

    Parameters
    ----------
    grid : int32 array
        The rank at each place; its shape is that of the grid.
    order : sequence of int
        The dimensions, each once.
    way : {1, -1}
        Whether data moves to the next place of a dimension or to the one before.
    first_chunk : int
        The chunk of rank r is ``first_chunk + r``.

    Returns
    -------
    list of Sends
        One for each step, to be joined. In the first step of a dimension everyone sends all chunks
        that it has to its neighbour, in the others what came in the step before.
    """
    dims, ranks = grid.shape, grid.ravel()
    at = np.indices(dims).reshape(len(dims), -1, 1)  # of each chunk, where its holders sit
    steps: list[Sends] = []
    for axis in order:
        holders = [at]
        for _ in range(dims[axis] - 1):
            onward = at.copy()
            onward[axis] = (at[axis] + way) % dims[axis]
            tail, head = (np.ravel_multi_index(tuple(place), dims) for place in (at, onward))
            chunk = np.broadcast_to(first_chunk + ranks[:, None], tail.shape)
            tails, heads = ranks[tail.ravel()], ranks[head.ravel()]
            steps.append(in_step(len(steps), chunk.ravel(), tails, heads))
            holders.append(onward)
            at = onward
        at = np.concatenate(holders, axis=2)
    return steps
