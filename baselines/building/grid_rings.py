"""Rings along the dimensions of a grid of GPUs, one dimension after the other.

Problem: an allgather in which GPUs send only to their neighbours in a grid with wrap-around.
Output:  the transfers; d - 1 steps for a dimension of length d.
Cost:    N (N - 1) transfers for N GPUs, made dimension by dimension in whole arrays.
Source:  the ring allgather (Thakur et al., IJHPCA 2005), repeated along each dimension with all
         data gathered so far.
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
    """Gather along one dimension after the other.

    Parameters
    ----------
    grid : int32 array
        The rank at each place; its shape is that of the grid.
    order : sequence of int
        The dimensions, each once.
    way : {1, -1}
        Direction: to the next place of a dimension, or to the previous one.
    first_chunk : int
        The chunk of rank r is ``first_chunk + r``.

    Returns
    -------
    list of Sends
        One for each step, to be joined. In the first step of a dimension every GPU sends all of its
        chunks to its neighbour; in later steps it forwards the chunks of the step before.
    """
    dims, ranks = grid.shape, grid.ravel()
    at = np.indices(dims).reshape(len(dims), -1, 1)  # for each chunk, the places of its holders
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
