"""Loads of links between the items of tight sets, and the trees that use them.

Part of :func:`forestcoll.schedule.verify`. Edges are sorted by (head, tail), as the parents of a
packing are read column by column: the trees over the edges into an item are counted in its column
alone, without a look-up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from forestcoll.schedule.exact_sums import Ints, exact, first
from forestcoll.schedule.factored import FactoredForest
from forestcoll.schedule.verification.naming import fail, gpu_name, walk
from forestcoll.schedule.verification.trees.rotated_packing import difference
from forestcoll.schedule.verification.trees.set_family import Family, item_name, set_name

__all__ = ["Edges", "check_equal_sets", "check_uses", "contracted"]

_LINKS_TOGETHER = 2**16  # few enough to stay in the cache
_ENTRIES_TOGETHER = 2**20
_DIGIT = 2**16 - 1
_DENSE = 16  # edges that may be used for each that is, up to which a table of all is counted


@dataclass(frozen=True)
class Edges:
    """Edges between items, from parent to child, with the loads of the links behind each.

    Items are those of all sets, numbered as in :class:`Family`. The edges into item i are first[i]
    to first[i + 1], by tail. ``entering`` counts the trees that enter each item from outside its
    set (in a reduction: leave it).
    """

    tail: npt.NDArray[np.int32]
    load: npt.NDArray[Any]
    first: npt.NDArray[np.int64]
    entering: npt.NDArray[Any]

    def of_items(self, start: int, stop: int) -> tuple[slice, npt.NDArray[np.int64]]:
        """Return the edges into a range of items, and the head of each, counted from the first."""
        edges = slice(int(self.first[start]), int(self.first[stop]))
        return edges, np.repeat(np.arange(stop - start), np.diff(self.first[start : stop + 1]))


# --- loads -------------------------------------------------------------------------------------


def contracted(forest: FactoredForest, family: Family) -> Edges:
    """Climb from both ends of every link to the smallest set around both."""
    links = forest.links
    if (link := first(links.load < 1)) is not None:
        ends = (int(links.tail[link]), int(links.head[link]))
        found = links.load[link]
        fail(f"logical link {walk(forest, ends)} carries {found} trees; it must carry some")
    if (link := first(links.tail == links.head)) is not None:
        fail(f"a logical link leads from {gpu_name(forest, int(links.tail[link]))} to itself")
    load = exact(links.load, len(links))
    entering = np.zeros(len(family.child), dtype=load.dtype)
    above, below = (links.head, links.tail) if forest.reduction else (links.tail, links.head)
    tail, head = np.empty(len(links), dtype=np.int32), np.empty(len(links), dtype=np.int32)
    for start in range(0, len(links), _LINKS_TOGETHER):
        block = slice(start, start + _LINKS_TOGETHER)
        tail[block], head[block] = _climb(
            forest, family, above[block], below[block], load[block], entering
        )
    return _summed(tail, head, load, entering)


def _climb(
    forest: FactoredForest,
    family: Family,
    above: Ints,
    below: Ints,
    load: npt.NDArray[Any],
    entering: npt.NDArray[Any],
) -> tuple[Ints, Ints]:
    """Return the items that links join in the smallest set around both of their ends."""
    sets = forest.sets
    all_tails, all_heads = family.of_rank[above], family.of_rank[below]
    tail_set, head_set = sets.set_of[above], sets.set_of[below]
    apart = np.flatnonzero(tail_set != head_set)
    tail_set, head_set = tail_set[apart], head_set[apart]
    tail, head, load = all_tails[apart], all_heads[apart], load[apart]
    while apart.size:
        # The ends in deeper sets, on equal levels both, are not yet in the set around both.
        levels = family.level[tail_set], family.level[head_set]
        rising, entered = levels[0] >= levels[1], levels[0] <= levels[1]
        np.add.at(entering, head[entered], load[entered])
        tail[rising], head[entered] = (
            family.of_set[tail_set[rising]],
            family.of_set[head_set[entered]],
        )
        tail_set[rising] = sets.parent[tail_set[rising]]
        head_set[entered] = sets.parent[head_set[entered]]
        there = tail_set == head_set
        if there.any():
            all_tails[apart[there]], all_heads[apart[there]] = tail[there], head[there]
            left = ~there
            apart, load = apart[left], load[left]
            tail, head, tail_set, head_set = tail[left], head[left], tail_set[left], head_set[left]
    return all_tails, all_heads


def _summed(tail: Ints, head: Ints, load: npt.NDArray[Any], entering: npt.NDArray[Any]) -> Edges:
    """Sort edges by (head, tail), and add up the loads of equal ones."""
    order = _order(tail, head)
    tail, head, load = tail[order], head[order], load[order]
    new = np.append(True, (tail[1:] != tail[:-1]) | (head[1:] != head[:-1]))[: len(tail)]
    if not new.all():
        load = np.add.reduceat(load, np.flatnonzero(new))
        tail, head = tail[new], head[new]
    into = np.bincount(head, minlength=len(entering))
    return Edges(tail.astype(np.int32, copy=False), load, np.append(0, np.cumsum(into)), entering)


def _order(tail: Ints, head: Ints) -> npt.NDArray[np.int64]:
    """Return the order by (head, tail); links come by tail, so that heads alone mostly decide."""
    # Numbers of 16 bits are sorted by counting, in linear time.
    order = np.argsort((head & _DIGIT).astype(np.uint16), kind="stable")
    digits = head[order] // (_DIGIT + 1)
    while digits.any():
        then = np.argsort((digits & _DIGIT).astype(np.uint16), kind="stable")
        order, digits = order[then], digits[then] // (_DIGIT + 1)
    by_head, by_tail = head[order], tail[order]
    if ((by_tail[1:] < by_tail[:-1]) & (by_head[1:] == by_head[:-1])).any():
        return np.lexsort((tail, head))
    return order


# --- uses --------------------------------------------------------------------------------------


def check_uses(
    forest: FactoredForest,
    family: Family,
    edges: Edges,
    number: int,
    batches: slice,
    parent: Ints,
    radices: list[int],
) -> None:
    """Check that as many trees of a set's packing use each edge as the links behind it carry.

    With radices, the batches stand for their rotations.
    """
    base, items = int(family.first[number]), parent.shape[1]
    amounts = exact(forest.shapes.multiplicity[batches], parent.size if radices else len(parent))
    offsets = _by_offset(parent, amounts, radices) if radices else None
    together = max(1, _ENTRIES_TOGETHER // max(len(parent), items))
    for start in range(0, items, together):
        stop = min(start + together, items)
        if offsets is None:
            used, uses = _uses(parent[:, start:stop], amounts, items)
        else:
            used, uses = _rotated_uses(np.arange(start, stop), offsets, items, radices)
        into, head = edges.of_items(base + start, base + stop)
        known = head * items + (edges.tail[into] - base)
        if not (np.array_equal(used, known) and np.array_equal(uses, edges.load[into])):
            counted, carried = (used, uses), (known, edges.load[into])
            _fail_uses(forest, family, number, start, parent, radices, counted, carried)


def _uses(
    parent: Ints, amounts: npt.NDArray[Any], items: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[Any]]:
    """Return the edges column * items + parent of some columns, sorted, and the trees over each."""
    rows, columns = parent.shape
    below = parent >= 0
    used = (parent + np.arange(columns) * items)[below]
    equal = bool((amounts == amounts[:1]).all())
    if columns * items <= _DENSE * len(used):
        counts = np.bincount(used, minlength=columns * items)
        found = np.flatnonzero(counts)
        if equal:
            return found, counts[found].astype(amounts.dtype) * amounts[0]
        place, size = used, columns * items
    else:
        found, place = np.unique(used, return_inverse=True)
        size = len(found)
    sums = np.zeros(size, dtype=amounts.dtype)
    np.add.at(sums, place, np.broadcast_to(amounts[:, None], (rows, columns))[below])
    return found, sums if size == len(found) else sums[found]


_Loads = tuple[npt.NDArray[np.int64], npt.NDArray[Any]]


def _by_offset(parent: Ints, amounts: npt.NDArray[Any], radices: list[int]) -> _Loads:
    """Return the digits by which children differ from parents, and the trees with such an edge.

    Every item is the end of that many images of these trees over that offset.
    """
    batch, child = np.nonzero(parent >= 0)
    found, place = np.unique(difference(child, parent[batch, child], radices), return_inverse=True)
    sums = np.zeros(len(found), dtype=amounts.dtype)
    np.add.at(sums, place, amounts[batch])
    return found, sums


def _rotated_uses(columns: Ints, offsets: _Loads, items: int, radices: list[int]) -> _Loads:
    """Return what :func:`_uses` does, of the images of trees with these offsets."""
    above = difference(columns[:, None], offsets[0], radices)
    order = np.argsort(above, axis=1)
    used = np.take_along_axis(above, order, axis=1)
    used += np.arange(len(columns))[:, None] * items
    return used.reshape(-1), offsets[1][order].reshape(-1)


def _fail_uses(
    forest: FactoredForest,
    family: Family,
    number: int,
    start: int,
    parent: Ints,
    radices: list[int],
    counted: _Loads,
    carried: _Loads,
) -> NoReturn:
    """Name an edge of a batch without a link, or one with another load."""
    items, base = parent.shape[1], int(family.first[number])
    name = set_name(forest, family, number)

    def ends(edge: int) -> tuple[str, str]:
        column, above = divmod(edge, items)
        tail, head = _as_data_runs(forest, (above, start + column))
        return item_name(forest, family, base + tail), item_name(forest, family, base + head)

    without = np.setdiff1d(counted[0], carried[0])
    if without.size:
        column, above = divmod(int(without[0]), items)
        tail, head = ends(int(without[0]))
        if radices:
            fail(f"{name}: a rotated batch goes from {tail} to {head}, but no link does")
        batch = first(parent[:, start + column] == above)
        fail(f"{name}: batch {batch} goes from {tail} to {head}, but no link does")
    uses = dict(zip(counted[0].tolist(), counted[1].tolist(), strict=True))
    loads = zip(carried[0].tolist(), carried[1].tolist(), strict=True)
    edge, load = next((edge, load) for edge, load in loads if uses.get(edge, 0) != load)
    tail, head = ends(edge)
    fail(
        f"{name}: {uses.get(edge, 0)} trees go from {tail} to {head}, but the links there carry "
        f"{load}"
    )


def check_equal_sets(
    forest: FactoredForest, family: Family, edges: Edges, numbers: npt.NDArray[np.int64]
) -> None:
    """Check that sets of one shape have the edges and loads of the first one."""
    base = family.first[numbers]
    start, many = edges.first[base], edges.first[family.first[numbers + 1]] - edges.first[base]
    known, load = _of_set(family, edges, int(numbers[0]))
    head, tail = np.divmod(known, max(1, int(family.first[numbers[0] + 1] - base[0])))
    together = max(1, _ENTRIES_TOGETHER // max(len(known), 1))
    for one in range(0, len(numbers), together):
        sets = slice(one, one + together)
        # A set with fewer edges is compared with others behind it, none behind the last.
        edge = np.minimum(start[sets, None] + np.arange(len(known)), len(edges.tail) - 1)
        into = base[sets, None] + head
        same = (edges.first[into] <= edge) & (edge < edges.first[into + 1])
        same &= (edges.tail[edge] == base[sets, None] + tail) & (edges.load[edge] == load)
        if (at := first(~same.all(axis=1) | (many[sets] != len(known)))) is not None:
            _fail_equal(forest, family, edges, int(numbers[0]), int(numbers[one + at]))


def _fail_equal(
    forest: FactoredForest, family: Family, edges: Edges, known: int, number: int
) -> NoReturn:
    """Name an edge that one of two sets lacks, or one with another load."""
    items, base = int(family.first[number + 1] - family.first[number]), int(family.first[number])
    mine, others = _of_set(family, edges, number), _of_set(family, edges, known)
    if not np.array_equal(mine[0], others[0]):
        one = int(np.setxor1d(mine[0], others[0])[0])
        lacking = number if one in others[0] else known
        sender, receiver = _as_data_runs(forest, divmod(one, items)[::-1])
        fail(
            f"{set_name(forest, family, number)} and {set_name(forest, family, known)} have "
            f"the same shape, but no link of set {lacking} leads from its item {sender} to "
            f"{receiver}"
        )
    at = int(np.flatnonzero(mine[1] != others[1])[0])
    ends = _as_data_runs(forest, divmod(int(mine[0][at]), items)[::-1])
    tail, head = (item_name(forest, family, base + item) for item in ends)
    fail(
        f"{set_name(forest, family, number)}: {others[1][at]} trees go from {tail} to {head}, but "
        f"the links there carry {mine[1][at]}"
    )


def _of_set(family: Family, edges: Edges, number: int) -> _Loads:
    """Return the edges of a set as keys head * items + tail, by item numbers, and their loads."""
    base, stop = int(family.first[number]), int(family.first[number + 1])
    of_set, head = edges.of_items(base, stop)
    return head * (stop - base) + (edges.tail[of_set] - base), edges.load[of_set]


def _as_data_runs(forest: FactoredForest, edge: tuple[int, int]) -> tuple[int, int]:
    """Convert an edge from parent to child to sender and receiver."""
    return edge[::-1] if forest.reduction else edge
