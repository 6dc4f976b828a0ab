"""Slots of packets that a later launch writes again."""

from dataclasses import replace

import pytest

from forestcoll.runtimes.interpretation.findings import Kind
from forestcoll.runtimes.mscclpp import Plan
from forestcoll.runtimes.mscclpp.interpreter import interpret_plan
from tests.runtimes.mscclpp.interpreter.hand_plans import messages
from tests.runtimes.mscclpp.interpreter.style_plans import (
    forwarded_gather,
    packet_gather,
    packet_sum,
    single_scratch,
)
from tests.schedule.made.run_mscclpp import RIGHT, carried_out


def one_half(plan: Plan) -> Plan:
    return replace(plan, double_scratch=False)


def test_without_a_second_half_a_slot_is_written_too_early() -> None:
    """The other may be a launch ahead; with two halves, it is at most one ahead."""
    assert interpret_plan(packet_gather()).findings == ()
    first, _ = messages(one_half(packet_gather()), Kind.LAUNCH)
    assert first == (
        "ppkt of GPU 1, threadblock 0, operation 0: in the next launch it may write over packets "
        "that upkt of GPU 0, threadblock 0, operation 1 has not read; a signal or packet must lead "
        "from there"
    )


def test_the_slow_machine_finds_that_too() -> None:
    plan = one_half(packet_gather())
    assert any(carried_out(plan, launches=4, seed=seed) != RIGHT for seed in range(40))


def test_an_answer_makes_one_half_enough() -> None:
    assert interpret_plan(single_scratch()).findings == ()


def test_packets_that_come_of_others_are_answers() -> None:
    """The sum says that the part was read; the next part says that the sum was read."""
    assert interpret_plan(one_half(packet_sum())).findings == ()
    assert {carried_out(one_half(packet_sum()), seed=seed) for seed in range(40)} == {RIGHT}


@pytest.mark.parametrize("make", [packet_gather, packet_sum, forwarded_gather])
def test_two_halves_are_enough_where_all_hear_from_all(make: type) -> None:
    assert not messages(make(), Kind.LAUNCH)
