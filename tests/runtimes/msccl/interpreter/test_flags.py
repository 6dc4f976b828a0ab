"""What ends a wait."""

from forestcoll.runtimes.interpretation.findings import Finding, Kind
from forestcoll.runtimes.msccl import parse_algorithm
from forestcoll.runtimes.msccl.interpreter.flags import (
    check_waits,
    ends_of_waits,
    first_that_tell,
)
from forestcoll.runtimes.msccl.interpreter.merged_steps import MergedSteps, merge
from tests.runtimes.msccl_programs import Block, xml


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
