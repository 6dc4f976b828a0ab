"""Where buffers lie, in place and not."""

import pytest

from forestcoll.runtimes.interpretation.cells import Cells
from forestcoll.runtimes.msccl import Algorithm, parse_algorithm
from forestcoll.runtimes.msccl.interpreter.buffer_cells import cells_of, check_bounds, parts_of
from forestcoll.runtimes.msccl.interpreter.merged_steps import merge
from tests.runtimes.msccl_programs import Block, xml


def algorithm(
    collective: str, *steps: Block, buffers: tuple[int, int, int] = (9, 9, 9)
) -> Algorithm:
    gpus = [list(steps) or [Block()], [Block()]]
    return parse_algorithm(xml(collective, gpus, 6, buffers)).algorithm


def cells(collective: str, in_place: bool) -> Cells:
    found = algorithm(collective, Block().step("cpy", "i0", "s1"))
    return cells_of(found, merge(found), in_place=in_place)


@pytest.mark.parametrize(
    ("collective", "parts", "base"),
    [
        ("allgather", (3, 6), [[0, 0, 6], [11, 8, 14]]),
        ("reducescatter", (6, 3), [[0, 0, 6], [8, 11, 14]]),
        ("allreduce", (6, 6), [[0, 0, 6], [8, 8, 14]]),
        ("alltoall", (6, 6), [[0, 0, 6], [8, 8, 14]]),
    ],
)
def test_in_place_buffers(collective: str, parts: tuple[int, int], base: list[list[int]]) -> None:
    """Six chunks of a user's buffer and, at GPU 0, the two of scratch that are used."""
    assert parts_of(algorithm(collective)) == parts
    found = cells(collective, in_place=True)
    assert found.base.tolist() == base
    assert found.size == 14


def test_out_of_place_they_lie_one_after_the_other() -> None:
    found = cells("allgather", in_place=False)
    assert found.base.tolist() == [[0, 3, 9], [11, 14, 20]]
    assert found.size == 20


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (Block().step("cpy", "i3", "o0"), "reads chunk 3 of its input, of which there are 3"),
        (Block().step("cpy", "i2", "o5", 2), "reads chunks 2-3 of its input"),
        (
            Block().step("cpy", "i0", "s4"),
            "writes chunk 4 of its scratch, of which the file says 4",
        ),
        (Block().step("cpy", "i0", "o-1"), "writes chunk -1 of its output"),
    ],
)
def test_what_is_past_the_end_is_reported(step: Block, message: str) -> None:
    """An allgather of two with six chunks: three are each one's."""
    wrong = algorithm("allgather", step, buffers=(9, 9, 4))
    findings = list(check_bounds(wrong, merge(wrong)))
    assert message in findings[0].message


def test_what_a_step_does_not_use_may_be_anywhere() -> None:
    """A send has a target in the file, which means nothing."""
    right = algorithm("allgather", Block(1).step("s", "i0", "o99"))
    assert not list(check_bounds(right, merge(right)))
