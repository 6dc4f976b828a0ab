"""Spanning out-trees rooted at every GPU of a network without switches.

Problem: trees[v] out-trees rooted at each v, all spanning, no link in more trees than it carries.
Input:   logical links with capacities, the trees rooted at each GPU.
Output:  batches of equal trees: root, multiplicity, parent of every GPU.
Cost:    linear in links x roots where breadth-first or repaired shortest-path trees fit; else
         some rounds of regrowth, and about one small max-flow repair per edge of the trees left.
Source:  ForestColl section 5.4, Theorems 7 to 10; one partial tree at a time stands for
         Algorithm 4's many (see docs/architecture.md).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from forestcoll.edge_splitting import LogicalTopology
from forestcoll.native import _core

__all__ = ["Batches", "pack_trees"]


@dataclass(frozen=True, slots=True)
class Batches:
    """Packed trees: ``multiplicity[i]`` equal trees rooted at rank ``root[i]``.

    ``parent[i]`` gives the parent's rank of every rank, -1 at the root; shape (B, N), int32.
    ``load`` counts the trees on each logical link.
    """

    root: npt.NDArray[np.int32]
    multiplicity: npt.NDArray[np.int64]
    parent: npt.NDArray[np.int32]
    load: npt.NDArray[np.int64]


def pack_trees(
    logical: LogicalTopology,
    trees: npt.NDArray[np.int64],
    *,
    progress: Callable[[int, int], None] | None = None,
) -> Batches:
    """Pack spanning out-trees.

    Parameters
    ----------
    logical : LogicalTopology
    trees : int64 array, one entry a GPU
        Trees rooted at each rank.
    progress : callable, optional
        Told (trees built, trees in all) now and then; may raise to stop.

    Raises
    ------
    InfeasibleError
        If some set of GPUs receives less than the trees rooted outside it (Theorem 7).
    """
    root, multiplicity, parent, load = _core.pack_trees(
        len(trees),
        logical.tail,
        logical.head,
        logical.capacity,
        trees,
        logical.sets.set_of,
        logical.sets.parent,
        progress,
    )
    return Batches(root, multiplicity, parent, load)
