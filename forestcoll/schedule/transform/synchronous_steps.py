"""Forests in synchronous steps, hop by hop.

Problem: the time of a forest if a GPU passes nothing on before a step has ended.
Input:   a forest, or an allreduce of two.
Output:  a step schedule: each tree is a chunk, and its edges at depth d are sent in step d.
Cost:    linear in the tree edges.
Source:  the schedules of ring algorithms and of BFB (Zhao et al., NSDI 2025, section 3), where the
         latency is the number of steps.
"""

from __future__ import annotations

import numpy as np

from forestcoll.schedule.allreduce import Allreduce
from forestcoll.schedule.forest import Forest
from forestcoll.schedule.sends import Chunks, Sends
from forestcoll.schedule.steps import WEIGHTED, StepSchedule
from forestcoll.schedule.transform.sequential_phases import sequential

__all__ = ["lockstep"]


def lockstep(schedule: Forest | Allreduce[Forest]) -> StepSchedule:
    """Convert a forest to a step schedule, hop by hop.

    Raises UnsupportedError if the phases of an allreduce have different weights, or no common unit
    in 64 bits.

    Parameters
    ----------
    schedule : Forest or Allreduce
        The gathering of an allreduce begins when the last sum is complete.

    Returns
    -------
    StepSchedule
        Logical links keep their paths. For an allreduce see
        :func:`forestcoll.schedule.transform.sequential_phases`.
    """
    if isinstance(schedule, Forest):
        return StepSchedule(
            topology=schedule.topology,
            method=schedule.method,
            collective=schedule.collective,
            chunks=_chunks(schedule),
            sends=_sends(schedule),
            routes=schedule.routes,
            weights=schedule.weights if schedule.collective in WEIGHTED else (),
        )
    return sequential(lockstep(schedule.reduce), lockstep(schedule.gather))


def _chunks(forest: Forest) -> Chunks:
    """Return a chunk for each batch of trees; a single GPU, without trees, has one chunk."""
    if forest.topology.num_compute == 1:
        return Chunks.equal([0], whole=1)
    return Chunks(
        size=forest.multiplicity,
        whole=sum(forest.weights) * forest.k,
        root=forest.root,
        target=np.full(forest.num_batches, -1, dtype=np.int32),
    )


def _sends(forest: Forest) -> Sends:
    """Return the transfers: each step is one hop deeper, or in a reduction one hop higher."""
    depth = forest.depths()
    chunk, child = np.nonzero(forest.parent >= 0)
    parent, at = forest.parent[chunk, child], depth[chunk, child]
    if forest.reduction:
        adds = np.ones(len(chunk), dtype=np.bool_)
        return Sends.sorted(int(depth.max(initial=0)) - at, chunk, child, parent, adds)
    return Sends.sorted(at - 1, chunk, parent, child)
