"""Proof that a factored forest represents an explicit one, without its expansion.

Part of :func:`forestcoll.schedule.verify`. W k trees are asked for, k w(r) rooted at every rank r.
In a set X, let c and d be items; a link belongs to the smallest set that holds both of its ends.
Then

1. every batch of X's packing is an out-tree that spans the items of X from its root;
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
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from forestcoll.schedule.exact_sums import exact, first
from forestcoll.schedule.factored import FactoredForest
from forestcoll.schedule.verification.arrays import check_array, check_link_order, check_ranks
from forestcoll.schedule.verification.naming import fail, gpu_name, walk
from forestcoll.schedule.verification.trees.spanning import check_spanning
from forestcoll.schedule.verification.trees.sums import check_summing
from forestcoll.topology.describe import counted

__all__ = ["check_factored_arrays", "check_sets", "loads_over_routes"]

_BLOCK_ENTRIES = 2**20  # parents whose edges are looked up together


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
    family = _Family.of(forest)
    tree_depths = _check_shapes(forest, family)
    edges = _contracted(forest, family)
    _check_roots(forest, family, edges)
    _check_edges(forest, family, edges)
    return _greatest_height(forest, tree_depths)


def loads_over_routes(forest: FactoredForest) -> npt.NDArray[Any]:
    """Return the load of each link that has physical paths; every link in use must have some."""
    routes, links, ranks = forest.routes, forest.links, forest.topology.num_compute
    routed = routes.tail.astype(np.int64) * ranks + routes.head
    place = np.searchsorted(routed, wanted := links.tail.astype(np.int64) * ranks + links.head)
    if (link := first(np.append(routed, -1)[place] != wanted)) is not None:
        ends = (int(links.tail[link]), int(links.head[link]))
        fail(f"logical link {walk(forest, ends)} carries trees, but has no physical path")
    needed = np.zeros(len(routed), dtype=np.int64)
    needed[place] = links.load
    return needed


# --- the family --------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Family:
    """The items of all sets, set after set: those of set s are first[s] to first[s + 1].

    ``child`` is the set that an item stands for, or -1 for a GPU; ``rank`` the smallest rank in
    it, ``size`` the number of its GPUs, ``due`` of the trees they root. ``of_rank`` and ``of_set``
    give the item that a rank or a set is in the smallest set around it.
    """

    first: npt.NDArray[np.int64]
    child: npt.NDArray[np.int64]
    rank: npt.NDArray[np.int64]
    size: npt.NDArray[np.int64]
    due: npt.NDArray[Any]
    of_rank: npt.NDArray[np.int64]
    of_set: npt.NDArray[np.int64]

    @classmethod
    def of(cls, forest: FactoredForest) -> _Family:
        sets, ranks = forest.sets, forest.topology.num_compute
        count = len(sets)
        size = np.bincount(sets.set_of, minlength=count)
        rooted = [forest.k * weight for weight in forest.weights]
        due = np.zeros(count, dtype=np.int64 if sum(rooted) < 2**63 else object)
        np.add.at(due, sets.set_of, np.array(rooted, dtype=due.dtype))
        least = np.full(count, ranks, dtype=np.int64)
        np.minimum.at(least, sets.set_of, np.arange(ranks))
        # Inner sets come first, so the sums of a set are complete before they are added.
        for inner, around in enumerate(sets.parent[:-1].tolist()):
            size[around] += size[inner]
            due[around] += due[inner]
            least[around] = min(least[around], least[inner])
        if (empty := first(size == 0)) is not None:
            fail(f"set {empty} holds no GPU; leave it out")
        around = np.concatenate([sets.set_of, sets.parent[:-1]])
        child = np.concatenate([np.full(ranks, -1), np.arange(count - 1)])
        rank = np.concatenate([np.arange(ranks), least[:-1]])
        order = np.lexsort((rank, around))
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        return cls(
            first=np.searchsorted(around[order], np.arange(count + 1)),
            child=child[order],
            rank=rank[order],
            size=np.concatenate([np.ones(ranks, dtype=np.int64), size[:-1]])[order],
            due=np.concatenate([np.array(rooted, dtype=due.dtype), due[:-1]])[order],
            of_rank=place[:ranks],
            of_set=place[ranks:],
        )


def _set_name(forest: FactoredForest, family: _Family, number: int) -> str:
    """Name a set by its first GPU and its size: "set 3 (8 GPUs from box3/gpu0 on)"."""
    items = slice(family.first[number], family.first[number + 1])
    gpus = counted(int(family.size[items].sum()), "GPU")
    return f"set {number} ({gpus} from {gpu_name(forest, int(family.rank[items].min()))} on)"


def _item_name(forest: FactoredForest, family: _Family, item: int) -> str:
    if family.child[item] < 0:
        return gpu_name(forest, int(family.rank[item]))
    return _set_name(forest, family, int(family.child[item]))


# --- shapes ------------------------------------------------------------------------------------


def _rows(forest: FactoredForest) -> Iterator[tuple[slice, npt.NDArray[np.int32]]]:
    """Yield the batches of each shape, as a slice and as rows of parents."""
    shapes, batch, entry = forest.shapes, 0, 0
    for items, count in zip(shapes.items.tolist(), shapes.batches.tolist(), strict=True):
        parent = shapes.parent[entry : entry + count * items].reshape(count, items)
        yield slice(batch, batch + count), parent
        batch, entry = batch + count, entry + count * items


def _first_sets(forest: FactoredForest) -> npt.NDArray[np.int64]:
    """Return the first set of each shape."""
    used, at = np.unique(forest.sets.shape, return_index=True)
    if len(used) < len(forest.shapes):
        unused = int(np.setdiff1d(np.arange(len(forest.shapes)), used)[0])
        fail(f"shape {unused} is that of no set; leave it out")
    return at


def _check_shapes(forest: FactoredForest, family: _Family) -> list[int]:
    """Check that every batch spans the items of its shape; return the depth of each shape."""
    items = np.diff(family.first)
    due = forest.shapes.items[forest.sets.shape]
    if (number := first(items != due)) is not None:
        fail(
            f"{_set_name(forest, family, number)} has {items[number]} items, but shape "
            f"{forest.sets.shape[number]} is of {due[number]}"
        )
    tree_depths = []
    first_sets = _first_sets(forest)
    for shape, (batches, parent) in enumerate(_rows(forest)):
        number = int(first_sets[shape])
        name, base = _set_name(forest, family, number), int(family.first[number])

        def tree(batch: int, name: str = name) -> str:
            return f"batch {batch} of {name}"

        def node(item: int, base: int = base) -> str:
            return _item_name(forest, family, base + item)

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


@dataclass(frozen=True)
class _Edges:
    """Edges between items, sorted by (tail, head), with the loads of the links behind each.

    They run from parent to child. Those of set s are first[s] to first[s + 1]. ``entering`` counts
    the trees that enter each item from outside its set (in a reduction: leave it).
    """

    tail: npt.NDArray[np.int64]
    head: npt.NDArray[np.int64]
    load: npt.NDArray[Any]
    first: npt.NDArray[np.int64]
    entering: npt.NDArray[Any]


def _contracted(forest: FactoredForest, family: _Family) -> _Edges:
    """Climb from both ends of every link to the smallest set around both."""
    links, sets = forest.links, forest.sets
    if (link := first(links.load < 1)) is not None:
        ends = (int(links.tail[link]), int(links.head[link]))
        found = links.load[link]
        fail(f"logical link {walk(forest, ends)} carries {found} trees; it must carry some")
    if (link := first(links.tail == links.head)) is not None:
        fail(f"a logical link leads from {gpu_name(forest, int(links.tail[link]))} to itself")
    load = exact(links.load, len(links))
    entering = np.zeros(len(family.child), dtype=load.dtype)
    above, below = (links.head, links.tail) if forest.reduction else (links.tail, links.head)
    tail, head = family.of_rank[above], family.of_rank[below]
    tail_set, head_set = sets.set_of[above], sets.set_of[below]
    apart = np.flatnonzero(tail_set != head_set)
    while apart.size:
        # Inner sets have smaller numbers, so the end in the smaller one is not yet at the top.
        rising = apart[tail_set[apart] < head_set[apart]]
        tail[rising] = family.of_set[tail_set[rising]]
        entered = apart[tail_set[apart] > head_set[apart]]
        np.add.at(entering, head[entered], load[entered])
        head[entered] = family.of_set[head_set[entered]]
        tail_set[rising] = sets.parent[tail_set[rising]]
        head_set[entered] = sets.parent[head_set[entered]]
        apart = apart[tail_set[apart] != head_set[apart]]
    order = np.lexsort((head, tail))
    tail, head = tail[order], head[order]
    new = np.append(True, (np.diff(tail) != 0) | (np.diff(head) != 0))[: len(tail)]
    sums = np.zeros(int(new.sum()), dtype=load.dtype)
    np.add.at(sums, np.cumsum(new) - 1, load[order])
    tail, head = tail[new], head[new]
    return _Edges(tail, head, sums, np.searchsorted(tail, family.first), entering)


def _check_roots(forest: FactoredForest, family: _Family, edges: _Edges) -> None:
    """Check that each item roots as many trees as start in it or enter it from outside the set."""
    shapes = forest.shapes
    packed = []
    for batches, parent in _rows(forest):
        amounts = exact(shapes.multiplicity[batches], parent.shape[0])
        rooted = np.zeros(parent.shape[1], dtype=amounts.dtype)
        np.add.at(rooted, shapes.root[batches], amounts)
        packed.append(rooted)
    for number, shape in enumerate(forest.sets.shape.tolist()):
        items = slice(family.first[number], family.first[number + 1])
        due = family.due[items] + edges.entering[items]
        if (at := first(packed[shape] != due)) is not None:
            item = int(family.first[number]) + at
            words = (
                ("into", "end", "go out to the")
                if forest.reduction
                else (("from", "start", "come in from"))
            )
            fail(
                f"{_set_name(forest, family, number)}: {packed[shape][at]} trees are packed "
                f"{words[0]} {_item_name(forest, family, item)}, but {family.due[item]} {words[1]} "
                f"there and {edges.entering[item]} {words[2]} outside"
            )


def _check_edges(forest: FactoredForest, family: _Family, edges: _Edges) -> None:
    """Check that the trees over each edge match the loads of its links."""
    first_sets = _first_sets(forest)
    uses = []
    for shape, (batches, parent) in enumerate(_rows(forest)):
        uses.append(_uses(forest, family, edges, int(first_sets[shape]), batches, parent))
    for number, shape in enumerate(forest.sets.shape.tolist()):
        # The trees of a shape are counted on the edges of its first set.
        known = int(first_sets[shape])
        mine, others = _of_set(family, edges, number), _of_set(family, edges, known)
        if not np.array_equal(mine[0], others[0]):
            one = int(np.setxor1d(mine[0], others[0])[0])
            lacking = number if one in others[0] else known
            ends = divmod(one, int(family.first[number + 1] - family.first[number]))
            sender, receiver = _as_data_runs(forest, ends)
            fail(
                f"{_set_name(forest, family, number)} and {_set_name(forest, family, known)} have "
                f"the same shape, but no link of set {lacking} leads from its item {sender} to "
                f"{receiver}"
            )
        if (at := first(mine[1] != uses[shape])) is not None:
            edge = int(edges.first[number]) + at
            items = _as_data_runs(forest, (int(edges.tail[edge]), int(edges.head[edge])))
            tail, head = (_item_name(forest, family, item) for item in items)
            fail(
                f"{_set_name(forest, family, number)}: {uses[shape][at]} trees go from {tail} "
                f"to {head}, but the links there carry {mine[1][at]}"
            )


def _as_data_runs(forest: FactoredForest, edge: tuple[int, int]) -> tuple[int, int]:
    """Convert an edge from parent to child to sender and receiver."""
    return edge[::-1] if forest.reduction else edge


def _of_set(
    family: _Family, edges: _Edges, number: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[Any]]:
    """Return the edges of a set as keys tail * items + head, by item numbers, and their loads."""
    base, items = family.first[number], family.first[number + 1] - family.first[number]
    of_set = slice(edges.first[number], edges.first[number + 1])
    key = (edges.tail[of_set] - base) * items + edges.head[of_set] - base
    return key, edges.load[of_set]


def _uses(
    forest: FactoredForest,
    family: _Family,
    edges: _Edges,
    number: int,
    batches: slice,
    parent: npt.NDArray[np.int32],
) -> npt.NDArray[Any]:
    """Count the trees of a packing over each edge of a set, with multiplicity."""
    keys, _ = _of_set(family, edges, number)
    items = parent.shape[1]
    amounts = exact(forest.shapes.multiplicity[batches], len(parent) * items)
    uses = np.zeros(len(keys), dtype=amounts.dtype)
    rows = max(1, _BLOCK_ENTRIES // items)
    for start in range(0, len(parent) if items > 1 else 0, rows):
        block = parent[start : start + rows]
        used = (block.astype(np.int64) * items + np.arange(items))[block >= 0]
        place = np.searchsorted(keys, used)
        # No key is -1: it stands for the place behind the last one.
        if (at := first(np.append(keys, -1)[place] != used)) is not None:
            ends = _as_data_runs(forest, divmod(int(used[at]), items))
            tail, head = (_item_name(forest, family, int(family.first[number]) + i) for i in ends)
            fail(
                # Every batch has items - 1 edges, as it spans its items.
                f"{_set_name(forest, family, number)}: batch {start + at // (items - 1)} goes "
                f"from {tail} to {head}, but no link does"
            )
        np.add.at(uses, place, np.repeat(amounts[start : start + len(block)], items - 1))
    return uses
