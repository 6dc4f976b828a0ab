"""Proof that a factored forest represents an explicit one, without its expansion.

Part of :func:`forestcoll.schedule.verify`. W k trees are asked for, k w(r) rooted at every rank r.
In a set X, let c and d be items; a link belongs to the smallest set that holds both of its ends.
Then

1. every batch of X's packing is an out-tree that spans the items of X from its root (if batches
   stand for their rotations, it is enough to look at those given);
2. the trees of the packing rooted at c number k times the weight of the GPUs in c plus the loads
   of the links that enter c from outside X;
3. the trees of the packing that use an edge (c, d) number the loads of the links of X from c to d.

These suffice, however trees are put together, and they are necessary; so the equalities are strict,
and factored and expanded form get the same verdict: docs/mathematics/factored-forests.md.

In a reduction, data and links run from child to parent. All of the above then holds for in-trees
with every link reversed: trees end where they started, and leave where they entered.

Shares no code with the expansion.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from forestcoll.schedule.exact_sums import exact, first
from forestcoll.schedule.factored import FactoredForest
from forestcoll.schedule.verification.arrays import check_array, check_link_order, check_ranks
from forestcoll.schedule.verification.naming import fail, walk
from forestcoll.schedule.verification.trees.rotated_packing import check_radices, radices_of
from forestcoll.schedule.verification.trees.set_edges import (
    Edges,
    check_equal_sets,
    check_uses,
    contracted,
)
from forestcoll.schedule.verification.trees.set_family import Family, item_name, set_name
from forestcoll.schedule.verification.trees.spanning import check_spanning
from forestcoll.schedule.verification.trees.sums import check_summing

__all__ = ["check_factored_arrays", "check_sets", "loads_over_routes"]


def check_factored_arrays(forest: FactoredForest) -> None:
    """Check that arrays match, ids are in range, and every set comes before its parent."""
    sets, shapes, links = forest.sets, forest.shapes, forest.links
    ranks, num_sets, num_shapes = forest.topology.num_compute, len(sets), len(shapes)
    check_ranks(forest)
    check_array("sets.parent", sets.parent, (num_sets,), -1, num_sets - 1)
    check_array("sets.set_of", sets.set_of, (ranks,), 0, num_sets - 1)
    check_array("sets.shape", sets.shape, (num_sets,), 0, num_shapes - 1)
    inner = sets.parent[:-1]
    if not num_sets or sets.parent[-1] != -1 or (inner <= np.arange(num_sets - 1)).any():
        fail("array sets.parent must give every set a later one, and -1 to the last alone")
    check_array("shapes.items", shapes.items, (num_shapes,), 1, ranks)
    batches = int(np.size(shapes.root))
    check_array("shapes.batches", shapes.batches, (num_shapes,), 0, batches)
    rows = list(zip(shapes.items.tolist(), shapes.batches.tolist(), strict=True))
    check_array("shapes.root", shapes.root, (sum(count for _, count in rows),), 0, ranks - 1)
    check_array("shapes.multiplicity", shapes.multiplicity, (batches,))
    entries = sum(items * count for items, count in rows)
    check_array("shapes.parent", shapes.parent, (entries,), -1, ranks - 1)
    check_radices(shapes)
    check_array("links.head", links.head, (len(links),), 0, ranks - 1)
    check_array("links.tail", links.tail, (len(links),), 0, ranks - 1)
    check_array("links.load", links.load, (len(links),))
    for name, array, kind in (
        *((f"sets.{key}", value, np.int32) for key, value in vars(sets).items()),
        *((f"shapes.{key}", getattr(shapes, key), np.int32) for key in ("items", "root", "parent")),
        *(("links.tail", links.tail, np.int32), ("links.head", links.head, np.int32)),
        *(("links.load", links.load, np.int64), ("shapes.batches", shapes.batches, np.int64)),
        ("shapes.multiplicity", shapes.multiplicity, np.int64),
    ):
        if array.dtype != kind:
            fail(f"array {name} holds {array.dtype}; it must hold {np.dtype(kind).name}")
    check_link_order(forest, links.tail, links.head)


def check_sets(forest: FactoredForest) -> int:
    """Check the packing of every set and its numbers; return a bound on the depth of trees."""
    family, by_shape = Family.of(forest), _by_shape(forest)
    tree_depths = _check_shapes(forest, family, by_shape)
    edges = contracted(forest, family)
    _check_roots(forest, family, edges, by_shape)
    radices = radices_of(forest.shapes)
    for numbers, (batches, parent), own in zip(by_shape, _rows(forest), radices, strict=True):
        check_uses(forest, family, edges, int(numbers[0]), batches, parent, own)
        check_equal_sets(forest, family, edges, numbers)
    return _greatest_height(forest, tree_depths)


def loads_over_routes(forest: FactoredForest) -> npt.NDArray[Any]:
    """Return the load of each link that has physical paths; every link in use must have some."""
    routes, links, ranks = forest.routes, forest.links, forest.topology.num_compute
    if np.array_equal(links.tail, routes.tail) and np.array_equal(links.head, routes.head):
        return links.load
    routed = routes.tail.astype(np.int64) * ranks + routes.head
    place = np.searchsorted(routed, wanted := links.tail.astype(np.int64) * ranks + links.head)
    if (link := first(np.append(routed, -1)[place] != wanted)) is not None:
        ends = (int(links.tail[link]), int(links.head[link]))
        fail(f"logical link {walk(forest, ends)} carries trees, but has no physical path")
    needed = np.zeros(len(routed), dtype=np.int64)
    needed[place] = links.load
    return needed


# --- shapes ------------------------------------------------------------------------------------


def _rows(forest: FactoredForest) -> Iterator[tuple[slice, npt.NDArray[np.int32]]]:
    """Yield the batches of each shape, as a slice and as rows of parents."""
    shapes, batch, entry = forest.shapes, 0, 0
    for items, count in zip(shapes.items.tolist(), shapes.batches.tolist(), strict=True):
        parent = shapes.parent[entry : entry + count * items].reshape(count, items)
        yield slice(batch, batch + count), parent
        batch, entry = batch + count, entry + count * items


def _by_shape(forest: FactoredForest) -> list[npt.NDArray[np.int64]]:
    """Return the sets of each shape, in order."""
    shapes = forest.sets.shape
    many = np.bincount(shapes, minlength=len(forest.shapes))
    if (unused := first(many == 0)) is not None:
        fail(f"shape {unused} is that of no set; leave it out")
    return np.split(np.argsort(shapes, kind="stable"), np.cumsum(many)[:-1])


def _check_shapes(
    forest: FactoredForest, family: Family, by_shape: list[npt.NDArray[np.int64]]
) -> list[int]:
    """Check that every batch spans the items of its shape; return the depth of each shape."""
    items = np.diff(family.first)
    due = forest.shapes.items[forest.sets.shape]
    if (number := first(items != due)) is not None:
        fail(
            f"{set_name(forest, family, number)} has {items[number]} items, but shape "
            f"{forest.sets.shape[number]} is of {due[number]}"
        )
    tree_depths = []
    for numbers, (batches, parent) in zip(by_shape, _rows(forest), strict=True):
        number = int(numbers[0])
        name, base = set_name(forest, family, number), int(family.first[number])

        def tree(batch: int, name: str = name) -> str:
            return f"batch {batch} of {name}"

        def node(item: int, base: int = base) -> str:
            return item_name(forest, family, base + item)

        root, multiplicity = forest.shapes.root[batches], forest.shapes.multiplicity[batches]
        for what, ids in (("root", root), ("parent", parent)):
            if ids.size and int(ids.max()) >= parent.shape[1]:
                fail(f"{name} has {parent.shape[1]} items, but a batch names a {what} {ids.max()}")
        if (batch := first(multiplicity < 1)) is not None:
            fail(f"{tree(batch)}: multiplicity is {multiplicity[batch]}; it must be positive")
        check = check_summing if forest.reduction else check_spanning
        tree_depths.append(check(parent, root, tree=tree, node=node))
    return tree_depths


def _greatest_height(forest: FactoredForest, tree_depths: list[int]) -> int:
    """Bound the depth of all trees: in a set, every hop may lead through a child of its own."""
    sets = forest.sets
    inside = [0] * len(sets)  # the greatest depth of a child of each set
    depth = 0
    pairs = zip(sets.shape.tolist(), sets.parent.tolist(), strict=True)
    for number, (shape, around) in enumerate(pairs):
        # A path of d hops visits d + 1 items, each with as many hops inside.
        depth = tree_depths[shape] * (1 + inside[number]) + inside[number]
        inside[around] = max(inside[around], depth)
    return depth


# --- numbers -----------------------------------------------------------------------------------


def _check_roots(
    forest: FactoredForest,
    family: Family,
    edges: Edges,
    by_shape: list[npt.NDArray[np.int64]],
) -> None:
    """Check that each item roots as many trees as start in it or enter it from outside the set."""
    radices = radices_of(forest.shapes)
    for numbers, (batches, parent), own in zip(by_shape, _rows(forest), radices, strict=True):
        items = parent.shape[1]
        amounts = exact(forest.shapes.multiplicity[batches], items)
        packed = np.zeros(items, dtype=amounts.dtype)
        if own:  # of the rotations of a tree, every item roots one
            packed += amounts.sum()
        else:
            np.add.at(packed, forest.shapes.root[batches], amounts)
        places = family.first[numbers, None] + np.arange(items)
        due = family.due[places] + edges.entering[places]
        if (at := first(packed != due)) is not None:
            number, item, packs = (
                int(numbers[at // items]),
                int(places.flat[at]),
                packed[at % items],
            )
            words = (
                ("into", "end", "go out to the")
                if forest.reduction
                else (("from", "start", "come in from"))
            )
            fail(
                f"{set_name(forest, family, number)}: {packs} trees are packed {words[0]} "
                f"{item_name(forest, family, item)}, but {family.due[item]} {words[1]} there and "
                f"{edges.entering[item]} {words[2]} outside"
            )
