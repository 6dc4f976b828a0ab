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
    first_that_tell,
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
    receiver = Block(-1, 0).step("r", "i0", "o0", 3, told=True)
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
    """Step 0 tells, step 1 is waited for: the next slice's step 0 ends it, in the last nothing."""
    gpu = [Block().step("cpy", told=True).step("cpy"), Block().step("cpy", wait=(0, 1))]
    flags = {pair[:2] for pair in edges(actions(gpu, slices=2)) if pair[2] is Reason.FLAG}
    assert flags == {(3, 2), (-1, 5)}


def waiting(block: int, step: int, *others: Block) -> MergedSteps:
    gpu = [Block().step("cpy", wait=(block, step)), *others]
    return merge(parse_algorithm(xml("allreduce", [gpu], 9, (9, 9, 0))).algorithm)


def told(steps: MergedSteps) -> list[Finding]:
    return list(check_waits(steps))


TOLD = Block().step("cpy").step("cpy", told=True).step("cpy").step("cpy", told=True)


def test_a_wait_ends_with_the_first_step_that_tells_and_is_as_far() -> None:
    """Steps 1 and 3 of threadblock 1 tell, which are steps 2 and 4 of all."""
    ends = [ends_of_waits(waiting(1, step, TOLD)).tolist() for step in range(5)]
    assert ends == [[2], [2], [4], [4], [-1]]
    assert first_that_tell(waiting(1, 4, TOLD)).tolist() == [2]


def test_nobody_that_tells_ends_no_wait() -> None:
    for steps in (waiting(1, 0, Block().step("cpy")), waiting(7, 0), waiting(1, 0, Block())):
        assert ends_of_waits(steps).tolist() == first_that_tell(steps).tolist() == [-1]


def test_waits_are_only_told_where_they_are_odd() -> None:
    """For step 1, as it says; for step 2, as late as 3; for step 4 and threadblock 7, never."""
    assert told(waiting(1, 1, TOLD)) == []
    (late,) = told(waiting(1, 2, TOLD))
    assert late.kind is Kind.NOTE
    assert "waits for step 2 of threadblock 1 (line 9), which has hasdep=0" in late.message
    (never,) = told(waiting(1, 4, TOLD))
    assert never.kind is Kind.DEPENDENCY
    assert "which is not there, nor does any after it tell" in never.message
    (nowhere,) = told(waiting(7, 0))
    assert "waits for a threadblock that its GPU has not" in nowhere.message
    (silent,) = told(waiting(1, 0, Block().step("cpy")))
    assert (silent.kind, silent.lines) == (Kind.DEPENDENCY, (4, 7))
