"""Trees of both phases in the same slots."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np
import pytest

from forestcoll.forest_over_time.common_slots.common_program import CommonProgram
from forestcoll.forest_over_time.slot_program import ColumnSearch, SlottedTree
from forestcoll.forest_over_time.timed_trees import TimedTree
from forestcoll.topology import load_topology
from forestcoll.topology.shared_capacity import SharedCapacity
from tests.forest_over_time.common_slots.on_common_path import of_middle
from tests.forest_over_time.on_paths import Parts, columns_of_path, path_of_three
from tests.hand_networks import network_of


def program() -> CommonProgram:
    parts, _ = columns_of_path()
    return CommonProgram(parts.hops, parts.orbits, parts.limits)


def test_the_middle_of_a_path_sums_up_in_two_slots():
    """Both ends send to b in the first slot, b sends to both in the second."""
    plan = program().solved(2, 1, [])
    assert plan is not None
    assert plan.value == pytest.approx(1)
    assert [one for one, _ in plan.moves] == [of_middle(1)]


def test_sums_leave_while_others_are_made():
    """In three slots b sums up in the first two, and sends in the last two."""
    plan = program().solved(3, 1, [])
    assert plan is not None
    assert plan.value == pytest.approx(2)
    assert {one: pytest.approx(amount) for one, amount in plan.moves} == {
        of_middle(1): 1,
        of_middle(2): 1,
    }


@pytest.mark.parametrize(("slots", "gap", "value"), [(4, 2, 2), (5, 2, 3), (3, 2, 1), (6, 1, 5)])
def test_sums_leave_as_many_slots_later_as_a_hop_takes(slots: int, gap: int, value: int):
    """What is sent to b in the last slots but g, or in the first ones, is of no use: K - g."""
    plan = program().solved(slots, gap, [])
    assert plan is not None
    assert plan.value == pytest.approx(value)


def test_too_few_slots():
    assert program().solved(1, 1, []) is None
    assert program().solved(2, 2, []) is None


def test_links_are_full_in_both_directions():
    """On a ring of three each GPU may send and receive 2 a slot; all data pass twice.

    In each of two slots six links carry 1: 12 for 3 sums of 2 transfers and 2 more: 3 at most.
    """
    parts = Parts.of(network_of("a b c", "a - b: 1 1, b - c: 1 1, c - a: 1 1"))
    plan = CommonProgram(parts.hops, parts.orbits, parts.limits).solved(2, 1, [])
    assert plan is not None
    assert plan.value == pytest.approx(3)


def test_shared_capacities_carry_both_phases():
    """A bus of 1 GB/s: two links of it are in use in each slot."""
    network = path_of_three()
    bus = SharedCapacity("bus", ((0, 1), (2, 1), (1, 0), (1, 2)), Fraction(1))
    parts = Parts.of(replace(network, shared=(bus,)))
    plan = CommonProgram(parts.hops, parts.orbits, parts.limits).solved(2, 1, [])
    assert plan is not None
    assert plan.value == pytest.approx(0.5)


def test_roots_of_little_latency_sum_up_more_on_mi250():
    """Seven slots are too few for roots at the edge of the box; those in its middle take all."""
    parts = Parts.of(load_topology("mi250:boxes=1"), alpha_us=10)
    plan = CommonProgram(parts.hops, parts.orbits, parts.limits).solved(7, 1, [])
    assert plan is not None
    roots = {parts.orbits[one.orbit].roots[0] for one, _ in plan.moves}
    assert roots == {1}


def test_trees_are_found_in_the_order_of_their_price():
    """A tree's loads, of all roots of its orbit, with its wait: what the linear program asks for.

    So trees of different first slots compare as they do there.
    """
    parts = Parts.of(load_topology("mi250:boxes=1"), alpha_us=10)
    program = CommonProgram(parts.hops, parts.orbits, parts.limits)
    search = program._search(8, 1)
    search.priced()
    for _ in range(6):
        search.solve()
        search.priced()
    search.solve()
    hops = [parts.hops.hops(one) for one in search.of_links(program.link_prices(search._links))]
    prices = np.stack([one.cost for one in hops])
    prices[:, range(16), range(16)] = np.inf
    root, waits = parts.orbits[1].roots[0], 0
    parents = [np.array(one.tree.parent) for one, _ in search.in_use(1.0) if one.orbit == 1]
    for price, parent, slot in search.improved(1, prices, parents):
        tree = TimedTree.of(hops[0], root, parent)
        one = SlottedTree(1, tree, tuple(slot.tolist()))
        loads = float((program.rows(search.loads(one)) * search._links).sum())
        everything = search._data * search._sizes[1]
        assert price == pytest.approx(loads + everything - search.brings(one), abs=1e-6)
        waits += search.brings(one) != everything
    assert waits


@dataclass
class Tried:
    """First slots and trees that a search of one phase was asked to improve."""

    begins: list[int] = field(default_factory=list)
    parents: list[list[tuple[int, ...]]] = field(default_factory=list)


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch) -> Tried:
    """The search of one phase answers with the path from a, in its first two slots, for 3."""
    found = Tried()

    def improved(
        _: ColumnSearch, place: int, prices: np.ndarray, parents: Sequence[np.ndarray]
    ) -> Iterator[tuple[float, np.ndarray, np.ndarray]]:
        del place
        found.begins.append(int(prices[0, 0, 0]))
        found.parents.append([tuple(one.tolist()) for one in parents])
        yield 3.0, np.array([-1, 0, 1]), np.array([-1, 0, 1])

    monkeypatch.setattr(ColumnSearch, "improved", improved)
    return found


def improved_trees(
    slots: int, gap: int, waits: dict[tuple[int, int], float], place: int, trees: Sequence[int] = ()
) -> list[tuple[float, list[int], list[int]]]:
    """What a search finds whose sums have these prices, by orbit and moment.

    The price of a hop is the number of its slot, and trees are named by a number.
    """
    search = program()._search(slots, gap)
    for at, price in waits.items():
        search._waits[at] = price
    prices = np.arange(slots, dtype=float)[:, None, None] * np.ones((slots, 3, 3))
    parents = [np.array([-1, 0, one]) for one in trees]
    found = search.improved(place, prices, parents)
    return [(price, parent.tolist(), slot.tolist()) for price, parent, slot in found]


def test_trees_begin_where_sums_have_another_price(tried: Tried) -> None:
    """In the first slot and the middle; after a moment with a price, and when sums are in time."""
    improved_trees(7, 1, {}, 0)
    assert tried.begins == [0, 4]
    tried.begins.clear()
    improved_trees(7, 1, {(0, 1): 0.5, (1, 2): 9.0}, 0)
    assert tried.begins == [0, 2, 4, 6]  # the price of the other orbit does not count
    tried.begins.clear()
    improved_trees(8, 2, {(0, 3): 0.5, (0, 1): 0.5}, 0)
    assert tried.begins == [0, 2, 4, 5, 6]  # 8 - 1 + 2 - 1 is none of 8 slots


def test_each_distinct_tree_is_improved_for_a_few_first_slots(tried: Tried) -> None:
    """Ten in all: five trees for two first slots, one where there are more than ten."""
    improved_trees(7, 1, {}, 0, [5, 5, 4, 3, 4, 2, 1, 0])
    assert tried.parents == [[(-1, 0, one) for one in (5, 4, 3, 2, 1)]] * 2
    tried.parents.clear()
    improved_trees(7, 1, {(0, 1): 1.0}, 0, [5, 4, 3])
    assert tried.parents == [[(-1, 0, 5), (-1, 0, 4)]] * 4
    tried.parents.clear()
    improved_trees(24, 1, {(0, moment): 1.0 for moment in range(12)}, 0, [5, 4, 3])
    assert tried.parents == [[(-1, 0, 5)]] * 24


def test_found_trees_are_moved_to_their_first_slots_at_the_price_of_all_roots(tried: Tried) -> None:
    """Both ends pay 3 each, b alone 3; what a sum pays until a moment, one in time for it gets."""
    found = improved_trees(7, 1, {(0, 1): 0.5, (1, 2): 9.0}, 0)
    slots = [[-1, begin, begin + 1] for begin in (0, 2, 4, 6)]
    assert found == [
        (price, [-1, 0, 1], at) for price, at in zip((6.5, 6, 6, 5.5), slots, strict=True)
    ]
    found = improved_trees(7, 1, {(0, 1): 0.5, (1, 2): 9.0}, 1)
    assert [(price, at[1]) for price, _, at in found] == [(12, 0), (3, 3), (3, 4), (-6, 5)]


def test_a_tree_is_worth_the_data_of_all_roots_of_its_orbit() -> None:
    """Two ends and a middle: a column of the ends delivers twice as much, at the price of both."""
    search = program()._search(3, 1)
    search._data = 4.0
    columns = columns_of_path()[1]
    ends = SlottedTree(0, columns[0].tree, (-1, 0, 1))
    assert (search.brings(ends), search.brings(of_middle(1))) == (8, 4)
    rows, _, _ = search.deliveries([of_middle(1), ends])
    assert rows[0].tolist() == [1, 2, -1]
