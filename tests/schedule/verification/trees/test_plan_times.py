"""Time plans, proved or refused."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from forestcoll import generate
from forestcoll.schedule import Allreduce, verify
from forestcoll.schedule.forest import Forest
from forestcoll.schedule.time_plan import PARTS
from forestcoll.topology.shared_capacity import SharedCapacity
from tests.hand_networks import network_of
from tests.schedule.made.planned import (
    at_rates,
    path_forest,
    slots,
    slotted_path,
    slotted_sum,
    two_ways,
    with_plan,
)
from tests.schedule.verification.rejecting import rejected


def with_rows(forest: Forest, **changes: Any) -> Forest:
    assert forest.plan is not None
    assert forest.plan.slots is not None
    return replace(forest, plan=replace(forest.plan, slots=replace(forest.plan.slots, **changes)))


def with_numbers(forest: Forest, **changes: Any) -> Forest:
    assert forest.plan is not None
    return replace(forest, plan=replace(forest.plan, **changes))


def with_slot(forest: Forest, row: int, rank: int, slot: int) -> Forest:
    assert forest.plan is not None
    assert forest.plan.slots is not None
    table = forest.plan.slots.slot.copy()
    table[row, rank] = slot
    return with_rows(forest, slot=table)


@pytest.mark.parametrize("forest", [slotted_path(), slotted_sum()])
def test_plans_in_slots_are_proved(forest: Forest):
    """Two slots of 1 us, and 1 us of latency."""
    assert verify(forest).plan_time_us == 3


def test_constant_rates_are_proved():
    """On b -> a 1 / (4 - 2) + 1 / (4 - 1) = 5/6 GB/s; at 7/2 us 2/3 + 2/5 is too much."""
    assert verify(at_rates()).plan_time_us == 4
    assert rejected(with_numbers(at_rates(), time_us=Fraction(7, 2))) == (
        "link b -> a carries 16/15 GB/s by the plan; its bandwidth is 1 GB/s"
    )


def test_exactly_the_bandwidth_is_enough():
    """One tree of latency 2 us: 3 us leave 1 us for 1000 bytes."""
    network = network_of("a b [v]", "a b - v: 1 1")
    forest = two_ways(network, multiplicity=1)
    assert verify(with_plan(forest, None, size_bytes=1000)).plan_time_us == 3
    assert "carries 1001/1000 GB/s" in rejected(with_plan(forest, None, size_bytes=1001))


def test_alpha_counts_for_gpus_that_send():
    """Each hop is 1 us later, so a's data reach c in 4 us at the earliest."""
    assert rejected(with_numbers(at_rates(), alpha_us=Fraction(1))) == (
        "the plan ends at 4 us, but tree 0, rooted at a has a latency of 4 us"
    )
    assert "begins before" in rejected(with_numbers(slotted_path(), alpha_us=Fraction(1)))


def test_hops_wait_for_their_data():
    assert rejected(with_slot(slotted_path(), 0, 2, 0)) == (
        "row 0 of the plan: the hop to c in slot 0 begins before the first data that b gets in "
        "slot 0 have arrived"
    )
    assert rejected(with_slot(slotted_sum(), 0, 1, 0)) == (
        "row 0 of the plan: the hop from b in slot 0 begins before the first data that b gets in "
        "slot 0 have arrived"
    )


def test_narrow_slots_are_too_soon():
    """A slot of 1/2 us, and a hop of 1 us; two slots later it is in time."""
    assert "begins before" in rejected(with_rows(slotted_path(), width_us=Fraction(1, 2)))
    late = with_numbers(slotted_path(), size_bytes=1500, time_us=Fraction(5, 2))
    rows = np.array([[-1, 0, 2], [0, -1, 0], [2, 0, -1]], dtype=np.int32)
    assert verify(with_rows(late, width_us=Fraction(1, 2), slot=rows)).plan_time_us == Fraction(
        5, 2
    )


def test_links_carry_no_more_than_they_can():
    """GPU b sends its own data in the second slot, too: 2 GB/s over a link of 1."""
    both = with_slot(with_slot(slotted_path(), 1, 0, 1), 1, 2, 1)
    assert rejected(both) == (
        "link b -> a carries 2 GB/s from 1 us on by the plan; its bandwidth is 1 GB/s"
    )


def test_the_time_stated_is_that_of_the_last_data():
    for time in (2, 4):
        assert rejected(with_numbers(slotted_path(), time_us=Fraction(time))) == (
            f"the plan ends at {time} us, but its last data arrive at 3 us"
        )


def test_data_spread_over_the_paths_of_a_hop():
    """1000 bytes over each of two ways: 1 us, and 2 us of latency."""
    rows = slots((0, PARTS, [-1, 0]))
    assert verify(with_plan(two_ways(), rows, size_bytes=2000)).plan_time_us == 3
    message = rejected(with_plan(two_ways(), rows, size_bytes=2002))
    assert "link a -> v carries 1001/1000 GB/s from 0 us on" in message


def test_parts_in_different_slots_share_no_link():
    """Half of the data in each of two slots of half the width."""
    half = PARTS // 2
    forest = with_plan(
        two_ways(),
        slots((0, half, [-1, 0]), (0, half, [-1, 1]), width=Fraction(1, 2)),
        size_bytes=2000,
    )
    assert verify(forest).plan_time_us == 3
    both = with_numbers(with_slot(forest, 1, 1, 0), time_us=Fraction(5, 2))
    assert "carries 2 GB/s" in rejected(both)


def test_slots_of_a_link_overlap_if_data_reach_it_unequally_late():
    """By w data reach x 1 us later than by v: first v's alone, then both ways', then w's.

    A width of 1 us for 1000 bytes by each; x -> b has 1 GB/s, or 2 GB/s if the ways are as long.
    """
    ways = "a - v: 1 1, a - w: 1 {}, v - x: 1 1, w - x: 1 1, x - b: {} 1"

    def over(late: int, wide: int, width: Fraction | int) -> Forest:
        network = network_of("a b [v] [w] [x]", ways.format(late, wide))
        forest = two_ways(network)
        routes = replace(forest.routes, first_hop=np.array([0, 4, 8]))
        routes = replace(routes, hop=np.array([0, 2, 4, 1, 0, 3, 4, 1], dtype=np.int32))
        forest = replace(forest, routes=routes, congestion=Fraction(2, wide))
        rows = slots((0, PARTS, [-1, 0]), width=width)
        return with_plan(forest, rows, time=late + 2 + width, size_bytes=2000)

    assert verify(over(2, 1, 1)).plan_time_us == 5
    assert "link x -> b carries 2 GB/s from 2 us on" in rejected(over(1, 1, 1))
    assert "link x -> b carries 1 GB/s" not in rejected(over(1, 1, 1))
    assert verify(over(1, 2, 1)).plan_time_us == 4


def test_shared_capacities_are_links_together():
    """The links of a share 3/2 GB/s: 2 GB/s by the slots; 1 + 1 / 2 by rates, until 3 us."""
    network = network_of("a b [v] [w]", "a - v: 1 1, v - b: 1, a - w: 1, w - b: 1")
    shared = SharedCapacity("riser", ((0, 2), (0, 3)), Fraction(3, 2))
    forest = replace(two_ways(replace(network, shared=(shared,))), congestion=Fraction(4, 3))
    in_slots = with_plan(forest, slots((0, PARTS, [-1, 0])), time=2, size_bytes=2000)
    assert "shared capacity 'riser' carries 2 GB/s from 0 us on" in rejected(in_slots)
    assert verify(with_plan(forest, None, size_bytes=3000)).plan_time_us == 3
    assert "'riser' carries 3001/2000 GB/s" in rejected(with_plan(forest, None, size_bytes=3001))


def test_all_parts_of_every_tree_are_sent():
    assert rejected(with_rows(slotted_path(), parts=np.array([PARTS, PARTS - 1, PARTS]))) == (
        "the plan sends 720719 parts of tree 1, rooted at b; all of its data are 720720 parts"
    )


def test_all_hops_have_a_slot_and_roots_have_none():
    assert rejected(with_slot(slotted_path(), 0, 2, -1)) == "row 0 of the plan: c must have a slot"
    assert rejected(with_slot(slotted_path(), 0, 0, 0)) == (
        "row 0 of the plan: a must have no slot, as the root"
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tree": np.array([0, 1, 3])}, "array plan.tree holds 3; its values lie between 0 and 2"),
        ({"tree": np.array([[0, 1, 2]])}, "array plan.tree is"),
        ({"parts": np.array([PARTS, 0, PARTS])}, "array plan.parts holds 0"),
        ({"parts": np.array([PARTS + 1, PARTS, PARTS])}, "array plan.parts holds"),
        ({"slot": np.zeros((3, 2), dtype=np.int32)}, "array plan.slot has shape"),
        ({"slot": np.full((3, 3), -2)}, "array plan.slot holds -2"),
        ({"slot": np.full((3, 3), 2**21)}, "array plan.slot holds 2097152"),
        ({"width_us": Fraction(0)}, "the width of a slot is Fraction"),
        ({"width_us": 1}, "the width of a slot is 1"),
    ],
)
def test_arrays_are_checked_first(change: dict[str, Any], message: str):
    assert rejected(with_rows(slotted_path(), **change)).startswith(message)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"size_bytes": 0}, "the plan is for 0 bytes"),
        ({"size_bytes": True}, "the plan is for True bytes"),
        ({"alpha_us": 1}, "the alpha of the plan is 1;"),
        ({"alpha_us": Fraction(-1)}, "the alpha of the plan is Fraction"),
        ({"time_us": 3}, "the time of the plan is 3;"),
        ({"time_us": Fraction(-1)}, "the time of the plan is Fraction"),
    ],
)
def test_numbers_are_checked_first(change: dict[str, Any], message: str):
    assert rejected(with_numbers(slotted_path(), **change)).startswith(message)


def test_too_many_trees_to_add_up_are_refused():
    many = 2**41
    forest = path_forest()
    hops = replace(forest.routes, multiplicity=forest.routes.multiplicity * many)
    forest = replace(
        forest,
        k=many,
        multiplicity=forest.multiplicity * many,
        routes=hops,
        congestion=Fraction(2 * many),
    )
    verify(forest)
    assert "too many to add up" in rejected(with_plan(forest, None))


def test_phases_have_plans_for_one_size_or_none():
    both = Allreduce(slotted_sum(), slotted_path())
    assert verify(both).plan_time_us == 6
    faster = with_plan(path_forest(), None, time=5, alpha_us=Fraction(1, 2))
    for other in (path_forest(), with_numbers(at_rates(), size_bytes=2999), faster):
        assert "unlike sizes" in rejected(replace(both, gather=other))  # type: ignore[arg-type]


def test_a_single_gpu_has_no_plan():
    alone = generate(network_of("a", "")).forest
    assert "leave the plan out" in rejected(with_plan(alone, None))


@pytest.mark.parametrize("size", [1_000_000, 16_000_000])
@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter"])
def test_made_plans_are_tight(size: int, collective: str):
    """A plan that was made is proved; one of a byte more in its time is not."""
    forest = generate("dgx_a100:boxes=2", collective=collective, size=size).forest
    assert forest.plan is not None
    assert verify(forest).plan_time_us == forest.plan.time_us
    assert "by the plan; its bandwidth" in rejected(
        with_numbers(forest, size_bytes=size * 21 // 20)
    )
