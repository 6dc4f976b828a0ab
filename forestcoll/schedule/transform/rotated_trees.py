"""Rotations of the trees of factored forests, written out.

Problem: a shape may list a few trees that stand for their rotations to every item.
Input:   the shapes of a factored forest.
Output:  the same shapes with every tree given.
Cost:    linear in the trees written out: the items squared for each tree listed.
Source:  docs/mathematics/factored-forests.md.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from forestcoll.schedule.factored import Shapes

__all__ = ["written_out"]


def written_out(shapes: Shapes) -> Shapes:
    """Return shapes that give all of their trees, root by root; the same ones if they do so now.

    Raises ValueError if the radices of a shape do not multiply to its items, or the arrays of the
    shapes do not fit together.
    """
    if not len(shapes.digits) and not len(shapes.radices):
        return shapes
    for name, array in vars(shapes).items():
        kind = np.int64 if name in ("batches", "multiplicity") else np.int32
        if array.dtype != kind:
            raise ValueError(f"{name} of {array.dtype} should be {np.dtype(kind).name}")
    if (shapes.radices < 2).any():
        raise ValueError("a radix is less than 2")
    parents, roots, multiplicities = [], [], []
    batch = entry = digit = 0
    numbers = (shapes.items, shapes.batches, shapes.digits)
    for items, many, digits in zip(*(array.tolist() for array in numbers), strict=True):
        parent = shapes.parent[entry : entry + many * items].reshape(many, items)
        root = shapes.root[batch : batch + many]
        multiplicity = shapes.multiplicity[batch : batch + many]
        # A shape without trees may claim any number of items, for which nothing is allocated.
        if digits and many:
            radices = shapes.radices[digit : digit + digits].tolist()
            parent, root = _rotated(parent, root, radices)
            multiplicity = np.tile(multiplicity, items)
        parents.append(parent.reshape(-1))
        roots.append(root)
        multiplicities.append(multiplicity)
        batch, entry, digit = batch + many, entry + many * items, digit + digits
    if (batch, entry, digit) != (len(shapes.root), len(shapes.parent), len(shapes.radices)):
        raise ValueError("more batches or radices are given than the shapes have")
    return Shapes(
        items=shapes.items,
        batches=shapes.batches * shapes.images,
        root=np.concatenate(roots),
        multiplicity=np.concatenate(multiplicities),
        parent=np.concatenate(parents) if len(parents) > 1 else parents[0],
    )


def _rotated(
    parent: npt.NDArray[np.int32], root: npt.NDArray[np.int32], radices: list[int]
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Return the parents and the roots of all images of some trees, those by item 0 first."""
    many, items = parent.shape
    grid = np.arange(items, dtype=np.int32).reshape(radices)
    axes = tuple(range(len(radices)))
    at_root = parent < 0
    images = np.empty((items, many, items), dtype=np.int32)
    roots = np.empty((items, many), dtype=np.int32)
    for by in range(items):
        # Entry v is v plus the digits of `by`, each modulo its radix.
        moved = np.roll(grid, tuple(-d for d in np.unravel_index(by, radices)), axes).reshape(-1)
        images[by][:, moved] = np.where(at_root, -1, moved[parent])
        roots[by] = moved[root]
    return images, roots.reshape(-1)
