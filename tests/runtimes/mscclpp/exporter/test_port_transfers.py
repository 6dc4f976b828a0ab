"""Arrivals of transfers between boxes, by hand."""

from forestcoll.runtimes.mscclpp.exporter.data_actions import Action
from forestcoll.runtimes.mscclpp.exporter.port_transfers import Boxes, with_arrivals
from tests.runtimes.mscclpp.exporter.made_plans import actions, down, there_and_back

APART = Boxes((0, 1, 1))


def kinds(found: list[Action]) -> list[tuple[str, int]]:
    return [(one.kind, one.gpu) for one in found]


def test_boxes_are_apart_by_their_numbers() -> None:
    boxes = Boxes((0, 0, 1, None))
    assert boxes.are_apart(1, 2)
    assert not boxes.are_apart(0, 1)
    assert not boxes.are_apart(2, 3)
    assert not Boxes().are_apart(0, 5)


def test_a_broadcast_to_another_box_has_an_arrival_and_an_answer() -> None:
    """GPU 0 puts to GPU 1 of the other box, which sends on to GPU 2; GPU 0 waits for GPU 1."""
    made, _ = actions(down())
    found = with_arrivals(made, APART)
    (put,) = found.arrivals
    assert (put.gpu, put.target.gpu) == (0, 1)
    arrival = found.arrivals[put]
    answer = next(one for one in found.actions if one.kind == "end" and one.gpu == 0)
    assert (arrival.needs, answer.needs) == ([put], [arrival])
    forward = next(one for one in found.actions if one.kind == "put" and one.gpu == 1)
    assert forward.needs == [arrival]
    assert [one.level for one in (put, arrival, answer)] == [0, 1, 2]


def test_what_comes_back_is_an_answer() -> None:
    """The sum comes back to the sender, which so knows that its part has arrived."""
    made, _ = actions(there_and_back())
    found = with_arrivals(made, Boxes((0, 1)))
    assert len(found.arrivals) == 2
    first = next(put for put in found.arrivals if put.gpu == 1)
    ends = [one for one in found.actions if one.kind == "end" and one.gpu == first.gpu]
    assert found.arrivals[first] not in [need for one in ends for need in one.needs]


def test_within_a_box_nothing_changes() -> None:
    made, _ = actions(down())
    before = kinds(made)
    found = with_arrivals(made, Boxes((0, 0, 0)))
    assert kinds(found.actions) == before
    assert not found.arrivals
