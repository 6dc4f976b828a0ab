"""Proof that the trees of an explicit forest span, with their loads of logical links.

Part of :func:`forestcoll.schedule.verify`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from forestcoll.schedule.exact_sums import Ints, exact, first
from forestcoll.schedule.forest import Forest
from forestcoll.schedule.protocols import Batches
from forestcoll.schedule.verification.naming import arrows, fail, gpu_name, tree_name, walk
from forestcoll.schedule.verification.trees.sums import (
    Rings,
    check_summing,
    cycles_of,
    rows_together,
)

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


def check_trees(forest: Forest, rings: list[Rings] | None = None) -> int:
    """Check that every batch is a spanning out-tree or in-tree; return the greatest depth.

    ``rings`` is filled with those among the batches, for :func:`tree_loads`.
    """
    check = check_summing if forest.reduction else check_spanning
    return check(
        forest.parent,
        forest.root,
        tree=lambda batch: tree_name(forest, batch),
        node=lambda rank: gpu_name(forest, rank),
        rings=rings,
    )


def check_spanning(
    parent: Ints, root: Ints, *, tree: _Name, node: _Name, rings: list[Rings] | None = None
) -> int:
    """Check that every row of parents is a spanning out-tree; return the greatest depth.

    ``tree`` and ``node`` name a row and a column for the counter-example; ``rings`` is filled.
    """
    depth = 0
    for start, rows in _blocks(parent):
        roots = root[start : start + len(rows)]

        def named(row: int, start: int = start) -> str:
            return tree(start + row)

        if (around := cycles_of(rows, roots)) is None:
            _check_parents(rows, roots, named, node)
            depth = max(depth, _check_cycles(rows, roots, named, node))
            continue
        depth = rows.shape[1] - 1  # no tree is deeper
        if rings is not None:
            rings.append(Rings(start, len(rows) // len(around), around))
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


def tree_loads(forest: Forest, rings: list[Rings] | None = None) -> npt.NDArray[Any]:
    """Count the trees over each logical link, in the direction of the data, with multiplicity.

    If the ``rings`` that :func:`check_trees` found are all batches, their cycles are counted.
    """
    ranks = forest.topology.num_compute
    links = _links_by_child(forest)
    amounts = exact(forest.multiplicity, len(forest.root))
    if rings and sum(some.rows * len(some.cycles) for some in rings) == len(forest.root):
        return _ring_loads(forest, links, amounts, rings)
    load = np.zeros(len(links.number), dtype=amounts.dtype)
    # A column holds the parents of one rank in all trees. Its counters stay in the cache, whereas a
    # table of all pairs of ranks is read all over by each row.
    columns = max(1, _BLOCK_ENTRIES // max(len(amounts), ranks + 1))
    for start in range(0, ranks, columns):
        parent = forest.parent[:, start : start + columns]
        count = _count(parent, amounts, ranks)
        here = slice(*np.searchsorted(links.child, [start, start + columns]))
        cell = (links.child[here] - start) * (ranks + 1) + links.parent[here] + 1
        load[links.number[here]] = count[cell]
        count[cell] = 0
        count[:: ranks + 1] = 0  # roots
        if (lost := first(count != 0)) is not None:
            _fail_without_path(forest, start + lost // (ranks + 1), lost % (ranks + 1) - 1)
    return load


def _ring_loads(
    forest: Forest, links: _LinksByChild, amounts: npt.NDArray[Any], rings: list[Rings]
) -> npt.NDArray[Any]:
    """Count the trees of rings: all of a run pass into each node, but those rooted there."""
    ranks = forest.topology.num_compute
    parents = np.concatenate([some.cycles for some in rings])
    trees = np.zeros(parents.shape, dtype=amounts.dtype)
    run = np.repeat(
        np.arange(len(parents)),
        np.repeat([one.rows for one in rings], [len(one.cycles) for one in rings]),
    )
    np.add.at(trees, (run, forest.root), amounts)
    trees = trees.sum(axis=1)[:, None] - trees
    edge = (parents + np.arange(ranks) * np.int64(ranks)).ravel()
    key = np.append(links.child * ranks + links.parent, -1)  # of no edge, if there are no links
    order = np.argsort(key)
    place = order[np.searchsorted(key[order], edge).clip(max=len(key) - 1)]
    # Two trees at least, of different roots, follow each cycle: every edge of it is used.
    if (lost := first(key[place] != edge)) is not None:
        _fail_without_path(forest, *divmod(int(edge[lost]), ranks))
    load = np.zeros(len(links.number), dtype=amounts.dtype)
    np.add.at(load, links.number[place], trees.ravel())
    return load


def _count(parent: Ints, amounts: npt.NDArray[Any], ranks: int) -> npt.NDArray[Any]:
    """Add up the amounts of the trees by column and, within it, by parent: -1, 0, 1, ..."""
    columns = parent.shape[1]
    cell = parent + np.arange(1, columns * (ranks + 1), ranks + 1)
    if len(amounts) and (amounts == amounts[0]).all():
        count = np.bincount(cell.ravel(), minlength=columns * (ranks + 1)).astype(amounts.dtype)
        count *= amounts[0]
    else:
        count = np.zeros(columns * (ranks + 1), dtype=amounts.dtype)
        np.add.at(count, cell.ravel(), np.repeat(amounts, columns))
    return count


def _fail_without_path(forest: Forest, rank: int, parent: int) -> None:
    batch = first(forest.parent[:, rank] == parent)
    assert batch is not None
    way = walk(forest, (rank, parent) if forest.reduction else (parent, rank))
    fail(f"{tree_name(forest, batch)}: the edge {way} has no physical path")


@dataclass(frozen=True, slots=True)
class _LinksByChild:
    """The logical links as trees use them, sorted by child: their numbers and both ends."""

    number: npt.NDArray[np.intp]
    parent: npt.NDArray[np.intp]
    child: npt.NDArray[np.intp]


def _links_by_child(forest: Forest) -> _LinksByChild:
    above, below = forest.routes.tail, forest.routes.head
    if forest.reduction:
        above, below = below, above
    number = np.argsort(below, kind="stable")
    return _LinksByChild(number, above[number].astype(np.intp), below[number].astype(np.intp))


def _blocks(parent: Ints) -> Iterator[tuple[int, Ints]]:
    """Cut parents into runs of whole batches: the first batch's number, and the rows."""
    rows = rows_together(parent.shape[1], _BLOCK_ENTRIES)
    for start in range(0, len(parent), rows):
        yield start, parent[start : start + rows]
