"""Races, and buffers that are touched outside a launch."""

from dataclasses import replace

import pytest

from forestcoll.runtimes.interpretation.findings import Kind
from forestcoll.runtimes.mscclpp import Operation
from forestcoll.runtimes.mscclpp.interpreter import interpret_plan
from tests.runtimes.mscclpp.interpreter.hand_plans import (
    NOP,
    alone,
    copy,
    data,
    kinds,
    messages,
    own,
    pair,
    swap,
    tell,
    there,
)


def test_two_operations_without_a_nop_race() -> None:
    rows = [copy("i0", "s0", 2), copy("s0", "o0", 2)]
    (message,) = messages(alone(rows), Kind.RACE)
    assert message == (
        "copy of GPU 0, threadblock 0, operation 0 writes and copy of GPU 0, threadblock 0, "
        "operation 1 reads chunk 0 of the scratch of GPU 0, with no nop between"
    )
    assert not interpret_plan(alone([rows[0], NOP, rows[1]])).findings


def test_two_threadblocks_race() -> None:
    (message,) = messages(alone([copy("i0", "o0", 2)], [copy("i0", "o0", 2)]), Kind.RACE)
    assert message.endswith("writes chunk 0 of the output of GPU 0, in no order")


def test_a_sum_may_overwrite_one_of_its_summands() -> None:
    """But not a chunk further on, where another thread reads."""
    aligned = Operation("re", (own("s0", 1), own("i0", 1)), (own("s0", 1),))
    assert not messages(alone([aligned]), Kind.RACE)
    shifted = Operation("re", (own("s0", 2), own("i0", 2)), (own("s1", 2),))
    plan = alone([shifted])
    plan = replace(plan, gpus=(replace(plan.gpus[0], scratch_chunks=3),))
    (message,) = messages(plan, Kind.RACE)
    assert "reads or writes twice what it writes, chunk 1 of the scratch of GPU 0, shift" in message


@pytest.mark.parametrize("place", [5, 6])
def test_data_is_not_seen_behind_a_relaxed_signal_or_wait(place: int) -> None:
    """The launch has begun for certain, so only what is read there may not be seen."""
    row = swap()
    row[place] = replace(row[place], kind=f"rlx{row[place].kind}")
    found = interpret_plan(pair(row, swap()))
    assert kinds(found) == {"race", "launch"}


def test_a_relaxed_signal_orders_reads_before_writes() -> None:
    """GPU 0 pulls the input of GPU 1, says so, and GPU 1 writes it over; it is not in place."""
    pull = [
        *(tell("rlxwait", 0), NOP, data("rre", [own("i0", 2), there(0, 0, 2)], [own("o0", 2)])),
        *(NOP, tell("rlxsignal", 0)),
    ]
    over = [tell("rlxsignal", 0), tell("rlxwait", 0), NOP, copy("s0", "i0", 2)]
    found = interpret_plan(pair(pull, over, "reduce"), root=0)
    assert kinds(found) == {"input"}
    early = interpret_plan(pair(pull, [over[0], NOP, *over[3:], NOP, over[1]], "reduce"), root=0)
    assert "race" in kinds(early)


def test_writes_need_a_signal_of_the_launch_of_their_target() -> None:
    """Without the greeting; that of the other alone is not enough."""
    row = swap()
    found = messages(pair(row[2:], row[2:]), Kind.LAUNCH)
    assert len(found) == 2
    assert (
        "may write a buffer of GPU 1 before its launch has begun; a signal must lead from"
        in (found[0])
    )


def test_a_launch_must_not_end_while_others_read() -> None:
    """GPU 1 gets no signal from the one that reads its input."""
    pull = [tell("rlxwait", 0), NOP, data("rre", [own("i0", 2), there(0, 0, 2)], [own("o0", 2)])]
    (message,) = messages(pair(pull, [tell("rlxsignal", 0)], "reduce"), Kind.LAUNCH, root=0)
    assert "may read a buffer of GPU 1 after its launch is over" in message


def test_order_leads_through_other_gpus() -> None:
    """The swap of two GPUs is in order by their signals alone."""
    assert not interpret_plan(pair(swap(), swap())).findings
