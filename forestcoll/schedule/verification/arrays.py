"""Checks of a forest's arrays: shapes, types, rows and ranges.

The first step of :func:`forestcoll.schedule.verify`; after it, indexing is safe.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from forestcoll.schedule.exact_sums import first
from forestcoll.schedule.forest import Forest
from forestcoll.schedule.protocols import Made, OnNetwork, Routed, Weighted
from forestcoll.schedule.verification.naming import fail, walk
from forestcoll.topology.describe import counted

__all__ = [
    "DIGITS", "check_array", "check_arrays", "check_count", "check_link_order", "check_method",
    "check_ranks", "check_routes", "check_rows", "length",
]  # fmt: skip

DIGITS = 300
"""Most digits of a number in a file; floats have the same range."""

_TOGETHER = 2**16
"""Entries of an array that are read together."""

_Ints = npt.NDArray[np.integer[Any]]


def check_arrays(forest: Forest) -> None:
    """Check that arrays of an explicit forest are integers, match in shape, and are in range."""
    ranks, batches = forest.topology.num_compute, np.size(forest.root)
    check_ranks(forest)
    check_array("root", forest.root, (batches,), 0, ranks - 1)
    check_array("multiplicity", forest.multiplicity, (batches,))
    check_array("parent", forest.parent, (batches, ranks), -1, ranks - 1)
    check_routes(forest)


def check_ranks(forest: Weighted) -> None:
    """Check that there is a GPU, and that weights are coprime whole numbers, one per GPU."""
    if not (ranks := forest.topology.num_compute):
        fail(f"{forest.topology.name} has no GPU; a schedule needs at least one")
    weights = forest.weights
    if not isinstance(weights, tuple) or len(weights) != ranks:
        found = len(weights) if isinstance(weights, tuple) else type(weights).__name__
        fail(f"the weights are {found}; they must be a tuple of {counted(ranks, 'int')}")
    for rank, weight in enumerate(weights):
        if type(weight) is not int or weight < 0:
            name = forest.topology.nodes[forest.topology.compute[rank]].name
            fail(f"the weight of {name} is {weight!r}; it must be an int from 0 up")
    if (divisor := math.gcd(*weights)) != 1:
        fail(
            f"the weights have the common divisor {divisor}; divide them by it"
            if divisor
            else "all weights are 0, so there is no data"
        )
    if not isinstance(forest.reduction, bool):
        fail(f"reduction is {forest.reduction!r}; it must be True or False")


def check_routes(schedule: Routed, *, ends: bool = False) -> None:
    """Check that arrays of routes are integers, match in shape, and are in order and range.

    Logical links join GPUs, or ``ends``: any nodes.
    """
    routes, topology = schedule.routes, schedule.topology
    ranks = len(topology.nodes) if ends else topology.num_compute
    links, paths = (
        length("routes.tail", routes.tail),
        length("routes.multiplicity", routes.multiplicity),
    )
    hops = length("routes.hop", routes.hop)
    check_array("routes.tail", routes.tail, (links,), 0, ranks - 1)
    check_array("routes.head", routes.head, (links,), 0, ranks - 1)
    check_array("routes.multiplicity", routes.multiplicity, (paths,))
    check_array("routes.hop", routes.hop, (hops,), 0, len(schedule.topology.nodes) - 1)
    check_rows("routes.first_path", routes.first_path, links, paths, least=1)
    check_rows("routes.first_hop", routes.first_hop, paths, hops, least=2)
    check_link_order(schedule, routes.tail, routes.head)


def check_array(
    name: str,
    array: _Ints,
    shape: tuple[int, ...],
    low: int | None = None,
    high: int | None = None,
) -> None:
    """Check that an array has the shape, signed integers, and values from low to high."""
    # Masked arrays of numpy.ma would hide values from all later checks.
    wrong = not isinstance(array, np.ndarray) or hasattr(array, "mask")
    if wrong or array.dtype.kind != "i":
        found = getattr(array, "dtype", type(array).__name__)
        fail(f"array {name} holds {found}; it must be a numpy array of signed integers")
    if array.shape != shape:
        fail(f"array {name} has shape {array.shape}; the other arrays and the topology ask {shape}")
    if low is None or high is None or array.size == 0:
        return
    for extreme in _extremes(array):
        if not low <= extreme <= high:
            fail(f"array {name} holds {extreme}; its values lie between {low} and {high}")


def _extremes(array: _Ints) -> tuple[int, int]:
    """Return the least and the greatest value, from parts that stay in the cache."""
    rows = max(1, _TOGETHER * len(array) // array.size)
    parts = (array[start : start + rows] for start in range(0, len(array), rows))
    low, high = zip(*((part.min(), part.max()) for part in parts), strict=True)
    return int(min(low)), int(max(high))


def length(name: str, array: _Ints) -> int:
    """Return the length of an array; check that it is an array of one dimension."""
    if not isinstance(array, np.ndarray) or array.ndim != 1:
        found = getattr(array, "shape", type(array).__name__)
        fail(f"array {name} is {found}; it must be a numpy array of one dimension")
    return len(array)


def check_method(schedule: Made) -> None:
    """Check that the name of the method is printable text."""
    method = schedule.method
    if not isinstance(method, str) or not method or not method.isprintable():
        fail(f"the method is {method!r}; it must be the printable name of who made the schedule")


def check_count(what: str, number: int, of: str) -> None:
    """Check that a number is whole, positive, and short enough for a file."""
    if type(number) is not int or not 1 <= number < 10**DIGITS:
        fail(f"{what} is {number!r} {of}; it must be a positive int of at most {DIGITS} digits")


def check_rows(name: str, first: _Ints, rows: int, entries: int, *, least: int) -> None:
    """Check that compressed rows span all entries, and that each holds ``least`` or more."""
    check_array(name, first, (rows + 1,), 0, entries)
    if first[0] != 0 or first[-1] != entries:
        fail(f"array {name} runs from {first[0]} to {first[-1]}; it must run from 0 to {entries}")
    short = np.flatnonzero(np.diff(first) < least)
    if short.size:
        row = int(short[0])
        fail(
            f"array {name} gives row {row} the entries {first[row]} to {first[row + 1]} (end "
            f"excluded); every row needs at least {least}"
        )


def check_link_order(schedule: OnNetwork, tail: _Ints, head: _Ints) -> None:
    """Check that logical links are sorted by (tail, head), each listed once."""
    right = (tail[1:] > tail[:-1]) | ((tail[1:] == tail[:-1]) & (head[1:] > head[:-1]))
    if (wrong := first(~right)) is not None:
        before, ends = ((int(tail[i]), int(head[i])) for i in (wrong, wrong + 1))
        fault = "is listed twice" if ends == before else "is out of order"
        name = walk(schedule, ends)
        fail(f"logical link {name} {fault}; sort links by ranks, each once")
