"""Proof that the trees of an explicit forest span, with their loads of logical links.

Part of :func:`forestcoll.schedule.verify`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from forestcoll.schedule.exact_sums import Ints, exact, first
from forestcoll.schedule.forest import Forest
from forestcoll.schedule.protocols import Batches
from forestcoll.schedule.verification.naming import arrows, fail, gpu_name, tree_name, walk
from forestcoll.schedule.verification.trees.sums import are_one_cycle, check_summing, rows_together

__all__ = ["check_roots", "check_spanning", "check_trees", "tree_loads"]

_BLOCK_ENTRIES = 2**18  # parents processed together: few enough to stay in the cache

_Name = Callable[[int], str]


def check_roots(forest: Batches) -> None:
    """Check that the multiplicities of each root are positive and add up to k times its weight."""
    if (batch := first(forest.multiplicity < 1)) is not None:
        tree, found = tree_name(forest, batch), forest.multiplicity[batch]
        fail(f"{tree}: multiplicity is {found}; it must be positive")
    amounts = exact(forest.multiplicity, len(forest.root))
    total = np.zeros(forest.topology.num_compute, dtype=amounts.dtype)
    np.add.at(total, forest.root, amounts)
    due = np.array([forest.k * weight for weight in forest.weights], dtype=object)
    if (rank := first(total != due)) is None:
        return
    gpu, weight = gpu_name(forest, rank), forest.weights[rank]
    if total[rank] == 0:
        what = "the sum for it is never made" if forest.reduction else "its shard is never sent"
        fail(f"{gpu} is the root of no tree, so {what}")
    share = f"k = {forest.k}" if weight == 1 else f"{due[rank]}, k = {forest.k} by weight {weight}"
    fail(
        f"the multiplicities of the trees rooted at {gpu} add up to {total[rank]}; "
        f"they must add up to {share}"
    )


def check_trees(forest: Forest) -> int:
    """Check that every batch is a spanning out-tree or in-tree; return the greatest depth."""
    check = check_summing if forest.reduction else check_spanning
    return check(
        forest.parent,
        forest.root,
        tree=lambda batch: tree_name(forest, batch),
        node=lambda rank: gpu_name(forest, rank),
    )


def check_spanning(parent: Ints, root: Ints, *, tree: _Name, node: _Name) -> int:
    """Check that every row of parents is a spanning out-tree; return the greatest depth.

    ``tree`` and ``node`` name a row and a column for the counter-example.
    """
    depth = 0
    for start, rows in _blocks(parent):
        roots = root[start : start + len(rows)]

        def named(row: int, start: int = start) -> str:
            return tree(start + row)

        _check_parents(rows, roots, named, node)
        around = are_one_cycle(rows, roots)
        found = parent.shape[1] - 1 if around else _check_cycles(rows, roots, named, node)
        depth = max(depth, found)
    return depth


def _check_parents(parent: Ints, root: Ints, tree: _Name, node: _Name) -> None:
    """Check that in every tree only the root has no parent."""
    own = parent[np.arange(len(root)), root] < 0
    if own.all() and np.count_nonzero(parent < 0) == len(root):
        return
    row = first((np.count_nonzero(parent < 0, axis=1) != 1) | ~own)
    assert row is not None
    source = int(root[row])
    above = int(parent[row, source])
    lost = [node(v) for v in np.flatnonzero(parent[row] < 0).tolist() if v != source]
    if above < 0:
        fail(f"{tree(row)}: {lost[0]} has no parent, so the shard does not reach it")
    also = f", while {lost[0]} has none: the tree carries another GPU's shard" if lost else ""
    fail(f"{tree(row)}: the root has the parent {node(above)}{also}")


def _check_cycles(parent: Ints, root: Ints, tree: _Name, node: _Name) -> int:
    """Check by pointer doubling that all ancestors end at the root; return the greatest depth."""
    rows, ranks = parent.shape
    row = np.arange(rows, dtype=np.intp)[:, None] * ranks
    goal = row + root[:, None]
    jump = np.where(parent < 0, goal, row + parent)
    depth = (parent >= 0).astype(np.int32)
    for _ in range(ranks.bit_length()):
        if (jump == goal).all():
            break
        depth += depth.take(jump)
        jump = jump.take(jump)
    if (lost := first(jump != goal)) is not None:
        batch, rank = divmod(lost, ranks)
        ring = arrows(map(node, _cycle(parent[batch].tolist(), rank)))
        fail(f"{tree(batch)}: {ring} is a cycle, which the root does not reach")
    return int(depth.max())


def _cycle(parent: list[int], rank: int) -> list[int]:
    """Return the cycle that the ancestors of a rank run into, in the data's direction."""
    for _ in parent:
        rank = parent[rank]
    cycle = [rank]
    while parent[cycle[-1]] != rank:
        cycle.append(parent[cycle[-1]])
    return [rank, *reversed(cycle)]


def tree_loads(forest: Forest) -> npt.NDArray[Any]:
    """Count the trees over each logical link, in the direction of the data, with multiplicity."""
    ranks, links = forest.topology.num_compute, len(forest.routes.tail)
    link_of = _links_by_parent(forest)
    amounts = exact(forest.multiplicity, len(forest.root))
    load = np.zeros(links + 2, dtype=amounts.dtype)  # and those of roots, and without a path
    for start, parent in _blocks(forest.parent):
        own, roots = amounts[start : start + len(parent)], forest.root[start : start + len(parent)]
        if are_one_cycle(parent, roots) and _add_ring(load, parent, roots, own, link_of):
            continue
        place = parent.astype(np.intp)
        place *= ranks
        place += np.arange(ranks, 2 * ranks)
        link = link_of.take(place.ravel())
        if (own == own[0]).all():
            load += np.bincount(link, minlength=len(load)).astype(load.dtype) * own[0]
        else:
            np.add.at(load, link, np.repeat(own, ranks))
        if load[links + 1]:
            row, rank = divmod(int(np.argmax(link)), ranks)
            edge = (int(parent[row, rank]), rank)
            way = walk(forest, edge[::-1] if forest.reduction else edge)
            fail(f"{tree_name(forest, start + row)}: the edge {way} has no physical path")
    return load[:links]


def _add_ring(
    load: npt.NDArray[Any], parent: Ints, root: Ints, own: npt.NDArray[Any], link_of: Ints
) -> bool:
    """Add trees that are one cycle, each without its edge at the root; False without some path."""
    ranks = parent.shape[1]
    around = parent[0].astype(np.intp)
    around[root[0]] = parent[1, root[0]]
    link = link_of.take((around + 1) * ranks + np.arange(ranks))
    if (link == len(load) - 1).any():
        return False
    crossed = np.full(ranks, own.sum(), dtype=load.dtype)
    np.subtract.at(crossed, root, own)
    np.add.at(load, link, crossed)
    return True


def _links_by_parent(forest: Forest) -> npt.NDArray[np.int32]:
    """Return the logical link of each rank under each parent, from -1 on: two numbers beyond them.

    The first is for roots, under parent -1, the second for edges without a physical path.
    """
    routes, ranks, links = forest.routes, forest.topology.num_compute, len(forest.routes.tail)
    above, below = routes.tail, routes.head
    if forest.reduction:
        above, below = below, above
    link_of = np.full((ranks + 1) * ranks, links + 1, dtype=np.int32)
    link_of[:ranks] = links
    link_of[(above.astype(np.int64) + 1) * ranks + below] = np.arange(links)
    return link_of


def _blocks(parent: Ints) -> Iterator[tuple[int, Ints]]:
    """Cut parents into runs of whole batches: the first batch's number, and the rows."""
    rows = rows_together(parent.shape[1], _BLOCK_ENTRIES)
    for start in range(0, len(parent), rows):
        yield start, parent[start : start + rows]
