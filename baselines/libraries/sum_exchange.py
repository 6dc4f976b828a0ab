"""Allreduces of few latencies in which GPUs exchange sums along the dimensions of the network.

Problem: one-shot takes one latency and much data; a reduction and a gathering take little data and
         twice the latencies. What lies between?
Input:   boxes of equal size, or a torus or hypercube of two dimensions or more; how many dimensions
         are halved.
Output:  step schedules of D + H steps, for D dimensions of which H are halved.
Cost:    linear in the transfers.
Source:  recursive doubling and halving (Thakur, Rabenseifner and Gropp, IJHPCA 2005), hierarchical
         allreduces of NCCL's and MSCCL's users. Reimplemented from the descriptions.

Boxes have two dimensions: the GPUs of a box, and the GPUs of the same number in all boxes. Along a
halved dimension each GPU sums up its part of the data of its line. Along the others all GPUs of a
line send each other these sums, all at once, so each has the total. Then the halved dimensions
gather the parts. The name is that of hypercubes, whose lines have two GPUs: there half remains.

Boxes begin with the GPUs of a box. On a torus one part of the data begins with each dimension, so
all links are in use. Peers need no link: a transfer takes the least-cost paths (``forwarding``).
Rates by hand calculation: docs/baselines/steps.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from baselines.building.composing import in_step, joined, routed
from baselines.interface.method import Method
from baselines.interface.supported import check_supported
from baselines.networks.boxes import Ranks, gpus_by_box
from baselines.networks.switch_paths import check_size
from baselines.networks.torus_grid import find_grid
from forestcoll.errors import InvalidParameterError, UnsupportedError
from forestcoll.schedule.sends import Chunks, Sends
from forestcoll.schedule.steps import StepSchedule
from forestcoll.topology.model import Topology

__all__ = ["METHODS", "dimensions", "generate"]

METHOD = "sum-exchange"


def generate(topology: Topology, collective: str = "allreduce", *, halved: int = 1) -> StepSchedule:
    """Halve some dimensions, exchange sums along the others, and gather.

    Parameters
    ----------
    halved : int
        Number of dimensions along which the data is divided: fewer hops with less, less data with
        more. At least one dimension is left for the exchange.

    Raises
    ------
    UnsupportedError
        If the network has fewer than two dimensions, or for another collective.
    InvalidParameterError
        If no dimension is left.
    """
    check_supported(METHOD, collective, ("allreduce",))
    check_size(topology)
    grids = _grids(topology)
    most = grids[0].ndim - 1
    if not 0 <= halved <= most:
        raise InvalidParameterError(
            f"{METHOD}: halved is {halved}; it must be 0 to {most}, since {topology.name} has "
            f"{most + 1} dimensions and exchanges sums along one of them at least"
        )
    parts = [(grid, owned) for grid in grids for owned in np.ndindex(grid.shape[:halved])]
    counts = [math.prod(grid.shape[:halved]) for grid, _ in parts]
    whole = len(grids) * math.lcm(*counts)
    chunks = Chunks.equal(np.full(len(parts), -1), whole)
    sizes = np.array([whole // (len(grids) * count) for count in counts], dtype=np.int64)
    sends = [one for chunk, part in enumerate(parts) for one in _sends(chunk, *part)]
    return routed(topology, METHOD, "allreduce", replace(chunks, size=sizes), joined(sends))


def dimensions(topology: Topology) -> int:
    """Return the number of dimensions of a network, two or more.

    Raises
    ------
    UnsupportedError
        If it has fewer.
    """
    return _grids(topology)[0].ndim


def _grids(topology: Topology) -> list[Ranks]:
    """Return the rank at each place, for each order of the dimensions that data takes."""
    boxes = [[topology.rank_of[gpu] for gpu in box] for box in gpus_by_box(topology)]
    if len(boxes) > 1 and len(boxes[0]) > 1 and len({*map(len, boxes)}) == 1:
        return [np.array(boxes, dtype=np.int32).T]
    grid = find_grid(topology).ranks
    if grid.ndim < 2:
        raise UnsupportedError(
            f"unsupported: {topology.name} is a ring; {METHOD} takes boxes of equal size, and tori "
            f"of two dimensions or more"
        )
    axes = range(grid.ndim)
    return [grid.transpose([*axes[first:], *axes[:first]]) for first in axes]


def _sends(chunk: int, grid: Ranks, owned: tuple[int, ...]) -> Iterator[Sends]:
    """Yield the transfers of a chunk, whose owners have this place in the halved dimensions."""
    steps = grid.ndim + len(owned)
    for step, own in enumerate(owned):
        others = np.delete(grid, own, axis=0)
        owners = np.broadcast_to(grid[own], others.shape)
        yield in_step(step, chunk, others.ravel(), owners.ravel(), reduce=True)
        yield in_step(steps - 1 - step, chunk, owners.ravel(), others.ravel())
        grid = grid[own]
    for axis in range(grid.ndim):
        for distance in range(1, grid.shape[axis]):
            heads = np.roll(grid, -distance, axis)
            step = len(owned) + axis
            yield in_step(step, chunk, grid.ravel(), heads.ravel(), reduce=True)


METHODS = (
    Method(
        name=METHOD,
        summary="exchanges sums along some dimensions of the network, halving the others",
        source="recursive doubling and halving (Thakur et al., IJHPCA 2005)",
        generate=generate,
        collectives=("allreduce",),
        notes="boxes of equal size, tori and hypercubes; between one-shot and two phases",
        libraries=("networkx",),
    ),
)
