"""Trees whose hops wait for their slot."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from forestcoll.forest_over_time.slot_program import SlotProgram
from tests.forest_over_time.on_paths import columns_of_path


def test_the_path_of_three_in_two_slots():
    """The middle sends its own shard in the first slot, and those of the ends in the second.

    Slots are 1 us wide and the last hop takes 1 us: T = 3, which no schedule is below.
    """
    parts, columns = columns_of_path()
    plan = SlotProgram(columns, parts.limits).solved(2, 1)
    assert plan is not None
    assert plan.value == pytest.approx(1)
    assert {(place, at) for place, at, _ in plan.moves} == {(0, (0, 1)), (1, (0,))}
    assert plan.carried(2) == pytest.approx([1, 1])


def test_too_few_slots_for_a_tree():
    parts, columns = columns_of_path()
    program = SlotProgram(columns, parts.limits)
    assert program.solved(1, 1) is None
    assert program.solved(2, 2) is None


def test_a_hop_of_two_slots_waits_that_long():
    """In three slots, two for each hop, the ends can send in the first one only."""
    parts, columns = columns_of_path()
    plan = SlotProgram(columns, parts.limits).solved(3, 2)
    assert plan is not None
    assert all(at == (0, 2) for place, at, _ in plan.moves if place == 0)
    assert plan.value == pytest.approx(1)


def test_waiting_trees_are_found_by_their_prices():
    """No link is ever idle but in the first and the last slot: four slots bring 2."""
    parts, columns = columns_of_path()
    plan = SlotProgram(columns, parts.limits).solved(4, 1)
    assert plan is not None
    assert plan.value == pytest.approx(2)
    loads = np.zeros((4, 4))
    for place, at, amount in plan.moves:
        for slot, row in zip(at, columns[place].of_depths, strict=True):
            loads[slot] += amount * row
    assert loads.max() <= 1 + 1e-9


def test_link_classes_are_links_of_equal_loads():
    parts, columns = columns_of_path()
    assert SlotProgram(columns, parts.limits).link_classes == 2
    narrow = replace(parts.limits, exact=tuple(map(Fraction, (1, 1, 1, 2))))
    assert SlotProgram(columns, narrow).link_classes == 3
