"""Plans as data."""

from forestcoll.runtimes.mscclpp import COLLECTIVES, KINDS, Operation, Span
from forestcoll.schedule.steps import COLLECTIVES as OURS


def test_every_collective_of_ours_has_a_name_in_plans() -> None:
    assert set(COLLECTIVES.values()) == set(OURS)


def test_an_operation_has_one_part_and_no_channel_by_default() -> None:
    copy = Operation("copy", (Span("i", 0, 1),), (Span("o", 0, 1),))
    assert (copy.part, copy.parts, copy.channels, copy.loop) == (0, 1, (), None)
    assert copy.kind in KINDS
