"""Crossings between boxes: the cheapest, against a search of all pairs."""

import random
from collections.abc import Callable, Mapping
from itertools import pairwise

import pytest

from baselines.networks.ring_crossings import Crossings

Ends = tuple[int, int]
HUB, OTHER = 100, 101


def through_a_hub(tail: int, head: int) -> list[int]:
    return [tail, HUB, head]


def sharing_a_link(tail: int, head: int) -> list[int]:
    """Even ends meet at the hub; all others take two switches, and so a link in common."""
    return [tail, HUB, head] if tail % 2 == head % 2 == 0 else [tail, HUB, OTHER, head]


def crossings_of(path: Callable[[int, int], list[int]], joined: Callable[..., bool]) -> Crossings:
    def hops(tail: int, head: int) -> int:
        return len(path(tail, head)) - 1 if joined(tail, head) else 0

    def shares(ends: Ends) -> Mapping[Ends, int]:
        return dict.fromkeys(pairwise(path(*ends)), 840)

    def onward(tail: int, head: int) -> int | None:
        return HUB if path is through_a_hub else None

    return Crossings(range(4), range(10, 15), hops, shares, onward, int)


def everywhere(tail: int, head: int) -> bool:
    return True


def own_rail(tail: int, head: int) -> bool:
    return tail == head - 10


@pytest.mark.parametrize("path", [through_a_hub, sharing_a_link])
@pytest.mark.parametrize("joined", [everywhere, own_rail])
@pytest.mark.parametrize("seed", range(4))
def test_no_tail_is_cheaper(
    path: Callable[[int, int], list[int]], joined: Callable[[int, int], bool], seed: int
) -> None:
    """The first of the tails with the least price up to it and over the links of the crossing."""
    chance = random.Random(seed)
    crossings = crossings_of(path, joined)
    cost = {link: chance.randint(0, 3) for part in crossings.parts for link in part.shares}
    for part in crossings.parts:
        part.reprice(sum(cost[link] for link in part.shares))
    left = {tail: chance.randint(0, 2) for tail in range(4) if chance.random() < 0.8}

    def price(tail: int, head: int) -> int:
        return sum(cost[link] for link in pairwise(path(tail, head)))

    expected = []
    for head in range(10, 15):
        ways = [(left[t] + price(t, head), t) for t in range(4) if t in left and joined(t, head)]
        if ways:
            least, tail = min(ways)
            expected.append((least, tail, head))
    prices = {tail: (up_to, None) for tail, up_to in left.items()}
    assert sorted(crossings.cheapest(prices)) == sorted(expected)


def test_a_hub_needs_a_part_for_each_end_alone() -> None:
    """4 tails and 5 heads; with a link that not all crossings have, 5 times 4 and 5 empty parts."""
    assert len(list(crossings_of(through_a_hub, everywhere).parts)) == 9
    assert len(list(crossings_of(sharing_a_link, everywhere).parts)) == 25


def test_ends_behind_the_same_switch_need_the_load_of_one_crossing_each() -> None:
    """Of 4 x 5 crossings, those of each tail to the last head, and of the first tail to each head.

    Without such a switch all are compared, with the same parts.
    """
    asked: set[Ends] = set()

    def shares(ends: Ends) -> Mapping[Ends, int]:
        asked.add(ends)
        return dict.fromkeys(pairwise(through_a_hub(*ends)), 840)

    ends = range(4), range(10, 15)
    fast = Crossings(*ends, lambda *_: 2, shares, lambda *_: HUB, int)
    assert len(asked) == 4 + 5 - 1
    slow = Crossings(*ends, lambda *_: 2, shares, lambda *_: None, int)
    assert len(asked) == 4 * 5
    assert [part.shares for part in fast.parts] == [part.shares for part in slow.parts]


def test_heads_are_in_the_order_in_which_tails_reach_them() -> None:
    found = crossings_of(through_a_hub, own_rail).cheapest(
        {3: (0, None), 1: (0, None), 0: (0, None)}
    )
    assert [head for _, _, head in found] == [10, 11, 13]
    assert crossings_of(through_a_hub, own_rail).cheapest({}) == []


@pytest.mark.parametrize("path", [through_a_hub, sharing_a_link])
@pytest.mark.parametrize("joined", [everywhere, own_rail])
@pytest.mark.parametrize("seed", range(8))
def test_two_tails_and_heads_are_enough_where_all_tails_but_one_have_one_price(
    path: Callable[[int, int], list[int]], joined: Callable[[int, int], bool], seed: int
) -> None:
    """Few prices, so that many are equal: the same ways, and the same two of least price."""
    chance = random.Random(seed)
    crossings = crossings_of(path, joined)
    for part in crossings.parts:
        part.reprice(chance.randint(0, 2))
    for own in range(4):
        left = {tail: (5 + (tail == own) * chance.randint(0, 2), None) for tail in range(4)}
        found = crossings.cheapest(left)
        narrowed = crossings.narrowed(heads=False)
        assert narrowed.tails <= crossings.tails == set(range(4))
        some = {tail: up_to for tail, up_to in left.items() if tail in narrowed.tails}
        assert narrowed.cheapest(some) == found
        least = sorted(range(len(found)), key=lambda i: found[i][0])[:2]
        few = crossings.narrowed(heads=True).cheapest(some)
        assert [few[i] for i in sorted(range(len(few)), key=lambda i: few[i][0])[:2]] == [
            found[i] for i in least
        ]


def test_gpus_of_equal_kinds_are_asked_once() -> None:
    """Even and odd GPUs on rails of their own: 2 x 2 questions for 4 x 5 crossings, same parts."""
    asked: list[Ends] = []

    def hops(tail: int, head: int) -> int:
        asked.append((tail, head))
        return 2 * (tail % 2 == head % 2)

    def shares(ends: Ends) -> Mapping[Ends, int]:
        return dict.fromkeys(pairwise([ends[0], HUB + ends[0] % 2, ends[1]]), 840)

    def onward(tail: int, head: int) -> int:
        return HUB + tail % 2

    ends = range(4), range(10, 15)
    found = [
        Crossings(*ends, hops, shares, onward, kind) for kind in (lambda gpu: gpu % 2, lambda g: g)
    ]
    few, all_ = ([part.shares for part in crossings.parts] for crossings in found)
    assert few == all_
    assert len(few) == 4 + 5
    assert len(asked) == (2 * 2 + 5) + (4 * 5 + 5)  # and once for each head, for its part
