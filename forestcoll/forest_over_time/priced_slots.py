"""Trees of low price whose hops each have a time slot.

Problem: given the price of every hop in every slot, a spanning tree with a slot for each hop, of
         small total price. A GPU sends on what it got g slots later or later: data wait there.
Input:   prices, a root, g, perhaps a tree to begin with.
Output:  the parent of each GPU and the slot of the hop to it.
Cost:    for a tree: N searches through slots and pairs of GPUs, then some sweeps over GPUs.
Source:  ours. A tree is grown by the cheapest path to another GPU, as for Steiner trees. A sweep
         moves each GPU to its cheapest parent and slot that suit what it leads to, and then
         chooses the best slots of all hops for these parents, exactly. As hops take one slot or
         more, no move makes a circle.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from forestcoll.forest_over_time.priced_hops import Floats, Ints

__all__ = ["best_slots", "cheaper_slots", "grown_tree"]

_SWEEPS = 20


def grown_tree(prices: Floats, root: int, gap: int) -> tuple[Ints, Ints] | None:
    """Grow a tree from its root, by one cheapest path after the other.

    Parameters
    ----------
    prices : float array of shape (K, N, N)
        Of the hop from one GPU to another in a slot; infinite where there is none.
    gap : int
        The slots that a hop takes.

    Returns
    -------
    tuple or None
        The parent and the slot of each GPU, -1 at the root; None if K slots do not suffice.
    """
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
    return parent, slot


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


def best_slots(prices: Floats, parent: Ints, gap: int) -> tuple[float, Ints] | None:
    """Return the least price of a tree and the slots that attain it; None if K do not suffice.

    Parameters
    ----------
    parent : int array
        The parent of each GPU, -1 at the root.
    """
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
    return float(below[root, 0]), slot


def cheaper_slots(prices: Floats, parent: Ints, gap: int) -> tuple[float, Ints, Ints] | None:
    """Improve a tree by moves of single GPUs and by the best slots for its parents.

    Returns
    -------
    tuple or None
        The price, the parents and the slots; None if the tree needs more than K slots.
    """
    found = best_slots(prices, parent, gap)
    if found is None:
        return None
    (price, slot), parent = found, parent.copy()
    for _ in range(_SWEEPS):
        before = price
        _move_each(prices, parent, slot, gap)
        found = best_slots(prices, parent, gap)
        assert found is not None  # it has slots already
        price, slot = found
        if price >= before:
            break
    return price, parent, slot


def _move_each(prices: Floats, parent: Ints, slot: Ints, gap: int) -> None:
    """Move GPUs, those of the dearest hop first, to their cheapest parent and slot."""
    slots, size = prices.shape[:2]
    nodes = np.flatnonzero(parent >= 0)
    ready = np.where(parent >= 0, slot + gap, 0)
    for node in nodes[np.argsort(-prices[slot[nodes], parent[nodes], nodes], kind="stable")]:
        last = slot[parent == node].min(initial=slots + gap - 1) - gap
        options = np.where(
            ready <= np.arange(last + 1)[:, None], prices[: last + 1, :, node], np.inf
        )
        at, above = divmod(int(options.argmin()), size)
        if options[at, above] < prices[slot[node], parent[node], node]:
            parent[node], slot[node], ready[node] = above, at, at + gap


def _from_root(parent: Ints) -> list[int]:
    """Return all GPUs, each behind its parent."""
    children: list[list[int]] = [[] for _ in parent]
    order: list[int] = []
    for node, above in enumerate(parent.tolist()):
        (order if above < 0 else children[above]).append(node)
    for node in order:
        order.extend(children[node])
    return order
