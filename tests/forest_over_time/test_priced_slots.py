"""Trees of low price whose hops have slots."""

from itertools import product

import numpy as np
import pytest

from forestcoll.forest_over_time.priced_hops import Floats, Ints
from forestcoll.forest_over_time.priced_slots import best_slots, cheaper_slots, grown_tree

NONE = np.inf


def price_of(prices: Floats, parent: Ints, slot: Ints, gap: int) -> float:
    """Return the price of a tree, after a check that each hop waits for the one before."""
    total = 0.0
    for node, above in enumerate(parent):
        if above >= 0:
            assert 0 <= slot[node] < len(prices)
            assert parent[above] < 0 or slot[node] >= slot[above] + gap
            total += prices[slot[node], above, node]
    return total


def trees(size: int) -> list[Ints]:
    """Return all trees of root 0."""
    found = []
    for above in product(range(size), repeat=size - 1):
        parent = np.array([-1, *above])
        at = np.arange(size)
        for _ in range(size):
            at = np.where(parent[at] >= 0, parent[at], at)
        if not at.any():
            found.append(parent)
    return found


def prices_at_random(seed: int, slots: int = 4, size: int = 4) -> Floats:
    random = np.random.default_rng(seed)
    prices = random.random((slots, size, size))
    prices[:, range(size), range(size)] = NONE
    return prices


def test_a_cheap_slot_is_waited_for():
    """0 sends to 1 in slot 1, where it costs nothing, and 1 to 2 in the last one."""
    prices = np.full((3, 3, 3), 5.0)
    prices[1, 0, 1] = prices[2, 1, 2] = 0
    for found in (grown_tree(prices, 0, 1), cheaper_slots(prices, np.array([-1, 0, 1]), 1)):
        assert found is not None
        parent, slot = found[-2:]
        assert parent.tolist() == [-1, 0, 1]
        assert slot.tolist() == [-1, 1, 2]


def test_gpus_move_to_a_cheaper_parent() -> None:
    """2 is reached from 0 at first, and costs nothing behind 1."""
    prices = np.full((3, 3, 3), 5.0)
    prices[1, 0, 1] = prices[2, 1, 2] = 0
    found = cheaper_slots(prices, np.array([-1, 0, 0]), 1)
    assert found is not None
    assert (found[0], found[1].tolist(), found[2].tolist()) == (0, [-1, 0, 1], [-1, 1, 2])


def test_a_hop_of_two_slots_needs_them():
    prices = np.full((3, 3, 3), NONE)
    prices[:, 0, 1] = prices[:, 1, 2] = 1
    assert best_slots(prices, np.array([-1, 0, 1]), 3) is None
    assert cheaper_slots(prices, np.array([-1, 0, 1]), 3) is None
    assert grown_tree(prices, 0, 3) is None
    found = best_slots(prices, np.array([-1, 0, 1]), 2)
    assert found is not None
    assert (found[0], found[1].tolist()) == (2, [-1, 0, 2])


@pytest.mark.parametrize("gap", [1, 2])
def test_best_slots_are_the_best_of_all(gap: int):
    for seed in range(3):
        prices = prices_at_random(seed)
        for parent in trees(4):
            every = [
                sum(prices[at, parent[node], node] for node, at in enumerate(slots, start=1))
                for slots in product(range(4), repeat=3)
                if all(
                    parent[node] == 0 or at >= slots[parent[node] - 1] + gap
                    for node, at in enumerate(slots, start=1)
                )
            ]
            found = best_slots(prices, parent, gap)
            if found is None:
                assert not every
            else:
                assert found[0] == pytest.approx(min(every))
                assert price_of(prices, parent, found[1], gap) == pytest.approx(found[0])


def test_trees_are_mostly_of_the_least_price():
    """The search is a heuristic: never below the least price of all trees, often equal."""
    equal = 0
    for seed in range(20):
        prices = prices_at_random(seed)
        least = min(found[0] for tree in trees(4) if (found := best_slots(prices, tree, 1)))
        grown = grown_tree(prices, 0, 1)
        assert grown is not None
        before = price_of(prices, *grown, 1)
        found = cheaper_slots(prices, grown[0], 1)
        assert found is not None
        price, parent, slot = found
        assert price == pytest.approx(price_of(prices, parent, slot, 1))
        assert least - 1e-12 <= price <= before + 1e-12
        equal += price == pytest.approx(least)
    assert equal >= 14
