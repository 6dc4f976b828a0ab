"""What comes after what."""

import numpy as np

from forestcoll.runtimes.interpretation.precedence import Reason
from forestcoll.runtimes.msccl import parse_algorithm
from forestcoll.runtimes.msccl.interpreter.actions import Actions, actions_of
from forestcoll.runtimes.msccl.interpreter.call_sizes import Cut
from forestcoll.runtimes.msccl.interpreter.fifos import pairs_of
from forestcoll.runtimes.msccl.interpreter.merged_steps import merge
from forestcoll.runtimes.msccl.interpreter.step_precedence import edges_of
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
