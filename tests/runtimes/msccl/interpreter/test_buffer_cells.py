"""Where buffers lie, in place and not."""

import pytest

from forestcoll.runtimes.interpretation.cells import Cells
from forestcoll.runtimes.interpretation.one_run import Units
from forestcoll.runtimes.msccl import Algorithm, parse_algorithm
from forestcoll.runtimes.msccl.interpreter.actions import actions_of
from forestcoll.runtimes.msccl.interpreter.buffer_cells import (
    cells_of,
    check_bounds,
    parts_of,
    units_of,
)
from forestcoll.runtimes.msccl.interpreter.call_sizes import Cut
from forestcoll.runtimes.msccl.interpreter.fifos import pairs_of
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
def test_accesses_past_the_end_are_reported(step: Block, message: str) -> None:
    """An allgather of two with six chunks: three are each one's."""
    wrong = algorithm("allgather", step, buffers=(9, 9, 4))
    findings = list(check_bounds(wrong, merge(wrong)))
    assert message in findings[0].message


def test_unused_operands_are_not_checked() -> None:
    """A send has a target in the file, which means nothing."""
    right = algorithm("allgather", Block(1).step("s", "i0", "o99"))
    assert not list(check_bounds(right, merge(right)))


def units(*gpus: list[Block], slices: int = 1) -> Units:
    """Two chunks of input, then two of output, of each GPU."""
    algorithm = parse_algorithm(xml("allreduce", gpus, 2, (2, 2, 0))).algorithm
    steps = merge(algorithm)
    actions = actions_of(steps, Cut(1, slices, ""))
    return units_of(actions, pairs_of(actions, 2), cells_of(algorithm, steps, in_place=False))


def rows(found: Units) -> list[tuple[int, int, int, int]]:
    arrays = (found.action, found.first, found.second, found.target)
    return list(zip(*(one.tolist() for one in arrays), strict=True))


@pytest.mark.parametrize(
    ("step", "row"),
    [
        (("cpy", "i1", "o0"), (0, 1, -1, 2)),
        (("re", "i1", "o0"), (0, 2, 1, 2)),  # the target's own content, and the source
    ],
)
def test_local_steps_read_and_write_cells(
    step: tuple[str, str, str], row: tuple[int, int, int, int]
) -> None:
    assert rows(units([Block().step(*step)])) == [row]


def test_a_receive_reads_the_payload_of_its_send() -> None:
    """Eight cells; then the payload of each of the two units, from 8 on."""
    found = units([Block(1).step("s", "i1")], [Block(-1, 0).step("r", "i1", "o1")])
    assert found.cells == 8
    assert rows(found) == [(0, 1, -1, -1), (1, 8, -1, 7)]


def test_a_receive_without_a_send_reads_an_empty_cell() -> None:
    """The last place but one is never written."""
    found = units([Block(-1, 1).step("r", "i0", "o0")], [Block()])
    assert rows(found) == [(0, found.cells + 1, -1, 2)]


def test_slices_have_their_own_cells() -> None:
    assert rows(units([Block().step("cpy", "i0", "o1", 1)], slices=2)) == [
        (0, 0, -1, 3),
        (1, 4, -1, 7),
    ]
