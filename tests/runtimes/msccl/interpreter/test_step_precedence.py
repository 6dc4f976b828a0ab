"""What comes after what."""

import numpy as np

from forestcoll.runtimes.interpretation.findings import Finding, Kind
from forestcoll.runtimes.interpretation.precedence import Reason
from forestcoll.runtimes.msccl import parse_algorithm
from forestcoll.runtimes.msccl.interpreter.actions import Actions, actions_of
from forestcoll.runtimes.msccl.interpreter.call_sizes import Cut
from forestcoll.runtimes.msccl.interpreter.fifos import pairs_of
from forestcoll.runtimes.msccl.interpreter.merged_steps import MergedSteps, merge
from forestcoll.runtimes.msccl.interpreter.step_precedence import (
    check_waits,
    edges_of,
    ends_of_waits,
    first_that_set_flag,
)
from tests.runtimes.msccl_programs import Block, xml


def actions(*gpus: list[Block], slices: int = 1) -> Actions:
    text = xml("allreduce", gpus, 9, (9, 9, 0))
    return actions_of(merge(parse_algorithm(text).algorithm), Cut(1, slices, ""))


def edges(found: Actions, depth: int = 2) -> set[tuple[int, int, Reason]]:
    these = edges_of(found, pairs_of(found, depth))
    assert (np.diff(these.head) >= 0).all()
    return {
        (int(tail), int(head), Reason(reason))
        for tail, head, reason in zip(these.tail, these.head, these.reason, strict=True)
    }


def test_program_data_room_and_flags_are_all_there_is() -> None:
    """Three sends (0-2), three receives (3-5), a copy (6) that waits for the last of these."""
    receiver = Block(-1, 0).step("r", "i0", "o0", 3, sets_flag=True)
    gpus = ([Block(1).step("s", "i0", "o0", 3)], [receiver, Block().step("cpy", wait=(0, 0))])
    program = {(0, 1), (1, 2), (3, 4), (4, 5)}
    assert edges(actions(*gpus)) == (
        {(*pair, Reason.PROGRAM) for pair in program}
        | {(nth, nth + 3, Reason.DATA) for nth in range(3)}
        | {(3, 2, Reason.ROOM), (5, 6, Reason.FLAG)}
    )


def test_a_threadblock_goes_on_with_the_next_slice() -> None:
    """Two steps each, actions 0, 1 and then 2, 3."""
    found = edges(actions([Block().step("cpy").step("cpy")], slices=2))
    assert found == {(0, 1, Reason.PROGRAM), (1, 2, Reason.PROGRAM), (2, 3, Reason.PROGRAM)}


def test_a_wait_may_end_with_the_next_slice_only() -> None:
    """Step 0 sets a flag, step 1 is awaited: step 0 of the next slice ends it, if there is one."""
    gpu = [Block().step("cpy", sets_flag=True).step("cpy"), Block().step("cpy", wait=(0, 1))]
    flags = {pair[:2] for pair in edges(actions(gpu, slices=2)) if pair[2] is Reason.FLAG}
    assert flags == {(3, 2), (-1, 5)}


def waiting(block: int, step: int, *others: Block) -> MergedSteps:
    gpu = [Block().step("cpy", wait=(block, step)), *others]
    return merge(parse_algorithm(xml("allreduce", [gpu], 9, (9, 9, 0))).algorithm)


def findings_of(steps: MergedSteps) -> list[Finding]:
    return list(check_waits(steps))


FLAGGED = Block().step("cpy").step("cpy", sets_flag=True).step("cpy").step("cpy", sets_flag=True)


def test_a_wait_ends_with_the_first_late_enough_step_that_sets_a_flag() -> None:
    """Steps 1 and 3 of threadblock 1 set flags, which are steps 2 and 4 of all."""
    ends = [ends_of_waits(waiting(1, step, FLAGGED)).tolist() for step in range(5)]
    assert ends == [[2], [2], [4], [4], [-1]]
    assert first_that_set_flag(waiting(1, 4, FLAGGED)).tolist() == [2]


def test_no_wait_ends_without_a_flag() -> None:
    for steps in (waiting(1, 0, Block().step("cpy")), waiting(7, 0), waiting(1, 0, Block())):
        assert ends_of_waits(steps).tolist() == first_that_set_flag(steps).tolist() == [-1]


def test_only_odd_waits_are_reported() -> None:
    """For step 1, as it says; for step 2, as late as 3; for step 4 and threadblock 7, never."""
    assert findings_of(waiting(1, 1, FLAGGED)) == []
    (late,) = findings_of(waiting(1, 2, FLAGGED))
    assert late.kind is Kind.NOTE
    assert "waits for step 2 of threadblock 1 (line 9), which has hasdep=0" in late.message
    (never,) = findings_of(waiting(1, 4, FLAGGED))
    assert never.kind is Kind.DEPENDENCY
    assert "which is not there, and no later step sets a flag" in never.message
    (nowhere,) = findings_of(waiting(7, 0))
    assert "waits for a threadblock that its GPU has not" in nowhere.message
    (silent,) = findings_of(waiting(1, 0, Block().step("cpy")))
    assert (silent.kind, silent.lines) == (Kind.DEPENDENCY, (4, 7))
