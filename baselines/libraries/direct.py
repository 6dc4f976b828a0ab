"""Direct exchange: every GPU sends to every other exactly the data that it needs.

Problem: allgather, reduce-scatter, allreduce and all-to-all by transfers between all pairs; any
         demand likewise.
Input:   a topology in which every GPU reaches every other.
Output:  a step schedule of one step, or of N - 1 in which each GPU sends to one other; twice as
         many for an allreduce.
Cost:    N (N - 1) transfers and the paths of as many pairs.
Source:  the direct ("all-pairs") algorithms of MSCCL and MSCCL++, and pairwise exchange (Thakur,
         Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH",
         2005); one-shot allreduces of TensorRT-LLM and MSCCL++. Reimplemented from descriptions.

In one step, all transfers share the links, and the busiest link sets the time. In rotation, rank r
sends to rank r + s in step s = 1 to N - 1. Its synchronous time is the sum of the steps' busiest
links: no less, but with fewer partners at a time. The pipelined time of both is the same. An
allreduce is a reduce-scatter and then an allgather. A pair's transfer divides equally over its
least-cost paths through switches and GPUs (fluid equal-cost multipath; see ``forwarding``); a GPU
on such a path only forwards.

One-shot is the allreduce of one step: every GPU sends all of its data to every other, which adds
it. It moves N / 2 times as much as the allreduce of two steps, in one latency instead of two.

Left out: pairwise exchange by exclusive or for powers of two, which has as many but other pairs in
a step; flow control where many send to one. NCCL's all-to-all is all sends and receives in one
group, which is "at-once", but it starts only as many at a time as it has channels. A demand's chunk
goes to each of its targets on its own. Rates by hand calculation: docs/baselines/steps.md.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from baselines.building.composing import routed
from baselines.building.demanded_chunks import chunks_of, given_demand
from baselines.interface.method import Method
from baselines.interface.parameters import check_choice
from baselines.interface.supported import check_supported
from baselines.networks.switch_paths import check_size
from forestcoll.problem.demand import Demand
from forestcoll.schedule.sends import Chunks, Sends
from forestcoll.schedule.steps import StepSchedule
from forestcoll.topology.model import Topology

__all__ = ["COLLECTIVES", "METHODS", "ORDERS", "generate", "one_shot"]

COLLECTIVES = ("allgather", "reduce-scatter", "allreduce", "all-to-all")
"""Supported collectives."""

ORDERS = ("at-once", "rotation")
"""Whether each GPU sends to all others in one step, or to one other in each step."""

Ranks = npt.NDArray[np.int32]


def generate(
    topology: Topology,
    collective: str | None = None,
    *,
    order: str = "at-once",
    demand: Demand | str | None = None,
) -> StepSchedule:
    """Exchange data between all pairs.

    Parameters
    ----------
    collective : str, optional
        One of ``COLLECTIVES``; an allgather if not given, with a demand an all-to-all.
    order : str
        One of ``ORDERS``.
    demand : Demand or str, optional
        Who has how much for whom, also as text
        (:func:`forestcoll.problem.demand_files.demand_in`); all parts are equal if not given. Steps
        of a rotation in which nobody has anything to send are left out.

    Raises
    ------
    InvalidParameterError
        If there is no such order, or the demand is none of this network.
    UnsupportedError
        If there is no path from some GPU to another.
    """
    given = given_demand(topology, demand, collective)
    check_choice("order", order, ORDERS)
    check_size(topology)
    if given is not None:
        chunks, sends = _demanded(given, rotate=order == "rotation")
        return replace(routed(topology, "direct", "all-to-all", chunks, sends), demand=given)
    collective = collective or COLLECTIVES[0]
    check_supported("direct", collective, COLLECTIVES)
    tail, head, step = _exchange(topology.num_compute, rotate=order == "rotation")
    chunks, sends = _needed(topology.num_compute, collective, tail, head, step)
    return routed(topology, "direct", collective, chunks, sends)


def one_shot(topology: Topology, collective: str | None = None) -> StepSchedule:
    """Send everything to everyone in one step of an allreduce.

    Raises
    ------
    UnsupportedError
        For another collective, or if there is no path from some GPU to another.
    """
    check_supported("one-shot", collective or "allreduce", ("allreduce",))
    check_size(topology)
    tail, head, step = _exchange(topology.num_compute, rotate=False)
    adds = np.ones(len(tail), dtype=np.bool_)
    sends = Sends.sorted(step, np.zeros_like(tail), tail, head, adds)
    return routed(topology, "one-shot", "allreduce", Chunks.equal(np.full(1, -1), whole=1), sends)


def _exchange(size: int, *, rotate: bool) -> tuple[Ranks, Ranks, Ranks]:
    """Senders, receivers and steps of all pairs, by sender and then by distance."""
    distance = np.tile(np.arange(1, size, dtype=np.int32), size)
    tail = np.repeat(np.arange(size, dtype=np.int32), size - 1)
    return tail, (tail + distance) % size, (distance - 1) * rotate


def _needed(
    size: int, collective: str, tail: Ranks, head: Ranks, step: Ranks
) -> tuple[Chunks, Sends]:
    everyone = np.arange(size, dtype=np.int32)
    if collective == "all-to-all":
        ones = np.ones(len(tail), dtype=np.int64)
        pair = np.arange(len(tail))
        return Chunks(ones, size, tail, head), Sends.sorted(step, pair, tail, head)
    if collective == "allgather":
        return Chunks.equal(everyone, whole=size), Sends.sorted(step, tail, tail, head)
    adds = np.ones(len(tail), dtype=np.bool_)
    if collective == "reduce-scatter":
        return Chunks.equal(everyone, whole=size), Sends.sorted(step, head, tail, head, adds)
    sends = Sends.sorted(
        np.concatenate([step, step + step.max() + 1]),
        np.concatenate([head, tail]),
        np.concatenate([tail, tail]),
        np.concatenate([head, head]),
        np.concatenate([adds, ~adds]),
    )
    return Chunks.equal(np.full(size, -1), whole=size), sends


def _demanded(demand: Demand, *, rotate: bool) -> tuple[Chunks, Sends]:
    chunk = np.repeat(np.arange(demand.num_chunks), np.diff(demand.first_target))
    tail = demand.source[chunk]
    distance = (demand.target - tail) % demand.gpus * rotate
    _, step = np.unique(distance, return_inverse=True)
    return chunks_of(demand), Sends.sorted(step.reshape(-1), chunk, tail, demand.target)


METHODS = (
    Method(
        name="direct",
        summary="everyone sends to everyone, at once or in rotation",
        source="direct and pairwise exchange (Thakur et al., IJHPCA 2005)",
        generate=generate,
        collectives=COLLECTIVES,
        notes="GPUs and switches forward along least-cost paths",
    ),
    Method(
        name="one-shot",
        summary="everyone sends all of its data to everyone, in one step",
        source="one-shot allreduces of TensorRT-LLM and MSCCL++",
        generate=one_shot,
        collectives=("allreduce",),
        notes="for small sizes: one latency, and N / 2 times the data of two steps",
    ),
)
