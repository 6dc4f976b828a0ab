"""Allreduces of few latencies in which GPUs exchange sums along the dimensions of the network.

Problem: one-shot takes one latency and much data; a reduction and a gathering take little data and
         twice the latencies. What lies between?
Input:   boxes of equal size, or a torus or hypercube of two dimensions or more; how many dimensions
         are halved.
Output:  step schedules: a step for each dimension, and two for a halved one; rings have more.
Cost:    linear in the transfers.
Source:  recursive doubling and halving (Thakur, Rabenseifner and Gropp, IJHPCA 2005), hierarchical
         allreduces of NCCL's and MSCCL's users. Reimplemented from the descriptions.

Boxes have two dimensions: the GPUs of a box, and the GPUs of the same number in all boxes. Along a
halved dimension each GPU sums up its part of the data of its line. Along the others all GPUs of a
line send each other these sums, all at once, so each has the total. Then the halved dimensions
gather the parts. The name is that of hypercubes, whose lines have two GPUs: there half remains.

Boxes begin with the GPUs of a box. On a torus one part of the data begins with each dimension, so
all links are in use. Its lines are rings: along a halved one, sums pass from GPU to GPU to their
owner. In an exchange, neighbours first send each other their sums; then the nearer GPU of each
other pair sends that of both. Transfers take the least-cost paths (``forwarding``).
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

_Pairs = tuple[Ranks, Ranks]
"""Senders and receivers of a step."""


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
    grids, rings = _grids(topology)
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
    sends = [one for chunk, part in enumerate(parts) for one in _sends(chunk, *part, rings=rings)]
    return routed(topology, METHOD, "allreduce", replace(chunks, size=sizes), joined(sends))


def dimensions(topology: Topology) -> int:
    """Return the number of dimensions of a network, two or more.

    Raises
    ------
    UnsupportedError
        If it has fewer.
    """
    return _grids(topology)[0][0].ndim


def _grids(topology: Topology) -> tuple[list[Ranks], bool]:
    """Return the rank at each place, for each order of the dimensions, and if lines are rings."""
    boxes = [[topology.rank_of[gpu] for gpu in box] for box in gpus_by_box(topology)]
    if len(boxes) > 1 and len(boxes[0]) > 1 and len({*map(len, boxes)}) == 1:
        return [np.array(boxes, dtype=np.int32).T], False
    grid = find_grid(topology).ranks
    if grid.ndim < 2:
        raise UnsupportedError(
            f"unsupported: {topology.name} is a ring; {METHOD} takes boxes of equal size, and tori "
            f"of two dimensions or more"
        )
    axes = range(grid.ndim)
    return [grid.transpose([*axes[first:], *axes[:first]]) for first in axes], True


def _sends(chunk: int, grid: Ranks, owned: tuple[int, ...], *, rings: bool) -> Iterator[Sends]:
    """Yield the transfers of a chunk, whose owners have this place in the halved dimensions."""
    halved: list[_Pairs] = []
    for own in owned:
        halved += _to_owner(grid, own) if rings else [_all_to_owner(grid, own)]
        grid = grid[own]
    lines = [np.moveaxis(grid, axis, 0) for axis in range(grid.ndim)]
    exchanged = [one for line in lines for one in (_by_pairs(line) if rings else [_all(line)])]
    for step, (tails, heads) in enumerate([*halved, *exchanged]):
        yield in_step(step, chunk, tails, heads, reduce=True)
    for step, (tails, heads) in enumerate(reversed(halved), len(halved) + len(exchanged)):
        yield in_step(step, chunk, heads, tails)


def _all_to_owner(line: Ranks, own: int) -> _Pairs:
    """Return the step in which all of a line send to the owner."""
    others = np.delete(line, own, axis=0)
    return others.ravel(), np.broadcast_to(line[own], others.shape).ravel()


def _to_owner(ring: Ranks, own: int) -> Iterator[_Pairs]:
    """Yield steps in which sums pass along a ring to the owner, from both sides."""
    length = len(ring)
    for away in range(length // 2, 0, -1):
        # Opposite the owner there is one GPU, which has two ways.
        sides = (1, -1) if 2 * away < length else (1 if own % 2 else -1,)
        tails, heads = (
            np.concatenate([ring[(own + side * far) % length].ravel() for side in sides])
            for far in (away, away - 1)
        )
        yield tails, heads


def _all(line: Ranks) -> _Pairs:
    """Return the step in which all of a line send to each other."""
    shifted = [np.roll(line, -distance, axis=0).ravel() for distance in range(1, len(line))]
    return np.tile(line.ravel(), len(shifted)), np.concatenate(shifted)


def _by_pairs(ring: Ranks) -> Iterator[_Pairs]:
    """Yield a step of neighbours, and one in which each other pair's nearer GPU sends their sum.

    That takes as many hops, and half of the links' time.
    """
    length = len(ring)
    if length == 2 or length % 2:
        yield _all(ring)
        return
    yield ring.ravel(), ring[np.arange(length) ^ 1].ravel()
    ends = [
        (min(pair, pair + 1, key=lambda one: _apart(one, place, length)), place)
        for place in range(length)
        for pair in range(0, length, 2)
        if pair != place & ~1
    ]
    tails, heads = np.array(ends).T
    yield ring[tails].ravel(), ring[heads].ravel()


def _apart(one: int, other: int, length: int) -> int:
    """Return the distance of two places on a ring."""
    return min((one - other) % length, (other - one) % length)


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
