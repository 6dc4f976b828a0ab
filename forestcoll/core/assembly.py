"""Expansion of a factored forest to explicit trees.

Problem: join the trees of all tight sets to trees of the whole forest.
Input:   a factored forest.
Output:  explicit batches: all of them, one at a time, or their depths alone.
Cost:    linear in the tree edges of the batches (N each); memory of one batch but for `expand`.
Source:  docs/mathematics/factored-forests.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeVar, overload

import numpy as np
import numpy.typing as npt

from forestcoll.errors import CapacityOverflowError, UnsupportedError, VerificationError
from forestcoll.native import _core
from forestcoll.schedule.allreduce import Allreduce, not_taken
from forestcoll.schedule.factored import FactoredForest
from forestcoll.schedule.forest import Forest, Tree
from forestcoll.schedule.multicast import MulticastForest
from forestcoll.schedule.transform.reversal import reversed_links
from forestcoll.schedule.transform.rotated_trees import written_out

__all__ = ["blocks", "expand", "expand_packed", "tree_depths", "trees"]

_AT_A_TIME = 64  # batches fetched together where callers look at them one by one
_ALL = 2**62

_MISMATCHES = (ValueError, TypeError, IndexError, OverflowError, CapacityOverflowError)

T = TypeVar("T", np.int32, np.int64)


@overload
def expand(
    schedule: Forest | FactoredForest, *, progress: Callable[[int, int], None] | None = None
) -> Forest: ...
@overload
def expand(
    schedule: Allreduce[Forest] | Allreduce[FactoredForest],
    *,
    progress: Callable[[int, int], None] | None = None,
) -> Allreduce[Forest]: ...
def expand(
    schedule: Forest | FactoredForest | Allreduce[Forest] | Allreduce[FactoredForest],
    *,
    progress: Callable[[int, int], None] | None = None,
) -> Forest | Allreduce[Forest]:
    """Expand a factored forest, or both of an allreduce, to explicit trees, sorted by root.

    The routes are those of the factored forest; they may still be lazy. An explicit forest is
    returned as it is. An allreduce keeps its bound and its remark.

    Raises
    ------
    VerificationError
        If the parts of the forest do not fit together, or the loads of links are not exactly those
        of the trees; names the set.
    UnsupportedError
        For schedules of other types.
    """
    if isinstance(schedule, Forest):
        return schedule
    if isinstance(schedule, Allreduce):
        reduce, gather = (expand(phase, progress=progress) for phase in schedule.phases)
        return Allreduce(reduce, gather, schedule.bound, schedule.remark)
    if isinstance(schedule, MulticastForest):
        raise UnsupportedError(
            "unsupported: a multicast forest is not expanded; its physical trees are written out"
        )
    if not isinstance(schedule, FactoredForest):
        raise not_taken("expand", schedule, "forests and allreduces of them")
    return _written_out(schedule, progress)


def expand_packed(
    forest: FactoredForest, *, progress: Callable[[int, int], None] | None = None
) -> Forest:
    """Expand a forest that the core has just packed; the same trees as those of :func:`expand`.

    A single packing is not checked again, as its batches are the trees. Raises VerificationError
    as :func:`expand` does.
    """
    if len(forest.sets.shape) > 1:
        return _written_out(forest, progress)
    shapes = forest.shapes
    # The assembly takes the batches of each root with the largest multiplicity first.
    batch = np.lexsort((-shapes.multiplicity, shapes.root)).astype(np.int32)
    trees = shapes.root[batch], shapes.multiplicity[batch], _of_one_packing(forest, batch)
    return replace(_explicit(forest, *trees), optimum=forest.optimum)


def _written_out(forest: FactoredForest, progress: Callable[[int, int], None] | None) -> Forest:
    with _Refusal():
        forest = replace(forest, shapes=written_out(forest.shapes))
        expansion = _expansion(forest)
        if expansion.is_one_packing:
            # One set: its batches are the trees, and their parents need not be copied.
            root, multiplicity, batch = expansion.take_batches(progress)
            parent = _of_one_packing(forest, batch)
        else:
            root, multiplicity, parent = expansion.take(_ALL, progress)
    return replace(_explicit(forest, root, multiplicity, parent), optimum=forest.optimum)


def _explicit(
    forest: FactoredForest,
    root: npt.NDArray[np.int32],
    multiplicity: npt.NDArray[np.int64],
    parent: npt.NDArray[np.int32],
) -> Forest:
    """Return some trees of a forest; an optimum is claimed for all of them only."""
    return Forest(
        topology=forest.topology,
        method=forest.method,
        k=forest.k,
        congestion=forest.congestion,
        root=root,
        multiplicity=multiplicity,
        parent=parent,
        routes=forest.routes,
        weights=forest.weights,
        reduction=forest.reduction,
    )


def _of_one_packing(forest: FactoredForest, batch: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """Return the parents of batches of the only shape; a view of its memory where possible."""
    rows = forest.shapes.parent.reshape(-1, forest.topology.num_compute)
    in_order = len(batch) == len(rows) and np.array_equal(batch, np.arange(len(rows)))
    return rows if in_order else rows[batch]


def tree_depths(
    forest: FactoredForest, *, progress: Callable[[int, int], None] | None = None
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """Return multiplicity and depth of each tree that :func:`expand` would write out.

    Depths are in GPU-to-GPU hops. No tree is kept in memory. Raises VerificationError as
    :func:`expand` does.
    """
    with _Refusal():
        return _expansion(forest).take_depths(_ALL, progress)


def trees(forest: FactoredForest) -> Iterator[Tree]:
    """Yield the trees that :func:`expand` would write out, a few of them in memory at a time.

    Raises
    ------
    VerificationError
        As :func:`expand` does; a mismatch of numbers may show only after the last tree.
    """
    for block in blocks(forest, _AT_A_TIME):
        yield from block.trees()


def blocks(forest: FactoredForest, at_a_time: int) -> Iterator[Forest]:
    """Yield the trees of :func:`expand` as forests of at most ``at_a_time`` batches.

    Raises VerificationError as :func:`trees` does.
    """
    with _Refusal():
        expansion = _expansion(forest)
    while True:
        with _Refusal():
            root, multiplicity, parent = expansion.take(at_a_time)
        yield _explicit(forest, root, multiplicity, parent)
        # Only a short block, perhaps an empty one, shows that the core found nothing left over.
        if len(root) < at_a_time:
            return


class _Refusal:
    """Converts the native core's error about mismatched numbers to a VerificationError."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, _MISMATCHES):
            raise VerificationError(f"not to be expanded: {error}") from None


def _expansion(forest: FactoredForest) -> _core.Expansion:
    sets, shapes = forest.sets, written_out(forest.shapes)
    links = reversed_links(forest.links) if forest.reduction else forest.links  # parent to child
    k = forest.k if forest.topology.num_compute > 1 else 0  # a single GPU needs no tree
    return _core.Expansion(
        k * np.array(forest.weights, dtype=np.int64),
        _of_type(np.int32, links.tail),
        _of_type(np.int32, links.head),
        _of_type(np.int64, links.load),
        _of_type(np.int32, sets.set_of),
        _of_type(np.int32, sets.parent),
        _of_type(np.int32, sets.shape),
        _of_type(np.int32, shapes.items),
        _of_type(np.int64, shapes.batches),
        _of_type(np.int32, shapes.root),
        _of_type(np.int64, shapes.multiplicity),
        _of_type(np.int32, shapes.parent),
    )


def _of_type(kind: type[T], array: npt.NDArray[T]) -> npt.NDArray[T]:
    """Return an array in the core's type, unless the conversion could truncate numbers."""
    if array.dtype != kind:
        raise ValueError(f"an array of {array.dtype} should hold {np.dtype(kind).name}")
    return np.ascontiguousarray(array)
