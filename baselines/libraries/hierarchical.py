"""Hierarchical all-to-all: gather in the box, exchange between boxes, scatter in the box.

Problem: an all-to-all in which a GPU has few partners outside its box; any demand likewise.
Input:   a topology whose GPUs are all in boxes.
Output:  a step schedule: a step in the boxes, one between them or one for each other box, and one
         in the boxes.
Cost:    at most three transfers for each pair.
Source:  PXN (NCCL 2.12, NVIDIA's technical blog, 2022); the hierarchical all-to-all of
         DeepSpeed-MoE (Rajbhandari et al., ICML 2022) and 2DH of Tutel (Hwang et al.,
         MLSys 2023). Reimplemented from descriptions.

By "rails", a GPU gives what it has for GPU i of other boxes to GPU i of its own box, which sends it
over its NIC to GPU i there. So a GPU exchanges data with one GPU of each other box. By "leader", a
box gathers all at its first GPU with a NIC, and that of the other box scatters, as in hierarchical
all-to-alls for several hosts behind one NIC. The boxes exchange at once, or in rotation: box b with
box b + s in step s. What stays in a box goes straight in the first step.

Where a box has fewer NICs than GPUs, its GPUs take turns at the NICs there are. Left out: the
aggregation of messages by size, and its costs in memory; the division of a step into chunks that
overlap with others. A transfer takes the least-cost paths (``forwarding``).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from baselines.building.composing import routed
from baselines.building.demanded_chunks import unicast_chunks
from baselines.interface.method import Method
from baselines.interface.parameters import check_choice
from baselines.interface.supported import check_supported
from baselines.networks.box_nics import BoxNics
from baselines.networks.switch_paths import check_size
from forestcoll.problem.demand import Demand
from forestcoll.schedule.sends import Chunks, Sends
from forestcoll.schedule.steps import StepSchedule
from forestcoll.topology.model import Topology

__all__ = ["COLLECTIVES", "METHODS", "OVER", "generate"]

COLLECTIVES = ("all-to-all",)

OVER = ("rails", "leader")
"""Whether all NICs of a box carry what it sends, or that of one GPU alone."""

Ranks = npt.NDArray[np.int32]


def generate(
    topology: Topology,
    collective: str = "all-to-all",
    *,
    over: str = "rails",
    order: str = "at-once",
    demand: Demand | str | None = None,
) -> StepSchedule:
    """Exchange data box by box.

    Parameters
    ----------
    collective : str
        "all-to-all".
    over : str
        One of ``OVER``.
    order : str
        "at-once", or "rotation" with a step for each other box.
    demand : Demand or str, optional
        Who has how much for whom, also as text
        (:func:`forestcoll.problem.demand_files.demand_in`); all parts are equal if not given.

    Raises
    ------
    UnsupportedError
        If there are GPUs outside boxes, a box is cut off, or a chunk is for several GPUs.
    InvalidParameterError
        If a choice is unknown, or the demand is none of this network.
    """
    check_supported("hierarchical", collective, COLLECTIVES)
    check_choice("over", over, OVER)
    check_choice("order", order, ("at-once", "rotation"))
    check_size(topology)
    given, chunks = unicast_chunks("hierarchical", topology, demand)
    nics = BoxNics.of(topology)
    out, into = _carriers(nics, chunks, over)
    sends = _transfers(nics, chunks, out, into, rotate=order == "rotation")
    return replace(routed(topology, "hierarchical", collective, chunks, sends), demand=given)


def _carriers(nics: BoxNics, chunks: Chunks, over: str) -> tuple[Ranks, Ranks]:
    """Return the GPU that sends each chunk to the other box, and the one that receives it there."""
    here, there = nics.box[chunks.root], nics.box[chunks.target]
    if over == "leader":
        first = np.array([(out[0], into[0]) for out, into in zip(nics.outs, nics.ins, strict=True)])
        return first[here, 0], first[there, 1]
    lane = nics.place[chunks.target]
    return nics.sender[here, lane], nics.receiver[there, lane]


def _transfers(nics: BoxNics, chunks: Chunks, out: Ranks, into: Ranks, *, rotate: bool) -> Sends:
    here, there = nics.box[chunks.root], nics.box[chunks.target]
    chunk, boxes = np.arange(len(chunks)), len(nics.outs)
    turn = (there - here) % boxes if rotate else np.ones(len(chunk), dtype=np.int64)
    near, far = np.flatnonzero(here == there), np.flatnonzero(here != there)
    steps = [
        (np.zeros(len(near)), near, chunks.root[near], chunks.target[near]),
        (np.zeros(len(far)), far, chunks.root[far], out[far]),
        (turn[far], far, out[far], into[far]),
        (np.full(len(far), boxes), far, into[far], chunks.target[far]),
    ]
    step, chunk, tail, head = (np.concatenate(column) for column in zip(*steps, strict=True))
    moves = tail != head
    _, step = np.unique(step[moves], return_inverse=True)
    return Sends.sorted(step.reshape(-1), chunk[moves], tail[moves], head[moves])


METHODS = (
    Method(
        name="hierarchical",
        summary="gather by rail in the box, exchange between boxes, scatter",
        source="PXN (NCCL 2.12); DeepSpeed-MoE (ICML 2022); 2DH of Tutel (MLSys 2023)",
        generate=generate,
        collectives=COLLECTIVES,
        notes="no overlap of steps in synchronous time; GPUs without a NIC take turns at others",
    ),
)
