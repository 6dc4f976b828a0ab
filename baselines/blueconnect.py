"""BlueConnect: rings inside the boxes, and rings from box to box on every rail.

Problem: an allgather, reduce-scatter or allreduce that sends less over the slow network.
Input:   a topology of boxes with equally many GPUs.
Output:  step schedules of (G - 1) + (B - 1) steps for B boxes of G (twice, an allreduce).
Cost:    N (N - 1) transfers, N = B G.
Source:  Cho, Finkler, Kung, Hunter, "BlueConnect: Decomposing All-Reduce for Deep Learning on
         Heterogeneous Network Hierarchy" (MLSys 2019). Reimplemented from the paper.

The paper splits N GPUs into factors and an allreduce into a reduce-scatter along each factor and
then an allgather along each, backwards; here the factors are the box and the GPU's number in it.
"inside-first" reduces inside the boxes first, so that a GPU has 1/G of the data left to send over
the network; an allgather is the same backwards, and crosses the network first. All rails, the GPUs
with the same number in all boxes, run at the same time.

Inside a box a ring visits the GPUs by number or, where direct links (xGMI) make a cycle in every
box, along this cycle. It goes one way round, as do the rings on the rails: through a switch this
fills every port.

What is left out: factors within a box or among the boxes; the overlap of the phases of several
chunks, which libraries do by pipelining; other algorithms than rings along a factor. The paper's
times are of its own clusters and are not reproduced. On two DGX A100 the allgather takes
1/2 M/8 / 25 + 7/8 M / 300 (GB/s), 184.6 GB/s in all.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from baselines.composing import Ranks, collect_steps, joined, routed
from baselines.grid_rings import along_rings
from baselines.hamiltonian import find_cycle
from baselines.parameters import check_choice
from baselines.ring_layout import gpus_by_box
from baselines.routing import check_size
from forestcoll.errors import UnsupportedError
from forestcoll.schedule.steps import Chunks, StepSchedule
from forestcoll.topology.model import Topology

__all__ = ["ORDERS", "generate"]

ORDERS = ("inside-first", "across-first")
"""Of the dimensions in a reduce-scatter; an allgather takes them backwards."""


def generate(
    topology: Topology, collective: str = "allgather", *, order: str = "inside-first"
) -> StepSchedule:
    """Run rings inside the boxes and across them.

    Parameters
    ----------
    topology : Topology
    collective : str
        "allgather", "reduce-scatter" or "allreduce".
    order : str
        One of ``ORDERS``.

    Raises
    ------
    UnsupportedError
        If there are no boxes, or boxes of unequal size, or nothing leads from GPU to GPU.
    InvalidParameterError
        If there is no such order.
    """
    check_size(topology)
    check_choice("order", order, ORDERS)
    return collect_steps(partial(_gather, order=order), topology, collective)


def _gather(topology: Topology, order: str) -> StepSchedule:
    axes = (0, 1) if order == "inside-first" else (1, 0)
    sends = joined(along_rings(_grid(topology), axes))
    size = topology.num_compute
    chunks = Chunks.equal(np.arange(size), whole=size)
    return routed(topology, "blueconnect", "allgather", chunks, sends)


def _grid(topology: Topology) -> Ranks:
    """Arrange the ranks by box and, within a box, round its ring."""
    if any(topology.nodes[gpu].box is None for gpu in topology.compute):
        raise UnsupportedError(f"unsupported: {topology.name} has GPUs outside boxes")
    boxes = gpus_by_box(topology)
    sizes = sorted({len(box) for box in boxes})
    if len(sizes) > 1:
        raise UnsupportedError(
            f"unsupported: {topology.name} has boxes of {sizes[0]} and of {sizes[-1]} GPUs"
        )
    grid = np.array([[topology.rank_of[gpu] for gpu in box] for box in boxes], dtype=np.int32)
    return grid[:, _ring(topology, boxes)]


def _ring(topology: Topology, boxes: list[list[int]]) -> list[int]:
    """Return the places in a box in the order of its ring, along links that every box has."""
    size, links = len(boxes[0]), topology.link_between
    joined = [
        tuple(b for b in range(size) if all((box[a], box[b]) in links for box in boxes))
        for a in range(size)
    ]
    both = tuple(tuple(b for b in row if a in joined[b]) for a, row in enumerate(joined))
    cycle = find_cycle(both) if all(both) else None
    return list(cycle or range(size))
