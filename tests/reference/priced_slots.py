"""Slow twin of the search for trees in slots (:mod:`forestcoll.forest_over_time.priced_slots`).

It takes slot by slot what the native code takes hop by hop, and breaks ties in the same order.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from forestcoll.forest_over_time.priced_hops import Floats, Ints

__all__ = ["best_slots", "cheaper_slots", "grown_tree"]

_SWEEPS = 20


def grown_tree(prices: Floats, root: int, gap: int) -> tuple[float, Ints, Ints] | None:
    """Grow a tree from its root, by one cheapest path after the other."""
    slots, size = prices.shape[:2]
    ready = np.full(size, slots + gap)  # the first slot in which a GPU of the tree can send
    ready[root] = 0
    parent, slot = np.full(size, -1), np.full(size, -1)
    left = np.ones(size, dtype=np.bool_)
    left[root] = False
    while left.any():
        cost, above, when = _cheapest_paths(prices, ready, left, gap)
        ends = np.where(left, cost[-1], np.inf)
        node, at = int(ends.argmin()), slots + gap - 1
        if not np.isfinite(ends[node]):
            return None
        while left[node]:
            sender, at = int(above[at, node]), int(when[at, node])
            parent[node], slot[node], ready[node] = sender, at, at + gap
            left[node] = False
            node = sender
    nodes = np.flatnonzero(parent >= 0)
    return float(prices[slot[nodes], parent[nodes], nodes].sum()), parent, slot


def _cheapest_paths(
    prices: Floats, ready: Ints, left: npt.NDArray[np.bool_], gap: int
) -> tuple[Floats, Ints, Ints]:
    """Return, by slot, the least price to have data at a GPU, and its last hop."""
    slots, size = prices.shape[:2]
    shape = (slots + gap, size)
    cost, above, when = np.full(shape, np.inf), np.full(shape, -1), np.full(shape, -1)
    for at in range(slots + gap):
        if at:
            sooner = cost[at - 1] <= cost[at]
            for values in (cost, above, when):
                values[at][sooner] = values[at - 1][sooner]
        cost[at][ready <= at] = 0
        if at < slots:
            through = cost[at][:, None] + prices[at]
            sender = through.argmin(axis=0)
            least = through[sender, np.arange(size)]
            better = left & (least < cost[at + gap])
            cost[at + gap][better], above[at + gap][better] = least[better], sender[better]
            when[at + gap][better] = at
    return cost, above, when


def best_slots(prices: Floats, parent: Ints, gap: int) -> tuple[float, Ints, Ints] | None:
    """Choose the slots of least price for the hops of a tree, from its leaves to the root."""
    slots, size = prices.shape[:2]
    order = _from_root(parent)
    # Prices of all below a GPU that can send from a slot on; infinite beyond the last one.
    below = np.zeros((size, slots + gap + 1))
    chosen = np.zeros((size, slots + 1), dtype=np.int64)
    for node in order[:0:-1]:
        above = parent[node]
        of_slot = np.full(slots + 1, np.inf)
        of_slot[:-1] = prices[:, above, node] + below[node, gap : gap + slots]
        # The least of this slot and all later ones, and the first that attains it.
        least = np.minimum.accumulate(of_slot[::-1])[::-1]
        at = np.where(of_slot == least, np.arange(slots + 1), slots)
        chosen[node] = np.minimum.accumulate(at[::-1])[::-1]
        below[above, : slots + 1] += least
        below[above, slots + 1 :] = np.inf
    root = order[0]
    if not np.isfinite(below[root, 0]):
        return None
    slot = np.full(size, -1)
    for node in order[1:]:
        above = parent[node]
        slot[node] = chosen[node, 0 if above == root else slot[above] + gap]
    return float(below[root, 0]), parent, slot


def cheaper_slots(prices: Floats, parent: Ints, gap: int) -> tuple[float, Ints, Ints] | None:
    """Improve a tree by moves of single GPUs and by the best slots for its parents."""
    found = best_slots(prices, parent.copy(), gap)
    for _ in range(_SWEEPS):
        if found is None:
            break
        before = found[0]
        _move_each(prices, *found[1:], gap)
        found = best_slots(prices, found[1], gap)
        if found is not None and found[0] >= before:
            break
    return found


def _move_each(prices: Floats, parent: Ints, slot: Ints, gap: int) -> None:
    """Move GPUs, those of the dearest hop first, and what is cheaper with them or without them."""
    nodes = np.flatnonzero(parent >= 0)
    for node in nodes[np.argsort(-prices[slot[nodes], parent[nodes], nodes], kind="stable")]:
        _move_and_gather(prices, parent, slot, gap, node)
        _empty_and_move(prices, parent, slot, gap, node)


def _price_of(prices: Floats, parent: Ints, slot: Ints, node: int) -> float:
    return float(prices[slot[node], parent[node], node])


def _last_slots(slots: int, parent: Ints, slot: Ints, gap: int) -> list[int]:
    """Return the last slot in which each GPU can receive what it leads to; -1 for the root."""
    return [
        int(slot[parent == node].min(initial=slots - 1 + gap)) - gap if parent[node] >= 0 else -1
        for node in range(len(parent))
    ]


def _cheapest(
    prices: Floats, ready: Ints, node: int, last: int, senders: Iterable[int]
) -> tuple[float, int, int]:
    """Return the price, the parent and the slot of the cheapest hop to a GPU up to a slot."""
    options = (
        (float(prices[at, above, node]), above, at)
        for above in senders
        for at in range(ready[above], last + 1)
    )
    return min(options, default=(np.inf, -1, -1))


def _move_and_gather(prices: Floats, parent: Ints, slot: Ints, gap: int, node: int) -> None:
    """Move a GPU to where its hop, less what others save behind it, is cheapest."""
    size, last = len(parent), _last_slots(len(prices), parent, slot, gap)
    ready = np.where(parent >= 0, slot + gap, 0)
    best = _price_of(prices, parent, slot, node), -1, -1
    for above in range(size):
        for at in range(ready[above], last[node] + 1):
            moved = np.where(np.arange(size) == node, at + gap, ready)
            price = float(prices[at, above, node]) - sum(
                max(0.0, _price_of(prices, parent, slot, other) - cheapest)
                for other in range(size)
                if other != above
                for cheapest, *_ in [_cheapest(prices, moved, other, last[other], [node])]
            )
            best = min(best, (price, above, at), key=lambda one: one[0])
    if best[1] < 0:
        return
    parent[node], slot[node] = best[1:]
    ready[node] = slot[node] + gap
    for other in range(size):
        found = _cheapest(prices, ready, other, last[other], [node])
        if other != best[1] and found[0] < _price_of(prices, parent, slot, other):
            parent[other], slot[other] = found[1:]


def _empty_and_move(prices: Floats, parent: Ints, slot: Ints, gap: int, node: int) -> None:
    """Hang all children of a GPU elsewhere, and then the GPU, if that is cheaper."""
    before = parent.copy(), slot.copy()
    children, change = np.flatnonzero(parent == node).tolist(), 0.0
    for moved, without in [*((child, node) for child in children), (node, -1)]:
        last = _last_slots(len(prices), parent, slot, gap)[moved]
        ready = np.where(parent >= 0, slot + gap, 0)
        senders = [one for one in range(len(parent)) if one != without]
        best = _cheapest(prices, ready, moved, last, senders)
        change += best[0] - _price_of(prices, parent, slot, moved)
        if best[1] >= 0:
            parent[moved], slot[moved] = best[1:]
    if change >= 0:
        parent[:], slot[:] = before


def _from_root(parent: Ints) -> list[int]:
    """Return all GPUs, each behind its parent."""
    children: list[list[int]] = [[] for _ in parent]
    order: list[int] = []
    for node, above in enumerate(parent.tolist()):
        (order if above < 0 else children[above]).append(node)
    for node in order:
        order.extend(children[node])
    return order
