"""Exact widths and times of forests in slots."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from forestcoll.forest_over_time.slot_times import SlotTimes
from forestcoll.schedule import verify
from forestcoll.schedule.forest import Forest, Path, Routes
from forestcoll.schedule.time_plan import PARTS, Slots, TimePlan
from forestcoll.topology import Topology
from forestcoll.topology.shared_capacity import SharedCapacity
from tests.hand_networks import network_of
from tests.schedule.made.planned import path_forest, slots, slotted_path, slotted_sum, two_ways

ONE_SLOT = slots((0, PARTS, [-1, 0]))


def slots_in(forest: Forest) -> Slots:
    assert forest.plan is not None
    assert forest.plan.slots is not None
    return forest.plan.slots


def times(forest: Forest, rows: Slots, size: int, alpha: int = 0) -> tuple[Fraction, Fraction]:
    """Return width and time, which a proof confirms."""
    found = SlotTimes(forest, rows).at(size, Fraction(alpha))
    assert found is not None
    width, time = found
    plan = TimePlan(size, Fraction(alpha), time, replace(rows, width_us=width))
    assert verify(replace(forest, plan=plan)).plan_time_us == time
    return found


@pytest.mark.parametrize("forest", [slotted_path(), slotted_sum()])
def test_slots_are_as_wide_as_their_data_or_a_hop(forest: Forest):
    """1000 bytes a shard at 1 GB/s: 1 us, as a hop. The slower of data and hop counts."""
    rows = slots_in(forest)
    assert times(forest, rows, 3000) == (1, 3)
    assert times(forest, rows, 300) == (1, 3)
    assert times(forest, rows, 9000) == (3, 7)
    assert times(forest, rows, 3000, alpha=4) == (5, 15)


def test_a_hop_of_two_slots_takes_narrow_ones():
    """The hop of a to c two slots after that to b: half as wide as a hop, three of them."""
    rows = slots((0, PARTS, [-1, 0, 2]), (1, PARTS, [0, -1, 0]), (2, PARTS, [2, 0, -1]))
    assert times(path_forest(), rows, 300) == (Fraction(1, 2), Fraction(5, 2))


def test_amounts_of_one_slot_add_up():
    """GPU b sends its own shard in the second slot, too."""
    rows = slots((0, PARTS, [-1, 0, 1]), (1, PARTS, [1, -1, 1]), (2, PARTS, [1, 0, -1]))
    assert times(path_forest(), rows, 3000) == (2, 5)


def test_parts_of_a_tree_are_shared_out():
    """A third of b's shard waits for the second slot: 4/3 there, which has 1 of a and c each."""
    third = PARTS // 3
    rows = slots(
        (0, PARTS, [-1, 0, 1]),
        (1, 2 * third, [0, -1, 0]),
        (1, third, [1, -1, 1]),
        (2, PARTS, [1, 0, -1]),
    )
    assert times(path_forest(), rows, 3000) == (Fraction(4, 3), Fraction(11, 3))


def test_data_spread_over_the_paths_of_a_hop():
    """1000 bytes over each, and two links of 1 us."""
    assert times(two_ways(), ONE_SLOT, 2000) == (1, 3)


def test_a_hop_in_the_slot_of_the_one_before_is_refused():
    rows = slots((0, PARTS, [-1, 0, 0]), (1, PARTS, [0, -1, 0]), (2, PARTS, [1, 0, -1]))
    assert SlotTimes(path_forest(), rows).at(3000, Fraction(0)) is None


def test_data_that_reach_a_link_unequally_late_are_refused():
    def over(late: int) -> Forest:
        network = network_of(
            "a b [v] [w] [x]", f"a - v: 1 1, a - w: 1 {late}, v - x: 1 1, w - x: 1 1, x - b: 2 1"
        )
        forest = replace(two_ways(network), congestion=Fraction(1))
        routes = replace(forest.routes, first_hop=np.array([0, 4, 8]))
        hop = np.array([0, 2, 4, 1, 0, 3, 4, 1], dtype=np.int32)
        return replace(forest, routes=replace(routes, hop=hop))

    assert SlotTimes(over(2), ONE_SLOT).at(2000, Fraction(0)) is None
    assert times(over(1), ONE_SLOT, 2000) == (1, 4)


def test_shared_capacities_are_links_together():
    """Both links of a share 1/2 GB/s: 2000 bytes take 4 us. Unlike delays are refused."""

    def sharing(network: Topology, *ends: tuple[int, int]) -> Forest:
        group = SharedCapacity("riser", ends, Fraction(1, 2))
        return replace(two_ways(replace(network, shared=(group,))), congestion=Fraction(4))

    network = network_of("a b [v] [w]", "a - v: 1 1, v - b: 1 1, a - w: 1 1, w - b: 1 1")
    assert times(sharing(network, (0, 2), (0, 3)), ONE_SLOT, 2000) == (4, 6)
    assert SlotTimes(sharing(network, (0, 2), (3, 1)), ONE_SLOT).at(2000, Fraction(0)) is None


def test_too_many_trees_to_add_up_are_refused():
    many = 2**41
    forest = path_forest()
    routes = replace(forest.routes, multiplicity=forest.routes.multiplicity * many)
    forest = replace(forest, k=many, multiplicity=forest.multiplicity * many, routes=routes)
    assert SlotTimes(forest, slots_in(slotted_path())).at(3000, Fraction(0)) is None


def test_the_first_of_the_hops_that_wait_counts():
    """GPU b sends to c one slot and to d two slots after it got data: slots of a hop, three."""
    network = network_of("a b c d", "a - b: 1 1, b - c: 1 1, b - d: 1 1")
    hops = {(0, 1): 1, (1, 2): 1, (1, 3): 1}
    forest = Forest(
        topology=network,
        method="by hand",
        k=1,
        congestion=Fraction(1),
        root=np.array([0], dtype=np.int32),
        multiplicity=np.ones(1, dtype=np.int64),
        parent=np.array([[-1, 0, 1, 1]], dtype=np.int32),
        routes=Routes.from_paths({ends: (Path(ends, many),) for ends, many in hops.items()}),
        weights=(1, 0, 0, 0),
    )
    assert times(forest, slots((0, PARTS, [-1, 0, 1, 2])), 10) == (1, 4)
