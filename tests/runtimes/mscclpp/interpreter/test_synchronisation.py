"""Signals and waits, semaphores, barriers: matched by their counts."""

from dataclasses import replace

import pytest

from forestcoll.errors import UnsupportedError
from forestcoll.runtimes.interpretation.findings import Kind
from forestcoll.runtimes.mscclpp import Plan
from forestcoll.runtimes.mscclpp.interpreter import interpret_plan
from forestcoll.runtimes.mscclpp.interpreter.buffer_cells import plan_cells_of
from forestcoll.runtimes.mscclpp.interpreter.nodes import plan_nodes_of
from forestcoll.runtimes.mscclpp.interpreter.synchronisation import (
    Links,
    Why,
    counterparts,
    links_of,
)
from tests.runtimes.mscclpp.interpreter.hand_plans import (
    NOP,
    alone,
    copy,
    kinds,
    meet,
    messages,
    pair,
    share,
    swap,
    tell,
)


def links(plan: Plan) -> Links:
    return links_of(plan, plan_nodes_of(plan_cells_of(plan, in_place=False)))


def test_the_nth_channel_there_is_tied_to_the_nth_back() -> None:
    """A third channel of GPU 0 has no counterpart."""
    plan = pair(swap(), swap())
    more = replace(plan.gpus[0], memory_channels=(1, 1, 1))
    ends = counterparts(replace(plan, gpus=(more, plan.gpus[1])))
    assert ends == {(0, 0): (1, 0), (0, 1): (1, 1), (1, 0): (0, 0), (1, 1): (0, 1)}


def test_a_wait_is_for_the_signal_of_its_number() -> None:
    """An edge is weak if the signal or the wait is relaxed."""
    first = [tell("rlxsignal", 0), NOP, tell("signal", 0), NOP, tell("signal", 0)]
    second = [tell("wait", 0), NOP, tell("wait", 0), NOP, tell("rlxwait", 0)]
    found = links(pair(first, second))
    assert found.why == [Why.RELAXED, Why.SIGNAL, Why.RELAXED]
    assert found.tail == sorted(found.tail)
    assert not found.findings


def test_signals_and_waits_that_do_not_balance_are_reported() -> None:
    (expected,) = messages(pair([tell("signal", 0)], []), Kind.BALANCE)
    assert "signals channel 0 of GPU 0 for time 1 of a launch, but GPU 1 waits 0 times" in expected
    (expected,) = messages(pair([], [tell("wait", 1)]), Kind.BALANCE)
    assert (
        "waits on channel 1 of GPU 1 for time 1 of a launch, but it is signalled 0 times"
        in expected
    )


def test_a_signal_that_arrives_nowhere_is_reported() -> None:
    plan = pair([tell("signal", 1)], [])
    fewer = replace(
        plan.gpus[1],
        memory_channels=(0,),
        threadblocks=(replace(plan.gpus[1].threadblocks[0], memory_channels=(0,)),),
    )
    (expected,) = messages(replace(plan, gpus=(plan.gpus[0], fewer)), Kind.BALANCE)
    assert "no channel back is tied to it" in expected


def test_semaphores_lead_from_threadblock_to_threadblock() -> None:
    """Without them the second may copy what the first has not written."""
    first = [copy("i0", "s0", 2), NOP, share("sem_release", 0)]
    second = [share("sem_acquire", 0), NOP, copy("s0", "o0", 2)]
    assert not interpret_plan(alone(first, second, semaphores=1)).findings
    assert "race" in kinds(interpret_plan(alone(first[:2], second[2:])))


def test_a_permit_that_is_there_at_first_is_not_waited_for() -> None:
    """One acquires twice, of one permit that is there and one that comes."""
    plan = alone(
        [share("sem_acquire", 0), NOP, share("sem_acquire", 0), NOP, copy("i0", "o0", 2)],
        [share("sem_release", 0), NOP, share("sem_release", 0)],
        semaphores=1,
    )
    gpu = replace(plan.gpus[0], semaphores=(1,))
    found = links(replace(plan, gpus=(gpu,)))
    assert found.why == [Why.SEMAPHORE]
    assert not interpret_plan(replace(plan, gpus=(gpu,))).findings


def test_releases_and_acquires_that_do_not_balance_are_reported() -> None:
    (expected,) = messages(alone([share("sem_release", 0)], semaphores=1), Kind.BALANCE)
    assert "released 1 times and acquired 0 times" in expected


def test_a_barrier_is_for_as_many_as_come() -> None:
    first, second = [copy("i0", "s0", 2), meet(0, 2)], [meet(0, 2), copy("s0", "o0", 2)]
    assert not interpret_plan(alone(first, second)).findings
    found = interpret_plan(alone([*first[:1], meet(0, 3)], [meet(0, 3), *second[1:]]))
    assert {"balance", "deadlock"} <= kinds(found)
    assert "2 threadblocks of GPU 0 come to barrier 0, which is for 3" in found.findings[0].message


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        (pair([tell("signal", 0), tell("signal", 1, 0)], []), "both signal on channel 0 of GPU 0"),
        (pair([tell("wait", 0, 0)], []), "both wait on channel 0"),
        (
            alone([share("sem_acquire", 0)], [share("sem_acquire", 0)], semaphores=1),
            "both acquire semaphore 0",
        ),
    ],
)
def test_ambiguous_signals_are_unsupported(plan: Plan, expected: str) -> None:
    """It would be open which of them a wait waits for."""
    with pytest.raises(UnsupportedError, match=f"{expected}.*give each its own"):
        interpret_plan(plan)
