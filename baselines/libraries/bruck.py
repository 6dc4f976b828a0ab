"""Bruck: log2 N steps for any N; each GPU sends to the one 1, 2, 4, ... ranks away.

Problem: an allgather or all-to-all in ceil(log2 N) steps; a reduce-scatter or allreduce likewise.
Input:   a topology.
Output:  step schedules.
Cost:    linear in the transfers: N (N - 1) in an allgather, N^2 log2(N) / 2 in an all-to-all.
Source:  Bruck et al., "Efficient Algorithms for All-to-All Communications in Multiport
         Message-Passing Systems" (IEEE TPDS 1997), as described by Thakur et al. (IJHPCA 2005).
         Reimplemented from the papers.

GPUs are numbered by box and then by their number in the box. Allgather: in step k, GPU p sends
min(2^k, N - 2^k) shards, its own and those after it, to p - 2^k. Reduce-scatter: the same
backwards. Allreduce: both. All-to-all: in step k, each chunk moves 2^k places up if bit k of its
distance to the target is set. So each step sends half of the data; chunks may need several steps.

Left out: several ports and radices other than two; local rotations, since chunks have names here.
Partners need no link: a transfer takes the least-cost paths through switches and GPUs
(``forwarding``).

No figures are published for it on our topologies.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from baselines.building.composing import collect_steps, in_step, joined, routed
from baselines.building.demanded_chunks import chunks_of, given_demand
from baselines.interface.method import Method
from baselines.interface.supported import GATHERING
from baselines.networks.boxes import by_number
from baselines.networks.switch_paths import check_size
from forestcoll.errors import UnsupportedError
from forestcoll.problem.demand import Demand
from forestcoll.schedule.sends import Chunks
from forestcoll.schedule.steps import StepSchedule
from forestcoll.topology.model import Topology

__all__ = ["METHODS", "generate"]

METHOD = "bruck"


def generate(
    topology: Topology, collective: str | None = None, *, demand: Demand | str | None = None
) -> StepSchedule:
    """Send to the GPUs at all powers of two.

    Parameters
    ----------
    collective : str, optional
        "allgather", "reduce-scatter", "allreduce" or "all-to-all"; an allgather if not given, with
        a demand an all-to-all.
    demand : Demand or str, optional
        Equal parts of every GPU for every other, also as text
        (:func:`forestcoll.problem.demand_files.demand_in`).

    Raises
    ------
    UnsupportedError
        If there is no path from a GPU to a partner, or the parts of the demand differ.
    InvalidParameterError
        If the demand is none of this network.
    """
    check_size(topology)
    given = given_demand(topology, demand, collective)
    if given is not None:
        return _demanded(topology, given)
    if collective == "all-to-all":
        return _exchange(topology)
    return collect_steps(_gather, topology, collective or "allgather")


def _gather(topology: Topology) -> StepSchedule:
    ranks = by_number(topology)
    size = len(ranks)
    parts = []
    for step in range((size - 1).bit_length()):
        distance = 1 << step
        shard, tail = np.divmod(np.arange(size * min(distance, size - distance)), size)
        chunk, head = ranks[(tail + shard) % size], ranks[tail - distance]
        parts.append(in_step(step, chunk, ranks[tail], head))
    chunks = Chunks.equal(np.arange(size), whole=size)
    return routed(topology, METHOD, "allgather", chunks, joined(parts))


def _exchange(topology: Topology) -> StepSchedule:
    """Chunks go from every place to the place 1 further on, 2, ..., N - 1."""
    ranks = by_number(topology)
    size = len(ranks)
    chunk = np.arange(size * (size - 1))
    source, distance = np.divmod(chunk, size - 1)
    distance += 1
    parts = []
    for step in range((size - 1).bit_length()):
        moving = chunk[(distance >> step) % 2 == 1]
        done = distance[moving] % (1 << step)
        tail = (source[moving] + done) % size
        head = ranks[(tail + (1 << step)) % size]
        parts.append(in_step(step, moving, ranks[tail], head))
    chunks = Chunks(
        size=np.ones(len(chunk), dtype=np.int64),
        whole=size,
        root=ranks[source],
        target=ranks[(source + distance) % size],
    )
    return routed(topology, METHOD, "all-to-all", chunks, joined(parts))


def _demanded(topology: Topology, demand: Demand) -> StepSchedule:
    """Number the chunks as in the demand, which has them by source and target."""
    if not demand.is_uniform:
        raise UnsupportedError(
            f"unsupported: the parts of {demand.name} differ; bruck takes equal parts: see the "
            f"methods direct, hierarchical and fast-reading"
        )
    made = _exchange(topology)
    number = np.argsort(np.lexsort((made.chunks.target, made.chunks.root)))
    sends = replace(made.sends, chunk=number[made.sends.chunk].astype(np.int32)).in_order()
    return replace(made, chunks=chunks_of(demand), sends=sends, demand=demand)


METHODS = (
    Method(
        name=METHOD,
        summary="log2 N steps for any N, to the GPU 1, 2, 4, ... places away",
        source="Bruck et al. (IEEE TPDS 1997)",
        generate=generate,
        collectives=(*GATHERING, "all-to-all"),
    ),
)
