"""Single chunks that the actions of a call move."""

import pytest

from forestcoll.runtimes.interpretation.one_run import Units
from forestcoll.runtimes.msccl import parse_algorithm
from forestcoll.runtimes.msccl.interpreter.actions import actions_of
from forestcoll.runtimes.msccl.interpreter.buffer_cells import cells_of
from forestcoll.runtimes.msccl.interpreter.call_sizes import Cut
from forestcoll.runtimes.msccl.interpreter.chunk_units import units_of
from forestcoll.runtimes.msccl.interpreter.fifos import pairs_of
from forestcoll.runtimes.msccl.interpreter.merged_steps import merge
from tests.runtimes.msccl_programs import Block, xml


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
def test_cells_of_local_steps(step: tuple[str, str, str], row: tuple[int, int, int, int]) -> None:
    assert rows(units([Block().step(*step)])) == [row]


def test_a_receive_reads_the_payload_of_its_send() -> None:
    """Eight cells; then the payload of each of the two units, from 8 on."""
    found = units([Block(1).step("s", "i1")], [Block(-1, 0).step("r", "i1", "o1")])
    assert found.cells == 8
    assert rows(found) == [(0, 1, -1, -1), (1, 8, -1, 7)]


def test_a_receive_of_what_nobody_sent_reads_nowhere() -> None:
    """The last place but one is never written."""
    found = units([Block(-1, 1).step("r", "i0", "o0")], [Block()])
    assert rows(found) == [(0, found.cells + 1, -1, 2)]


def test_slices_have_their_own_cells() -> None:
    assert rows(units([Block().step("cpy", "i0", "o1", 1)], slices=2)) == [
        (0, 0, -1, 3),
        (1, 4, -1, 7),
    ]
