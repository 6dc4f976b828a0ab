"""Allreduces of few latencies in which GPUs exchange sums.

Problem: one-shot takes one latency and much data, a reduction and a gathering along trees take
         little data and four latencies between boxes. What lies between?
Input:   boxes of equal size, a hypercube, or a square torus.
Output:  step schedules.
Cost:    linear in the transfers.
Source:  recursive doubling and halving (Thakur, Rabenseifner and Gropp, IJHPCA 2005); the exchange
         between boxes is one-shot. Reimplemented from the descriptions.

On rails each GPU sums up its part of the data in its box; GPUs of the same number in all boxes send
each other these sums, all at once; then each GPU sends the result to its box. In a hypercube some
dimensions are halved first, the others exchanged, and the halved ones gathered again. One part of
the data begins with each dimension, so that all links are in use.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import permutations

import numpy as np

from baselines.building.composing import routed
from baselines.networks.boxes import gpus_by_box
from forestcoll.errors import UnsupportedError
from forestcoll.schedule.sends import Chunks, Sends
from forestcoll.schedule.steps import StepSchedule
from forestcoll.topology.model import Topology

__all__ = ["cube_exchange", "grid_exchange", "rail_exchange"]

_Send = tuple[int, int, int, int, bool]
"""Step, chunk, sender, receiver, whether it adds."""


def rail_exchange(topology: Topology) -> StepSchedule:
    """Sum up in the boxes, exchange between GPUs of the same number, and gather in the boxes.

    Raises
    ------
    UnsupportedError
        If there are not two boxes or more, of equal size, that hold all GPUs.
    """
    if any(topology.nodes[gpu].box is None for gpu in topology.compute):
        raise UnsupportedError(f"unsupported: {topology.name} has GPUs outside boxes")
    boxes = [[topology.rank_of[gpu] for gpu in box] for box in gpus_by_box(topology)]
    if len(boxes) < 2 or len({len(box) for box in boxes}) > 1:
        raise UnsupportedError(f"unsupported: {topology.name} has no boxes of equal size")
    return _schedule(topology, "rail-exchange", len(boxes[0]), _over_rails(boxes))


def _over_rails(boxes: list[list[int]]) -> Iterator[_Send]:
    for chunk in range(len(boxes[0])):
        rail = [box[chunk] for box in boxes]
        for box, owner in zip(boxes, rail, strict=True):
            for gpu in box:
                if gpu != owner:
                    yield 0, chunk, gpu, owner, True
                    yield 2, chunk, owner, gpu, False
            for other in rail:
                if other != owner:
                    yield 1, chunk, owner, other, True


def cube_exchange(topology: Topology, halved: int) -> StepSchedule:
    """Halve some dimensions of a hypercube, exchange sums along the others, and gather.

    Parameters
    ----------
    halved : int
        Number of dimensions along which the data are halved, from 0 up.

    Raises
    ------
    UnsupportedError
        If GPUs whose ranks differ in one bit have no link.
    """
    gpus, size = topology.compute, topology.num_compute
    dimension = size.bit_length() - 1
    pairs = [(r, r ^ 1 << bit) for r in range(size) for bit in range(dimension)]
    if 2**dimension != size or any(
        (gpus[a], gpus[b]) not in topology.link_between for a, b in pairs
    ):
        raise UnsupportedError(f"unsupported: {topology.name} is no hypercube")
    sends = (
        (step, turn * 2**halved + part, tail, head, adds)
        for turn in range(dimension)
        for part in range(2**halved)
        for step, tail, head, adds in _through(dimension, halved, turn, part)
    )
    return _schedule(topology, "cube-exchange", dimension * 2**halved, sends)


def _through(
    dimension: int, halved: int, turn: int, part: int
) -> Iterator[tuple[int, int, int, bool]]:
    """Yield the transfers of a chunk: its owners agree with a number in the halved dimensions."""
    bits = [1 << (turn + i) % dimension for i in range(dimension)]
    owned = [part >> i & 1 for i in range(halved)]
    for step, bit in enumerate(bits):
        for rank in range(2**dimension):
            own = [bool(rank & bits[i]) == bool(owned[i]) for i in range(min(step, halved))]
            if not all(own):
                continue
            if step >= halved:
                yield step, rank, rank ^ bit, True
            elif bool(rank & bit) != bool(owned[step]):
                yield step, rank, rank ^ bit, True
                yield dimension + halved - 1 - step, rank ^ bit, rank, False


def grid_exchange(topology: Topology, *, halved: bool) -> StepSchedule:
    """Exchange half of the data along the rows of a square torus, then along its columns.

    The other half begins with the columns. With ``halved`` the first lines are as boxes on rails.

    Raises
    ------
    UnsupportedError
        If GPUs whose ranks are neighbours in a square grid have no link.
    """
    gpus, side = topology.compute, math.isqrt(topology.num_compute)
    grid = np.arange(side**2).reshape(side, side)
    nexts = [(grid, np.roll(grid, -1, axis)) for axis in (0, 1)]
    pairs = [ends for a, b in nexts for ends in zip(a.flat, b.flat, strict=True)]
    if side**2 != len(gpus) or any(
        (gpus[a], gpus[b]) not in topology.link_between for a, b in pairs
    ):
        raise UnsupportedError(f"unsupported: {topology.name} is no square torus")
    if halved:
        turns = [_over_rails(lines.tolist()) for lines in (grid, grid.T)]
        sends = (
            (step, turn * side + chunk, tail, head, adds)
            for turn, over in enumerate(turns)
            for step, chunk, tail, head, adds in over
        )
        return _schedule(topology, "grid-exchange", 2 * side, sends)
    sends = (
        (step, turn, tail, head, True)
        for turn in (0, 1)
        for step in (0, 1)
        for line in (grid if step == turn else grid.T).tolist()
        for tail, head in permutations(line, 2)
    )
    return _schedule(topology, "grid-exchange", 2, sends)


def _schedule(topology: Topology, name: str, chunks: int, sends: Iterator[_Send]) -> StepSchedule:
    columns = [np.array(column) for column in zip(*sends, strict=True)]
    whole = Chunks.equal(np.full(chunks, -1), whole=chunks)
    return routed(topology, name, "allreduce", whole, Sends.sorted(*columns))
