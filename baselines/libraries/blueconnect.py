"""BlueConnect: rings inside the boxes, and rings from box to box on every rail.

Problem: an allgather, reduce-scatter or allreduce that sends less over the slow network.
Input:   a topology of boxes with equal numbers of GPUs.
Output:  step schedules of (G - 1) + (B - 1) steps for B boxes of G; twice as many for an allreduce.
Cost:    R N (N - 1) transfers, N = B G, for R rings a box.
Source:  Cho, Finkler, Kung, Hunter, "BlueConnect: Decomposing All-Reduce for Deep Learning on
         Heterogeneous Network Hierarchy" (MLSys 2019). Reimplemented from the paper.

The paper splits N into factors. An allreduce is a reduce-scatter along each factor and then an
allgather along each in reverse order; here the factors are the box and the GPU's number in it.
"inside-first" reduces inside the boxes first, so that a GPU sends only 1/G of the data over the
network. An allgather is the same backwards, and crosses the network first. All rails (GPUs of the
same number in all boxes) run at the same time.

Inside a box with a switch, one ring visits the GPUs by number in one direction, which fills every
port. Where direct links (xGMI) make cycles in every box, several rings follow them in both
directions, as in ``ring_layout``. Each ring has an equal part of every shard, and every hop uses
its own link. Rings on the rails have one direction.

Left out: factors within a box or among the boxes; the overlap of phases by pipelining; algorithms
other than rings along a factor. Rates: docs/baselines/steps.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from baselines.building.composing import collect_steps, fastest, joined, routed
from baselines.building.grid_rings import along_rings
from baselines.interface.method import Method
from baselines.interface.parameters import check_choice
from baselines.interface.supported import GATHERING
from baselines.networks.boxes import gpus_by_box
from baselines.networks.hamiltonian import Successors
from baselines.networks.ring_layout import Layout, Ring, hops, lay_all
from baselines.networks.switch_paths import check_size
from forestcoll.errors import InvalidParameterError, UnsupportedError
from forestcoll.schedule.sends import Chunks, Sends
from forestcoll.schedule.steps import StepSchedule
from forestcoll.topology.model import Topology

__all__ = ["METHODS", "ORDERS", "generate"]

ORDERS = ("inside-first", "across-first")
"""Order of the dimensions in a reduce-scatter; an allgather reverses it."""


def generate(
    topology: Topology,
    collective: str = "allgather",
    *,
    order: str = "inside-first",
    rings: int | None = None,
) -> StepSchedule:
    """Run rings inside the boxes and across them.

    Parameters
    ----------
    collective : str
        "allgather", "reduce-scatter" or "allreduce".
    order : str
        One of ``ORDERS``.
    rings : int, optional
        Rings R in every box, each with 1/R of every shard. The default is the fewest among 1, 2, 3,
        ... up to the lanes of a GPU inside its box (:meth:`baselines.networks.ports.Ports.lanes`)
        with the least pipelined time (:func:`forestcoll.schedule.cost`), then synchronous time.

    Raises
    ------
    UnsupportedError
        If there are no boxes, boxes differ in size, or there is no path between GPUs.
    InvalidParameterError
        If there is no such order, or R is not positive.
    """
    check_size(topology)
    check_choice("order", order, ORDERS)
    if rings is not None and rings < 1:
        raise InvalidParameterError(f"rings is {rings}; it takes at least one")
    boxes = _boxes(topology)
    most = max(_InEveryBox(way, boxes).lanes(boxes[0]) for way in (topology, topology.reversed()))
    counts = range(1, max(most, 1) + 1) if rings is None else [rings]
    return fastest(
        collect_steps(partial(_gather, order=order, rings=count), topology, collective)
        for count in counts
    )


def _gather(topology: Topology, order: str, rings: int) -> StepSchedule:
    boxes = _boxes(topology)
    place = {gpu: i for i, gpu in enumerate(boxes[0])}
    grid = np.array([[topology.rank_of[gpu] for gpu in box] for box in boxes], dtype=np.int32)
    axes, size = (0, 1) if order == "inside-first" else (1, 0), topology.num_compute
    parts: list[Sends] = []
    alone = len(boxes[0]) == 1
    laid = [tuple(boxes[0])] if alone else lay_all(_InEveryBox(topology, boxes), rings)
    for i, ring in enumerate(laid):
        around = grid[:, [place[gpu] for gpu in ring]]
        parts += along_rings(around, axes, first_chunk=i * size)
    chunks = Chunks.equal(np.tile(np.arange(size), len(laid)), whole=size * len(laid))
    on_links = all(
        (box[place[tail]], box[place[head]]) in topology.link_between
        for ring in laid
        for tail, head in hops(ring)
        for box in boxes
    )
    sends = joined(parts)
    return routed(topology, "blueconnect", "allgather", chunks, sends, direct=on_links)


def _boxes(topology: Topology) -> list[list[int]]:
    if any(topology.nodes[gpu].box is None for gpu in topology.compute):
        raise UnsupportedError(f"unsupported: {topology.name} has GPUs outside boxes")
    boxes = gpus_by_box(topology)
    sizes = sorted({len(box) for box in boxes})
    if len(sizes) > 1:
        raise UnsupportedError(
            f"unsupported: {topology.name} has boxes of {sizes[0]} and of {sizes[-1]} GPUs"
        )
    return boxes


class _InEveryBox(Layout):
    """Lays rings in the first box, over direct links that every box has."""

    def __init__(self, topology: Topology, boxes: list[list[int]]) -> None:
        super().__init__(topology, boxes[:1])
        self.every_box = boxes

    def direct(self, gpus: Sequence[int]) -> Successors:
        """The links among the GPUs of the first box that all other boxes have too, by place."""
        first, *others = (super(_InEveryBox, self).direct(box) for box in (gpus, *self.every_box))
        return tuple(
            tuple(place for place in row if all(place in other[i] for other in others))
            for i, row in enumerate(first)
        )

    def mixed(self, gpus: Sequence[int]) -> list[Ring]:
        """A ring in descending order, by switches or by the links of each box."""
        return [(0, *range(len(gpus) - 1, 0, -1))]


METHODS = (
    Method(
        name="blueconnect",
        summary="rings inside the boxes, then from box to box on every rail",
        source="Cho et al., BlueConnect (MLSys 2019)",
        generate=generate,
        collectives=GATHERING,
        notes="two factors, box and number in it; on direct links as many rings as help",
        libraries=("networkx",),
    ),
)
