"""Forests in lockstep: hop by hop instead of all at once.

Problem: what a forest takes if a GPU passes nothing on before a step has ended.
Input:   a forest, or an allreduce of two.
Output:  a step schedule: each tree is a chunk, and its edges at depth d are sent in step d.
Cost:    linear in the tree edges.
Source:  the schedules of ring algorithms and of BFB (Zhao et al., NSDI 2025, section 3), where the
         latency is the number of steps.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from forestcoll.schedule.collectives import Allreduce
from forestcoll.schedule.forest import Forest, Path, Routes
from forestcoll.schedule.steps import Chunks, Sends, StepSchedule

__all__ = ["lockstep"]


def lockstep(schedule: Forest | Allreduce[Forest]) -> StepSchedule:
    """Send a forest hop by hop.

    Parameters
    ----------
    schedule : Forest or Allreduce
        In an allreduce both phases must have the same trees: as many of each root, in one order
        (as of a reduce-scatter that is an allgather turned round). The gathering begins when the
        last sum is complete.

    Returns
    -------
    StepSchedule
        Logical links keep their paths; where both phases use a link, those of both.

    Raises
    ------
    ValueError
        If the phases of an allreduce cut the data differently.
    """
    if isinstance(schedule, Forest):
        return StepSchedule(
            topology=schedule.topology,
            method=schedule.method,
            collective=schedule.collective,
            chunks=_chunks(schedule),
            sends=_sends(schedule),
            routes=schedule.routes,
        )
    reduce, gather = schedule.phases
    sizes = reduce.multiplicity * gather.num_trees, gather.multiplicity * reduce.num_trees
    if not (np.array_equal(reduce.root, gather.root) and np.array_equal(sizes[0], sizes[1])):
        raise ValueError("the phases of this allreduce cut the data into different chunks")
    first, then = _sends(reduce), _sends(gather)
    after = int(first.step.max(initial=-1)) + 1
    return StepSchedule(
        topology=schedule.topology,
        method=gather.method,
        collective="allreduce",
        chunks=replace(_chunks(gather), root=np.full(gather.num_batches, -1, dtype=np.int32)),
        sends=Sends.sorted(
            np.concatenate([first.step, then.step + after]),
            np.concatenate([first.chunk, then.chunk]),
            np.concatenate([first.tail, then.tail]),
            np.concatenate([first.head, then.head]),
            np.concatenate([first.reduce, then.reduce]),
        ),
        routes=_united(reduce.routes, gather.routes),
    )


def _chunks(forest: Forest) -> Chunks:
    """Each batch of trees is a chunk."""
    return Chunks(
        size=forest.multiplicity,
        whole=sum(forest.weights) * forest.k,
        root=forest.root,
        target=np.full(forest.num_batches, -1, dtype=np.int32),
    )


def _sends(forest: Forest) -> Sends:
    """From parent to child one hop deeper in each step, or in a reduction one hop higher."""
    depth = forest.depths()
    chunk, child = np.nonzero(forest.parent >= 0)
    parent, at = forest.parent[chunk, child], depth[chunk, child]
    if forest.reduction:
        adds = np.ones(len(chunk), dtype=np.bool_)
        return Sends.sorted(int(depth.max(initial=0)) - at, chunk, child, parent, adds)
    return Sends.sorted(at - 1, chunk, parent, child)


def _united(one: Routes, other: Routes) -> Routes:
    """The paths of both."""
    united: dict[tuple[int, int], dict[tuple[int, ...], int]] = {}
    for routes in (one, other):
        for link, paths in routes.paths().items():
            ways = united.setdefault(link, {})
            for path in paths:
                ways[path.nodes] = ways.get(path.nodes, 0) + path.multiplicity
    return Routes.from_paths(
        {link: [Path(*way) for way in ways.items()] for link, ways in united.items()}
    )
