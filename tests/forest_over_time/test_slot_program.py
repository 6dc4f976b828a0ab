"""Trees whose hops wait for their slot."""

import numpy as np
import pytest

from forestcoll.forest_over_time import slot_program
from forestcoll.forest_over_time.slot_program import SlotProgram, SlottedTree, loads_in_slots
from forestcoll.solver.linear_program import Place, Program, Settings, Solution
from forestcoll.topology import load_topology
from tests.forest_over_time.on_paths import Parts, columns_of_path
from tests.hand_networks import network_of


def program_of(parts: Parts) -> SlotProgram:
    return SlotProgram(parts.hops, parts.orbits, parts.limits)


def test_the_path_of_three_in_two_slots():
    """The middle sends its own shard in the first slot, and those of the ends in the second.

    Slots are 1 us wide and the last hop takes 1 us: T = 3, which no schedule is below.
    """
    parts, (of_ends, of_middle) = columns_of_path()
    plan = program_of(parts).solved(2, 1, [])
    assert plan is not None
    assert plan.value == pytest.approx(1)
    assert {one for one, _ in plan.moves} == {
        SlottedTree(0, of_ends.tree, (-1, 0, 1)),
        SlottedTree(1, of_middle.tree, (0, -1, 0)),
    }
    assert [amount for _, amount in plan.moves] == pytest.approx([1, 1])


def test_too_few_slots_for_a_tree():
    parts, _ = columns_of_path()
    program = program_of(parts)
    assert program.solved(1, 1, []) is None
    assert program.solved(2, 2, []) is None


def test_a_hop_of_two_slots_waits_that_long():
    """In three slots, two for each hop, the ends can send in the first one only."""
    parts, _ = columns_of_path()
    plan = program_of(parts).solved(3, 2, [])
    assert plan is not None
    assert all(one.slots == (-1, 0, 2) for one, _ in plan.moves if one.orbit == 0)
    assert plan.value == pytest.approx(1)


def test_waiting_trees_are_found_by_their_prices():
    """No link is ever idle but in the first and the last slot: four slots bring 2."""
    parts, _ = columns_of_path()
    plan = program_of(parts).solved(4, 1, [])
    assert plan is not None
    assert plan.value == pytest.approx(2)
    loads = sum(
        loads_in_slots(parts.hops, parts.orbits, 4, one) * amount for one, amount in plan.moves
    )
    assert np.max(loads) <= 1 + 1e-9


def test_hops_of_equal_depth_have_slots_of_their_own():
    """A sends to b first, which leads on to d, and then to c: its port is full in both slots."""
    network = network_of("a b c d [v]", "a > v: 1 1, v > b c: 1 0, b > d: 1 1")
    parts = Parts.of(network, weights=(1, 0, 0, 0))
    plan = program_of(parts).solved(2, 1, [])
    assert plan is not None
    assert plan.value == pytest.approx(1)
    assert [one.slots for one, _ in plan.moves] == [(-1, 0, 1, 1)]


def test_a_search_ends_at_the_value_that_is_wanted():
    parts, _ = columns_of_path()
    program = program_of(parts)
    (first, second) = (program.solved(8, 1, [], wanted) for wanted in (0.5, np.inf))
    assert first is not None
    assert second is not None
    assert 0.5 <= first.value < second.value == pytest.approx(4)


def test_a_search_can_be_stopped():
    def stop() -> None:
        raise TimeoutError

    parts, _ = columns_of_path()
    with pytest.raises(TimeoutError):
        program_of(parts).solved(4, 1, [], report=stop)


def test_loads_are_counted_in_the_slot_of_each_hop():
    """Those of the tree of a and of its image at c: links ab, bc and cb, ba."""
    parts, (of_ends, _) = columns_of_path()
    loads = loads_in_slots(parts.hops, parts.orbits, 3, SlottedTree(0, of_ends.tree, (-1, 0, 2)))
    assert loads.tolist() == [[1, 0, 0, 1], [0, 0, 0, 0], [0, 1, 1, 0]]


def test_link_classes_are_links_of_equal_loads():
    """Those of each direction of a ring. The tree of the middle of a path has no images."""
    ring = Parts.of(network_of("a b c d", "a - b, b - c, c - d, d - a"))
    assert program_of(ring).link_classes == 2
    parts, _ = columns_of_path()
    assert program_of(parts).link_classes == 4


def test_each_program_begins_with_the_basis_before(monkeypatch: pytest.MonkeyPatch):
    """Trees that are new carry nothing at first; those that are dropped leave the basis, too."""
    solved = slot_program.solve
    programs: list[Program] = []
    found: list[Solution] = []

    def remembered(program: Program, settings: Settings) -> Solution:
        programs.append(program)
        found.append(solved(program, settings))
        return found[-1]

    monkeypatch.setattr(slot_program, "solve", remembered)
    monkeypatch.setattr(slot_program, "_MOST_IDLE", 0)  # a tree without use is dropped at once
    parts = Parts.of(load_topology("mi250:boxes=1"), alpha_us=10)
    assert program_of(parts).solved(6, 1, []) is not None
    assert len(programs) > 5
    assert programs[0].start is None
    for program, before in zip(programs[1:], found, strict=False):
        start, basis = program.start, before.basis
        assert start is not None
        assert basis is not None
        kept = basis.columns[:-1][before.x[:-1] > 0].tolist()
        fresh = len(program.cost) - 1 - len(kept)
        assert fresh > 0
        assert start.columns.tolist() == [*kept, *[Place.LOWER] * fresh, basis.columns[-1]]
        assert start.rows.tolist() == basis.rows.tolist()


@pytest.mark.parametrize(("slots", "gap"), [(5, 1), (10, 2)])
def test_mi250_attains_the_bound_of_separate_flows(slots: int, gap: int):
    """Where each receiver has a flow of its own, a linear program delivers 93.75 in five slots.

    Twice as many slots of half the latency deliver twice as much.
    """
    parts = Parts.of(load_topology("mi250:boxes=1"), alpha_us=10)
    plan = program_of(parts).solved(slots, gap, [])
    assert plan is not None
    assert plan.value == pytest.approx(93.75 * gap, rel=0.01)
