"""Factored forests: the trees of every tight set by itself, and the links between the sets.

A factored forest has a family of nested sets of GPUs. The items of a set are the GPUs that it holds
directly and its child sets, by smallest rank. Every set has a packing of out-trees that span its
items; equal sets share one, their *shape*. A logical link belongs to the smallest set that holds
both of its ends, where it joins two items. A tree of the whole forest takes, in the set of all
GPUs and then in every set that it enters, one tree of the set's packing rooted at the item where
it starts or comes in, and one unit of a link's load for every edge of that tree.

Loads of links, congestion and time are exact without expansion, and
:func:`forestcoll.schedule.verify` proves a factored forest as it is.
:mod:`forestcoll.core.assembly` decides which trees result.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from forestcoll.problem.optimum import Optimum
from forestcoll.schedule.equality import ByValue
from forestcoll.schedule.forest import Routes
from forestcoll.schedule.tree_flow import TreeFlow
from forestcoll.topology.model import Topology

__all__ = ["FactoredForest", "Links", "Sets", "Shapes"]


@dataclass(frozen=True, eq=False)
class Sets(ByValue):
    """A family of nested sets of ranks, inner sets first.

    Parameters
    ----------
    set_of : int32 array, one entry a rank
        The smallest set around each rank.
    parent : int32 array, one entry a set
        The smallest set around each set; -1 for the last one, which holds every rank.
    shape : int32 array, one entry a set
        The packing of each set.
    """

    set_of: npt.NDArray[np.int32]
    parent: npt.NDArray[np.int32]
    shape: npt.NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.parent)


@dataclass(frozen=True, eq=False)
class Shapes(ByValue):
    """Packings of out-trees that span the items of a set.

    Parameters
    ----------
    items, batches : int32 and int64 arrays, one entry a shape
        Number of items, and of batches of equal trees.
    root, multiplicity : int32 and int64 arrays, one entry a batch
        The item at which the trees are rooted, and their number; shape after shape.
    parent : int32 array
        The parent of each item in each batch, -1 at the root: a row of ``items`` entries a batch.
    digits : int32 array, one entry a shape, or none
        Digits of an item in the mixed radix of the shape; 0 if all of its batches are given. No
        entry: 0 everywhere.
    radices : int32 array
        The radices of all digits, shape after shape; the last digit of a shape runs fastest. A
        batch of a shape with digits stands for its rotations: for every item, the batch with the
        digits of that item added to those of every other, each modulo its radix.
    """

    items: npt.NDArray[np.int32]
    batches: npt.NDArray[np.int64]
    root: npt.NDArray[np.int32]
    multiplicity: npt.NDArray[np.int64]
    parent: npt.NDArray[np.int32]
    digits: npt.NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, dtype=np.int32))
    radices: npt.NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, dtype=np.int32))

    def __len__(self) -> int:
        return len(self.items)

    @property
    def is_rotated(self) -> bool:
        """Whether batches of some shape stand for their rotations."""
        return bool(self.digits.any())

    @property
    def images(self) -> npt.NDArray[np.int64]:
        """The batches for which each given one stands: an entry a shape, 1 without digits."""
        items = self.items.astype(np.int64)
        return np.where(self.digits > 0, items, 1) if len(self.digits) else np.ones_like(items)


@dataclass(frozen=True, eq=False)
class Links(ByValue):
    """Logical links in use: ``load[i]`` trees run from rank ``tail[i]`` to ``head[i]``.

    int32, int32 and int64 arrays, sorted by (tail, head), each link once. They run as the data
    does: in a reduction from child to parent.
    """

    tail: npt.NDArray[np.int32]
    head: npt.NDArray[np.int32]
    load: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.tail)


@dataclass(frozen=True, eq=False, repr=False)
class FactoredForest(TreeFlow):
    """The trees of a :class:`forestcoll.schedule.Forest` in factored form.

    Parameters
    ----------
    method : str
        The name of the method that made it.
    k : int
        Trees per unit of weight, counted with multiplicity.
    congestion : Fraction
        U, in trees per GB/s, as in :class:`forestcoll.schedule.Forest`.
    routes : Routes
        The physical paths of the links.
    optimum : Optimum, optional
        The bound this forest attains, with the cut that proves it; None when nothing is claimed.
    weights : tuple of int
        For each rank, from 0 up, without a common divisor: rank r roots k w(r) trees. All 1 if not
        given.
    reduction : bool
        Whether the trees sum up what they carry on the way to their roots.
    """

    topology: Topology = field(hash=False)
    method: str
    k: int
    congestion: Fraction
    sets: Sets = field(repr=False)
    shapes: Shapes = field(repr=False)
    links: Links = field(repr=False)
    routes: Routes = field(repr=False, hash=False)
    optimum: Optimum | None = field(default=None, repr=False, hash=False)
    weights: tuple[int, ...] = field(default=(), repr=False)
    reduction: bool = False

    @property
    def num_trees(self) -> int:
        """Number of trees counted with multiplicity, W k in a complete forest.

        Every tree passes the set of all GPUs once, so that set's packing has as many trees.
        """
        batches = self.shapes.batches
        last = np.repeat(np.arange(len(batches)), batches) == self.sets.shape[-1]
        return int(self.shapes.multiplicity[last].sum() * self.shapes.images[self.sets.shape[-1]])
