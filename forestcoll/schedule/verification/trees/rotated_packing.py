"""Digits of items, and the edges of trees that stand for their rotations.

Part of :func:`forestcoll.schedule.verify`. A rotation adds the digits of one item to those of every
item, each modulo its radix. So it permutes the items: the image of a spanning tree spans. The
images of an edge from item p to item v are the edges from x - (v - p) to x, once for every item x.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from forestcoll.schedule.exact_sums import Ints
from forestcoll.schedule.factored import Shapes
from forestcoll.schedule.verification.arrays import check_array
from forestcoll.schedule.verification.naming import fail

__all__ = ["check_radices", "difference", "radices_of"]

_MOST_DIGITS = 31  # of radices of 2 or more, whose product is an item number in 32 bits


def check_radices(shapes: Shapes) -> None:
    """Check that the radices of every rotated shape multiply to its items."""
    rotated = len(shapes.digits) > 0
    check_array("shapes.digits", shapes.digits, (len(shapes) * rotated,), 0, _MOST_DIGITS)
    for name in ("digits", "radices"):
        if (kind := getattr(shapes, name).dtype) != np.int32:
            fail(f"array shapes.{name} holds {kind}; it must hold int32")
    most = int(shapes.items.max(initial=2))
    check_array("shapes.radices", shapes.radices, (int(shapes.digits.sum()),), 2, most)
    for shape, radices in enumerate(radices_of(shapes)):
        if radices and (product := math.prod(radices)) != shapes.items[shape]:
            fail(
                f"the radices of shape {shape} multiply to {product}; they must multiply to its "
                f"{shapes.items[shape]} items"
            )


def radices_of(shapes: Shapes) -> list[list[int]]:
    """Return the radices of each shape; none where all trees are given."""
    if not len(shapes.digits):
        return [[] for _ in range(len(shapes))]
    ends = np.cumsum(shapes.digits)[:-1]
    return [part.tolist() for part in np.split(shapes.radices, ends)]


def difference(one: Ints, other: Ints, radices: list[int]) -> npt.NDArray[np.int64]:
    """Subtract the digits of items, each modulo its radix; arrays are broadcast."""
    left, right = np.asarray(one, dtype=np.int64), np.asarray(other, dtype=np.int64)
    found: npt.NDArray[np.int64] = np.zeros(np.broadcast_shapes(left.shape, right.shape), np.int64)
    unit = 1
    for radix in reversed(radices):
        found += (left % radix - right % radix) % radix * unit
        left, right, unit = left // radix, right // radix, unit * radix
    return found
