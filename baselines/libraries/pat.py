"""PAT (parallel aggregated trees): Bruck with the farthest partners first.

Problem: an allgather or reduce-scatter in ceil(log2 N) steps for any N, with little data far away.
Input:   a topology.
Output:  step schedules: N (N - 1) transfers of one shard each.
Cost:    linear in the transfers.
Source:  Jeaugey, "PAT: a new algorithm for all-gather and reduce-scatter operations at scale"
         (arXiv 2506.20252), in NCCL 2.23 and later; its abstract, public summaries, and NCCL's
         ``src/include/collectives.h``, read for the pattern. Reimplemented; no code of NCCL.

GPUs are numbered by box and then by their number in the box. Every GPU broadcasts its shard over
the same binomial tree, shifted to start at the GPU. In the step of distance d, from the largest
power of two below N down to 1, a GPU passes on what has come a multiple of 2 d places, to the GPU d
places further on, if d more places are below N. All shards of a step are one aggregated message.
So the farthest partner gets one shard, where Bruck sends it half of the data. The reduce-scatter is
the allgather backwards.

Left out: limited buffers, with which NCCL aggregates fewer shards and repeats the last steps. So
these are the least steps and the same loads. NCCL takes PAT with one GPU a node only, and gathers
towards lower numbers, the mirror image. Partners need no link: a transfer takes the least-cost
paths through switches and GPUs (``forwarding``). Rates: docs/baselines/steps.md.
"""

from __future__ import annotations

import numpy as np

from baselines.building.composing import collect_steps, in_step, joined, routed
from baselines.interface.method import Method
from baselines.interface.supported import check_supported
from baselines.networks.boxes import by_number
from baselines.networks.switch_paths import check_size
from forestcoll.schedule.sends import Chunks
from forestcoll.schedule.steps import StepSchedule
from forestcoll.topology.model import Topology

__all__ = ["METHODS", "generate"]

COLLECTIVES = ("allgather", "reduce-scatter")


def generate(topology: Topology, collective: str = "allgather") -> StepSchedule:
    """Send to the GPUs at all powers of two, the farthest first.

    Parameters
    ----------
    collective : str
        "allgather" or "reduce-scatter".

    Raises
    ------
    UnsupportedError
        If there is no path from a GPU to a partner, or for another collective.
    """
    check_supported("pat", collective, COLLECTIVES)
    check_size(topology)
    return collect_steps(_gather, topology, collective)


def _gather(topology: Topology) -> StepSchedule:
    ranks = by_number(topology)
    size = len(ranks)
    parts = []
    for step, bit in enumerate(reversed(range((size - 1).bit_length()))):
        distance = 1 << bit
        gone = np.arange(0, size - distance, 2 * distance)  # places that a shard has come
        source, gone = np.divmod(np.arange(size * len(gone)), len(gone))
        tail = (source + 2 * distance * gone) % size
        head = (tail + distance) % size
        parts.append(in_step(step, ranks[source], ranks[tail], ranks[head]))
    chunks = Chunks.equal(np.arange(size), whole=size)
    return routed(topology, "pat", "allgather", chunks, joined(parts))


METHODS = (
    Method(
        name="pat",
        summary="Bruck with the farthest partners first, which get the least data",
        source="Jeaugey, PAT (arXiv 2506.20252), NCCL 2.23",
        generate=generate,
        collectives=COLLECTIVES,
        notes="unlimited buffers; any boxes (NCCL: one GPU a node)",
    ),
)
