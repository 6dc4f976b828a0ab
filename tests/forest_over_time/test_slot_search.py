"""The number and width of slots."""

from collections.abc import Iterable
from typing import cast

import pytest

from forestcoll.errors import TimeLimitError
from forestcoll.forest_over_time.slot_program import SlotPlan, SlotProgram, SlottedTree
from forestcoll.forest_over_time.slot_search import SlotSearch
from forestcoll.forest_over_time.timed_trees import TimedTree
from tests.forest_over_time.on_paths import columns_of_path


def plans(amount: float, best: float, good: float = 0) -> list[SlotPlan]:
    """Return the plans of the path of three, whose hops take 1 us."""
    parts, columns = columns_of_path()
    search = SlotSearch(SlotProgram(parts.hops, parts.orbits, parts.limits), 1)
    return list(search.plans(amount, best, good, [(one.orbit, one.tree) for one in columns]))


def times(found: list[SlotPlan], amount: float) -> list[float]:
    return [1 + one.slots * max(1 / one.gap, amount / one.value) for one in found]


def test_every_plan_takes_less_than_the_one_before():
    found = plans(10, best=100)
    taken = times(found, 10)
    assert sorted(taken, reverse=True) == taken
    assert len(set(taken)) == len(taken)


def test_the_last_plan_is_near_the_bound():
    """B sends 10 of its own and 10 of each end over one link: 1 + 20 us at least."""
    assert 21 <= times(plans(10, best=100), 10)[-1] <= 21.1


def test_shards_of_1_take_3_us():
    assert times(plans(1, best=3.6), 1)[-1] == pytest.approx(3)


def test_finer_slots_are_tried_for_small_data():
    """Hops of 1 us and nearly no data: 2.5 us with two slots a hop, or 2.33 with three."""
    found = plans(1e-3, best=3.1)
    assert [one.gap for one in found] == [1, 2, 3]
    assert times(found, 1e-3) == pytest.approx([3, 2.5, 7 / 3])


def test_the_finest_slots_are_tried_far_from_a_good_time():
    """Six slots a hop take 13/6 us; not where 7/3 us are within 3 % of a good time."""
    found = plans(1e-3, best=3.1, good=2.26)
    assert [one.gap for one in found] == [1, 2, 3, 6]
    assert times(found, 1e-3)[-1] == pytest.approx(13 / 6)
    assert [one.gap for one in plans(1e-3, best=3.1, good=2.27)] == [1, 2, 3]


def test_a_good_time_ends_the_search():
    assert [one.gap for one in plans(1e-3, best=3.1, good=3)] == [1]
    assert [one.gap for one in plans(1e-3, best=3.1, good=2.9)] == [1, 2]  # 2.5, not 7/3
    assert not plans(1e-3, best=2.8, good=2.9)
    assert not plans(1e-3, best=2.1)


class Recorded(SlotProgram):
    """A program of given value that records which slots are tried."""

    def __init__(self) -> None:
        self.tried: list[tuple[int, int]] = []

    @property
    def link_classes(self) -> int:
        return 1

    def solved(self, slots: int, gap: int, *_: object) -> SlotPlan | None:
        self.tried.append((slots, gap))
        return SlotPlan(slots, gap, slots / gap, ())


def test_finer_slots_of_the_same_time_are_tried():
    """Two slots must be 1.1 hops wide for 2.2: 3.2 us. Four slots of half a hop may do better."""
    program = Recorded()
    list(SlotSearch(program, 1).plans(2.2, 3.5, 1.5, []))
    assert program.tried[:3] == [(1, 1), (2, 1), (4, 2)]


class Narrow(Recorded):
    """A program of 7 slots of a hop or 14 of half a hop; one slot less must be wider."""

    def solved(self, slots: int, gap: int, *given: object) -> SlotPlan | None:
        del given
        widths = {(6, 1): 1.2, (7, 1): 0.98, (13, 2): 0.515, (14, 2): 0.49}
        return SlotPlan(slots, gap, 1 / widths.get((slots, gap), 10.0), ())


def test_slots_that_would_be_better_than_good_are_tried_if_narrow():
    """13 slots of half a hop would take 7.5 hops, less than a good time. 3 % wider they take 7.7.

    14 take 8 hops, as 7 slots of a hop do. A broadcast of 16 MB on four H100 boxes has such slots.
    """
    found = list(SlotSearch(Narrow(), 1, gaps=[1, 2]).plans(1, 10, 7.68, []))
    assert [(one.slots, one.gap) for one in found][-1] == (13, 2)
    assert times(found, 1)[-1] == pytest.approx(7.695)


class Counted(Recorded):
    """A program that records with how many trees each search begins."""

    def __init__(self) -> None:
        super().__init__()
        self.begun: list[int] = []

    def solved(self, slots: int, gap: int, *given: object) -> SlotPlan | None:
        (trees, *_) = given
        self.begun.append(len(list(cast("Iterable[SlottedTree]", trees))))
        tree = SlottedTree(0, TimedTree(0, (-1, 0), ((), (0, 1))), (-1, slots))
        return SlotPlan(slots, gap, slots / gap, ((tree, 1.0),))


def test_far_from_a_good_time_a_search_begins_anew():
    """The second amount begins with trees of the first one, then without; not near a good time."""
    program = Counted()
    search = SlotSearch(program, 1)
    list(search.plans(2.2, 3.5, 1.5, []))
    assert program.begun[0] == 0
    first = len(program.begun)
    list(search.plans(2.2, 3.5, 1.5, []))
    assert program.begun[first] > 0
    assert 0 in program.begun[first:]
    second = len(program.begun)
    list(search.plans(2.2, 3.5, 3.1, []))
    assert 0 not in program.begun[second:]


def test_a_time_limit_ends_the_plans_and_other_errors_stop_the_search():
    class Late(Recorded):
        """A program that is late at its second plan."""

        def __init__(self, error: Exception) -> None:
            super().__init__()
            self.error = error

        def solved(self, slots: int, gap: int, *given: object) -> SlotPlan | None:
            if self.tried:
                raise self.error
            return super().solved(slots, gap, *given)

    assert len(list(SlotSearch(Late(TimeLimitError("late")), 1).plans(2.2, 3.5, 1.5, []))) == 1
    with pytest.raises(ValueError, match="wrong"):
        list(SlotSearch(Late(ValueError("wrong")), 1).plans(2.2, 3.5, 1.5, []))


class Many(Recorded):
    """A program of 110 link classes, as a broadcast has on two MI250 boxes."""

    @property
    def link_classes(self) -> int:
        return 110


def test_more_link_classes_have_fewer_slots():
    """1500 rows are 13 slots of 110 link classes."""
    for program, most in ((Recorded(), 24), (Many(), 13)):
        list(SlotSearch(program, 1, gaps=[1]).plans(1e6, 1e9, 0, []))
        assert max(slots for slots, _ in program.tried) == most
