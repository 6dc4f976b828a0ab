"""Trees of low price whose hops have slots."""

from itertools import product

import numpy as np
import pytest

from forestcoll.forest_over_time.priced_hops import Floats, Ints
from forestcoll.forest_over_time.priced_slots import best_slots, cheaper_slots, grown_tree
from tests.reference import priced_slots as reference

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
        _, parent, slot = found
        assert parent.tolist() == [-1, 0, 1]
        assert slot.tolist() == [-1, 1, 2]


def test_gpus_move_to_a_cheaper_parent() -> None:
    """2 is reached from 0 at first, and costs nothing behind 1."""
    prices = np.full((3, 3, 3), 5.0)
    prices[1, 0, 1] = prices[2, 1, 2] = 0
    found = cheaper_slots(prices, np.array([-1, 0, 0]), 1)
    assert found is not None
    assert (found[0], found[1].tolist(), found[2].tolist()) == (0, [-1, 0, 1], [-1, 1, 2])


def of_hub(late: float) -> Floats:
    """0 sends to 1 in the first of two slots for 3, in the second one for ``late``.

    All others cost 0 behind 1, and 1 behind 0, in the second slot only.
    """
    prices = np.full((2, 6, 6), NONE)
    prices[:, 0, 1] = 3, late
    prices[1, 1, 2:] = 0
    prices[1, 0, 2:] = 1
    return prices


def test_a_gpu_moves_with_all_that_save_behind_it():
    """No GPU moves alone: it takes four that save 1 each to pay 3 rather than 1 for their hop."""
    found = cheaper_slots(of_hub(late=1), np.array([-1, 0, 0, 0, 0, 0]), 1)
    assert found is not None
    assert (found[0], found[1].tolist()) == (3, [-1, 0, 1, 1, 1, 1])
    assert found[2].tolist() == [-1, 0, 1, 1, 1, 1]


def test_a_gpu_loses_all_behind_it_if_its_hop_is_cheaper_then():
    """The four cost 1 each elsewhere, and the hop to the first one -2 rather than 3."""
    found = cheaper_slots(of_hub(late=-2), np.array([-1, 0, 1, 1, 1, 1]), 1)
    assert found is not None
    assert (found[0], found[1].tolist()) == (2, [-1, 0, 0, 0, 0, 0])
    assert found[2].tolist() == [-1, 1, 1, 1, 1, 1]


def test_a_gpu_that_cannot_lose_all_behind_it_keeps_them():
    """One of the four has no other hop; nothing is left half moved."""
    prices = of_hub(late=-9)
    prices[1, 0, 5] = NONE
    found = cheaper_slots(prices, np.array([-1, 0, 1, 1, 1, 1]), 1)
    assert found is not None
    assert (found[0], found[1].tolist()) == (3, [-1, 0, 1, 1, 1, 1])


def test_a_hop_of_two_slots_needs_them():
    prices = np.full((3, 3, 3), NONE)
    prices[:, 0, 1] = prices[:, 1, 2] = 1
    assert best_slots(prices, np.array([-1, 0, 1]), 3) is None
    assert cheaper_slots(prices, np.array([-1, 0, 1]), 3) is None
    assert grown_tree(prices, 0, 3) is None
    found = best_slots(prices, np.array([-1, 0, 1]), 2)
    assert found is not None
    assert (found[0], found[2].tolist()) == (2, [-1, 0, 2])


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
                assert price_of(prices, parent, found[2], gap) == pytest.approx(found[0])


def test_trees_are_mostly_of_the_least_price():
    """The search is a heuristic: never below the least price of all trees, often equal."""
    equal = 0
    for seed in range(20):
        prices = prices_at_random(seed)
        least = min(found[0] for tree in trees(4) if (found := best_slots(prices, tree, 1)))
        grown = grown_tree(prices, 0, 1)
        assert grown is not None
        before = price_of(prices, *grown[1:], 1)
        assert before == pytest.approx(grown[0])
        found = cheaper_slots(prices, grown[1], 1)
        assert found is not None
        price, parent, slot = found
        assert price == pytest.approx(price_of(prices, parent, slot, 1))
        assert least - 1e-12 <= price <= before + 1e-12
        equal += price == pytest.approx(least)
    assert equal >= 14


@pytest.mark.parametrize("gap", [1, 2, 3])
@pytest.mark.parametrize("ties", [False, True])
def test_native_trees_are_those_of_the_slow_twin(gap: int, ties: bool):
    """Tree by tree and slot by slot, also where whole prices make many trees equally cheap."""
    many = 0
    for seed in range(20):
        random = np.random.default_rng(seed)
        prices = prices_at_random(seed, slots=8, size=9)
        if ties:
            prices = np.floor(4 * prices)
        prices[random.random(prices.shape) < 0.5] = NONE
        root = int(random.integers(9))
        grown = grown_tree(prices, root, gap)
        assert_equal(grown, reference.grown_tree(prices, root, gap))
        if grown is None:
            continue
        many += 1
        for native, slow in (
            (best_slots, reference.best_slots),
            (cheaper_slots, reference.cheaper_slots),
        ):
            assert_equal(native(prices, grown[1], gap), slow(prices, grown[1], gap))
    assert many > 5


def assert_equal(
    found: tuple[float, Ints, Ints] | None, expected: tuple[float, Ints, Ints] | None
) -> None:
    assert (found is None) == (expected is None)
    if found is not None and expected is not None:
        assert found[0] == pytest.approx(expected[0])
        assert [one.tolist() for one in found[1:]] == [one.tolist() for one in expected[1:]]
