"""Allreduces of few latencies in which GPUs exchange sums along the dimensions of the network.

Problem: one-shot takes one latency and much data; a reduction and a gathering take little data and
         twice the latencies. What lies between?
Input:   boxes of equal size, or a torus or hypercube of two dimensions or more; how many dimensions
         are halved, and how many are folded.
Output:  step schedules: a step for each dimension, and two for a halved one; rings have more.
Cost:    linear in the transfers.
Source:  recursive doubling and halving (Thakur, Rabenseifner and Gropp, IJHPCA 2005), hierarchical
         allreduces of NCCL's and MSCCL's users. Reimplemented from the descriptions. Steps along
         rings (:mod:`baselines.building.ring_sums`) are ours.

Boxes have two dimensions: the GPUs of a box, and the GPUs of the same number in all boxes. Along a
halved dimension each GPU sums up its part of the data of its line. Along the others all GPUs of a
line send each other these sums, all at once, so each has the total. Then the halved dimensions
gather the parts. The name is that of hypercubes, whose lines have two GPUs: there half remains.

Boxes begin with the GPUs of a box. On a torus one part of the data begins with each dimension, so
all links are in use. Its lines are rings: along a halved one, sums pass from GPU to GPU to their
owner. In an exchange, neighbours first send each other their sums. Along a folded one, four GPUs
get the sum after as many hops, with half of the transfers; the others get the total at last.
Transfers take the least-cost paths (``forwarding``).
Rates by hand calculation: docs/baselines/steps.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from baselines.building.composing import in_step, joined, routed
from baselines.building.ring_sums import (
    Step,
    all_to_all,
    exchanged,
    fold_of,
    from_owner,
    is_foldable,
    to_owner,
)
from baselines.interface.method import Method
from baselines.interface.supported import check_supported
from baselines.networks.boxes import Ranks, gpus_by_box
from baselines.networks.switch_paths import check_size
from baselines.networks.torus_grid import find_grid
from forestcoll.errors import InvalidParameterError, UnsupportedError
from forestcoll.schedule.sends import Chunks, Sends
from forestcoll.schedule.steps import StepSchedule
from forestcoll.topology.model import Topology

__all__ = ["METHODS", "dimensions", "foldable_dimensions", "generate"]

METHOD = "sum-exchange"


class _Part(NamedTuple):
    """Data that takes the same steps.

    Parameters
    ----------
    grid : int32 array
        The rank at each place.
    owned : tuple of int
        The place of its owners in the halved dimensions.
    folded : int
        How many of the next dimensions have folded rings.
    first : int
        The place at which pairs and halves of rings begin.
    divided : int
        Parts into which the data that begins with this dimension is divided.
    rings : bool
        Whether lines are rings.
    """

    grid: Ranks
    owned: tuple[int, ...]
    folded: int
    first: int
    divided: int
    rings: bool


def generate(
    topology: Topology, collective: str = "allreduce", *, halved: int = 1, folded: int = 0
) -> StepSchedule:
    """Halve some dimensions, exchange sums along the others, and gather.

    Parameters
    ----------
    halved : int
        Number of dimensions along which the data is divided: fewer hops with less, less data with
        more. At least one dimension is left for the exchange.
    folded : int
        Number of further dimensions of a torus whose rings are folded.

    Raises
    ------
    UnsupportedError
        If the network has fewer than two dimensions, or for another collective.
    InvalidParameterError
        If no dimension is left, or boxes are to be folded.
    """
    check_supported(METHOD, collective, ("allreduce",))
    check_size(topology)
    grids, rings = _grids(topology)
    _check_numbers(topology, grids[0].ndim, halved, folded, rings=rings)
    parts = [part for grid in grids for part in _parts(grid, halved, folded, rings=rings)]
    whole = len(grids) * math.lcm(*(part.divided for part in parts))
    chunks = Chunks.equal(np.full(len(parts), -1), whole)
    sizes = np.array([whole // (len(grids) * part.divided) for part in parts], dtype=np.int64)
    sends = [one for chunk, part in enumerate(parts) for one in _sends(chunk, part)]
    return routed(topology, METHOD, "allreduce", replace(chunks, size=sizes), joined(sends))


def _check_numbers(topology: Topology, dims: int, halved: int, folded: int, *, rings: bool) -> None:
    """Refuse numbers of dimensions that the network does not have."""
    if not 0 <= halved < dims:
        raise InvalidParameterError(
            f"{METHOD}: halved is {halved}; it must be 0 to {dims - 1}, since {topology.name} has "
            f"{dims} dimensions and exchanges sums along one of them at least"
        )
    most = dims - halved if rings else 0
    if not 0 <= folded <= most:
        has = f"{most} dimensions that are not halved" if rings else "no rings"
        raise InvalidParameterError(
            f"{METHOD}: folded is {folded}; it must be 0 to {most}, since {topology.name} has {has}"
        )


def dimensions(topology: Topology) -> int:
    """Return the number of dimensions of a network, two or more.

    Raises
    ------
    UnsupportedError
        If it has fewer.
    """
    return _grids(topology)[0][0].ndim


def foldable_dimensions(topology: Topology) -> int:
    """Return how many dimensions of a network may be folded; 0 if all lines are short or no rings.

    Raises
    ------
    UnsupportedError
        If it has fewer than two dimensions.
    """
    grids, rings = _grids(topology)
    return grids[0].ndim if rings and any(map(is_foldable, grids[0].shape)) else 0


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


def _parts(grid: Ranks, halved: int, folded: int, *, rings: bool) -> Iterator[_Part]:
    """Yield the parts of the data that begin with the first dimension of a grid."""
    lengths = grid.shape[:halved]
    # Pairs and halves that begin at one place would leave links idle in a step. Owners differ in
    # theirs, so all links are in use.
    starts = _starts(grid.shape, folded) if rings and not halved else 1
    count = math.prod(lengths) * starts
    for owned in np.ndindex(lengths):
        for first in range(starts):
            yield _Part(grid, owned, folded, first, count, rings)


def _starts(lengths: Sequence[int], fold: int) -> int:
    """Return at how many places the pairs of rings, or the halves of folded ones, may begin."""
    paired = 2 if any(length > 2 and length % 2 == 0 for length in lengths) else 1
    halves = [length // 2 for length in lengths[:fold] if is_foldable(length)]
    return max([paired, *halves])


def _sends(chunk: int, part: _Part) -> Iterator[Sends]:
    """Yield the transfers of a chunk."""
    grid, sums, copies = part.grid, list[Step](), list[Step]()
    for own in part.owned:
        if part.rings:
            sums += to_owner(grid, own)
            copies = [*from_owner(grid, own), *copies]
        else:
            there = _all_to_owner(grid, own)
            sums.append(there)
            copies.insert(0, Step(there.heads, there.tails, reduce=False))
        grid = grid[own]
    for axis in range(grid.ndim):
        line = np.roll(np.moveaxis(grid, axis, 0), -part.first, axis=0)
        if axis < part.folded:
            fold = fold_of(line)
            sums += fold.sums
            copies = [*fold.copies, *copies]
            grid = np.moveaxis(line[fold.owners], 0, axis)
        else:
            sums += exchanged(line) if part.rings else [all_to_all(line)]
    for number, step in enumerate([*sums, *copies]):
        yield in_step(number, chunk, step.tails, step.heads, reduce=step.reduce)


def _all_to_owner(line: Ranks, own: int) -> Step:
    """Return the step in which all of a line send to the owner."""
    others = np.delete(line, own, axis=0)
    return Step(others.ravel(), np.broadcast_to(line[own], others.shape).ravel(), reduce=True)


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
