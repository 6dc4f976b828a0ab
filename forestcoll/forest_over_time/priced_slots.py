"""Trees of low price whose hops each have a time slot.

Problem: given the price of every hop in every slot, a spanning tree with a slot for each hop, of
         small total price. A GPU sends on what it got g slots later or later: data wait there.
Input:   prices, a root, g, perhaps a tree to begin with.
Output:  the parent of each GPU and the slot of the hop to it.
Cost:    for a tree: N searches through slots and hops, then some sweeps over GPUs.
Source:  ours. A tree is grown by the cheapest path to another GPU, as for Steiner trees. A sweep
         makes moves of facility location: a GPU moves together with all that then save behind it,
         or gives all behind it away, so that its own hop may come late. Then the best slots of all
         hops for these parents are chosen, exactly.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from forestcoll.forest_over_time.priced_hops import Floats, Ints
from forestcoll.native import _core

__all__ = ["best_slots", "cheaper_slots", "grown_tree"]

SlotsFound = tuple[float, Ints, Ints] | None
"""The price; the parent of each GPU and the slot of the hop to it, both -1 at the root. None if K
slots do not suffice."""


def grown_tree(prices: Floats, root: int, gap: int) -> SlotsFound:
    """Grow a tree from its root, by one cheapest path after the other.

    Parameters
    ----------
    prices : float array of shape (K, N, N)
        Of the hop from one GPU to another in a slot; infinite where there is none.
    gap : int
        The slots that a hop takes.
    """
    return _wide(_core.grown_tree(_native(prices), root, gap))


def best_slots(prices: Floats, parent: Ints, gap: int) -> SlotsFound:
    """Choose the slots of least price for the hops of a tree, exactly.

    Parameters
    ----------
    parent : int array
        The parent of each GPU, -1 at the root.
    """
    return _wide(_core.best_slots(_native(prices), parent.astype(np.int32), gap))


def cheaper_slots(prices: Floats, parent: Ints, gap: int) -> SlotsFound:
    """Improve a tree by moves of GPUs, with or without those behind, and by the best slots."""
    return _wide(_core.cheaper_slots(_native(prices), parent.astype(np.int32), gap))


def _native(prices: Floats) -> Floats:
    return np.ascontiguousarray(prices, dtype=np.float64)


def _wide(
    found: tuple[float, npt.NDArray[np.int32], npt.NDArray[np.int32]] | None,
) -> SlotsFound:
    if found is None:
        return None
    price, parent, slot = found
    return price, parent.astype(np.int64), slot.astype(np.int64)
