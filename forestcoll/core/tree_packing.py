"""Tree packing: spanning out-trees rooted at every GPU of a network without switches.

Problem: trees[v] out-trees rooted at each v, all spanning, no link in more trees than it carries.
Input:   logical links with capacities, their tight sets, the trees rooted at each GPU.
Output:  the packing of every distinct tight set, and the load of every link: a factored forest.
Cost:    linear in links x roots of each distinct set where breadth-first or repaired shortest-path
         trees fit; else some rounds of regrowth, and about one small max-flow repair per edge of
         the trees left.
Source:  ForestColl section 5.4, Theorems 7 to 10. Grows one partial tree at a time, where
         Algorithm 4 grows many (see docs/mathematics/tree-packing.md).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from forestcoll.core.edge_splitting import LogicalTopology
from forestcoll.native import _core
from forestcoll.schedule.factored import Links, Sets, Shapes

__all__ = ["Packing", "pack_trees"]

_ROTATED_FROM = 512  # items: the parents of so many trees fill a megabyte
_NEVER = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Packing:
    """The trees of every tight set; see :mod:`forestcoll.schedule.factored`."""

    sets: Sets
    shapes: Shapes
    links: Links


def pack_trees(
    logical: LogicalTopology,
    trees: npt.NDArray[np.int64],
    *,
    factored: bool = False,
    thorough: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Packing:
    """Pack spanning out-trees, set by set.

    Raises InfeasibleError if some set of GPUs receives less than the trees rooted outside it
    (Theorem 7).

    Parameters
    ----------
    trees : int64 array, one entry a GPU
        Trees rooted at each rank.
    factored : bool
        Whether the trees of large sets may be kept as the rotations of a few.
    thorough : bool
        Whether to spend seconds, not a tenth of one, to reduce the depth of the trees.
    progress : callable, optional
        Called with (sets packed, sets in all) now and then; may raise to stop.
    """
    packed = _core.pack_sets(
        logical.tail,
        logical.head,
        logical.capacity,
        trees,
        logical.sets.set_of,
        logical.sets.parent,
        thorough,
        _ROTATED_FROM if factored else _NEVER,
        progress,
    )
    ends, load, shape, items, batches, root, multiplicity, parent, digits, radices = packed
    shapes = Shapes(items, batches, root, multiplicity, parent)
    if digits.any():
        shapes = replace(shapes, digits=digits, radices=radices)
    # Shapes are those of distinct sets only: the packing of a set depends on its contracted
    # capacities and on the trees that start in each item or enter it.
    return Packing(
        Sets(logical.sets.set_of, logical.sets.parent, shape),
        shapes,
        Links(*(ends or (logical.tail, logical.head)), load),
    )
