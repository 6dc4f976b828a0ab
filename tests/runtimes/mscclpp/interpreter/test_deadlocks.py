"""Deadlocks of plans."""

from forestcoll.runtimes.interpretation.findings import Kind
from forestcoll.runtimes.mscclpp.interpreter import interpret_plan
from tests.runtimes.mscclpp.interpreter.hand_plans import (
    NOP,
    alone,
    meet,
    messages,
    pair,
    share,
    swap,
    tell,
)


def test_a_cycle_of_waits_is_reported_wait_by_wait() -> None:
    """Each of two GPUs waits before it signals."""
    row = [tell("wait", 0), NOP, tell("signal", 0)]
    (message,) = messages(pair(row, row), Kind.DEADLOCK)
    assert message.startswith("2 threadblocks are deadlocked: in a cycle, wait of GPU ")
    for rank in (0, 1):
        place = f"of GPU {rank}, threadblock 0, operation"
        assert f"wait {place} 0" in message
        assert f"for signal {place} 2" in message


def test_endless_waits_are_reported() -> None:
    (message,) = messages(pair([tell("wait", 0)], []), Kind.DEADLOCK)
    assert message == (
        "1 threadblocks are deadlocked: "
        "wait of GPU 0, threadblock 0, operation 0 waits for a signal "
        "that never comes"
    )
    (message,) = messages(alone([share("sem_acquire", 0)], semaphores=1), Kind.DEADLOCK)
    assert "waits for a release that never comes" in message
    (message,) = messages(alone([meet(0, 2)]), Kind.DEADLOCK)
    assert "at its barrier for threadblocks that never come" in message


def test_two_semaphores_the_wrong_way_round_are_a_circle() -> None:
    one, other = (
        [share("sem_acquire", here), NOP, share("sem_release", there)]
        for here, there in ((0, 1), (1, 0))
    )
    (message,) = messages(alone(one, other, semaphores=2), Kind.DEADLOCK)
    assert "in a cycle" in message
    assert "sem_release of GPU 0, threadblock 1, operation 2" in message


def test_deadlocked_plans_have_no_data_findings() -> None:
    found = interpret_plan(pair(swap()[1:], swap()[1:]))
    assert any(one.kind is Kind.DEADLOCK for one in found.findings)
    assert not any(one.kind is Kind.DATA for one in found.findings)
