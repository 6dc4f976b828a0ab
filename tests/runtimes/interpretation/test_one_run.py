"""Data that moves, chunk by chunk."""

import numpy as np

from forestcoll.runtimes.interpretation.multisets import NOTHING, Multisets
from forestcoll.runtimes.interpretation.one_run import Memory, Units, execute, numbers_of
from forestcoll.runtimes.interpretation.precedence import levels_of
from forestcoll.runtimes.msccl import parse_algorithm
from forestcoll.runtimes.msccl.interpreter.actions import actions_of
from forestcoll.runtimes.msccl.interpreter.buffer_cells import cells_of, units_of
from forestcoll.runtimes.msccl.interpreter.call_sizes import Cut
from forestcoll.runtimes.msccl.interpreter.fifos import pairs_of
from forestcoll.runtimes.msccl.interpreter.merged_steps import merge
from forestcoll.runtimes.msccl.interpreter.step_precedence import edges_of
from tests.runtimes.msccl_programs import Block, xml


def run(*gpus: list[Block], slices: int = 1) -> tuple[Units, Memory]:
    """Two chunks of input, of output and of scratch for each GPU, one after another."""
    algorithm = parse_algorithm(xml("allreduce", gpus, 2, (2, 2, 2))).algorithm
    steps = merge(algorithm)
    actions = actions_of(steps, Cut(71, slices, ""))
    pairs = pairs_of(actions, 2)
    levels = levels_of(edges_of(actions, pairs), actions.each * slices)
    cells = cells_of(algorithm, steps, in_place=False)
    units = units_of(actions, pairs, cells)
    contents = np.full(cells.size * slices, NOTHING)
    for gpu in range(len(gpus)):
        for nth in range(slices):
            start = cells.base[gpu, 0] + nth * cells.size
            contents[start : start + 2] = 1 + gpu * 2 * slices + nth * 2 + np.arange(2)
    return units, execute(units, levels, contents, Multisets(len(gpus), 2 * slices))


def test_every_kind_of_step_has_its_effect() -> None:
    """GPU 0 sends 1 and 2; GPU 1 has 3 and 4, adds, keeps, and sends on to GPU 2."""
    gpus = [
        [Block(1).step("s", "i0").step("s", "i1").step("s", "i0").step("s", "i1")],
        [
            Block(2, 0)
            .step("rcs", "i0", "o0")
            .step("rrs", "i0", "o1")
            .step("rrcs", "i0", "s0")
            .step("rrc", "i1", "s1")
        ],
        [
            Block(-1, 1).step("r", "i0", "o0").step("r", "i0", "o1").step("rrc", "i1", "s0"),
            Block().step("cpy", "i1", "s1").step("re", "i0", "s1"),
        ],
    ]
    units, memory = run(*gpus)
    cells = memory.contents[: units.cells].reshape(-1)
    assert cells[:4].tolist() == [1, 2, NOTHING, NOTHING]
    first, second, third = cells[:4], cells[4:10], cells[10:]
    assert first.tolist() == [1, 2, 0, 0]
    assert second[:4].tolist() == [3, 4, 1, NOTHING]
    assert third[2] == 1
    due = {
        8: (1, 3),  # rrcs: GPU 0's first and GPU 1's first
        9: (2, 4),  # rrc
        13: (2, 3),  # rrs, received
        14: (1, 3, 6),  # rrcs, received and added to GPU 2's second
        15: (5, 6),  # cpy and re
    }
    for cell, numbers in due.items():
        assert memory.numbers[cell] == numbers_of(np.array(numbers)).sum(), cell


def test_counts_move_chunks_in_order_and_short_ones_leave_nothing() -> None:
    """Two are sent and one is taken, then one sent and two taken."""
    gpus = [
        [Block(1).step("s", "i0", "o0", 2).step("s", "i1")],
        [Block(-1, 0).step("r", "i0", "s0").step("r", "i0", "o0", 2)],
    ]
    units, memory = run(*gpus)
    assert memory.contents[: units.cells].tolist() == [1, 2, 0, 0, 3, 4, 2, NOTHING, 1]


def test_slices_have_buffers_of_their_own() -> None:
    units, memory = run([Block().step("cpy", "i0", "o1")], slices=2)
    assert memory.contents[: units.cells].tolist() == [1, 2, 0, 1, 3, 4, 0, 3]


def test_the_writer_of_each_cell_is_known() -> None:
    """The copy (unit 2) read what the receive (1) wrote, which came by the send (0)."""
    gpus = [
        [Block(1).step("s", "i0")],
        [Block(-1, 0).step("r", "i0", "s0").step("cpy", "s0", "o0")],
    ]
    _, memory = run(*gpus)
    assert memory.before.tolist() == [-1, 0, 1]
    assert memory.beside.tolist() == [-1, -1, -1]
    _, memory = run([Block().step("cpy", "i0", "o0").step("re", "i1", "o0")])
    assert (memory.before.tolist(), memory.beside.tolist()) == ([-1, 0], [-1, -1])


def test_steps_that_never_run_write_nothing() -> None:
    units, memory = run([Block(-1, 1).step("r", "i0", "o0")], [Block()])
    assert memory.contents[: units.cells].tolist() == [1, 2, 0, 0, 3, 4, 0, 0]


def test_numbers_of_inputs_and_of_their_sums_are_distinct() -> None:
    """2000 inputs, and the sums of each two of the first 200."""
    inputs = np.arange(1, 2001)
    assert np.unique(numbers_of(inputs)).size == 2000
    few = numbers_of(inputs[:200])
    sums = (few[:, None] + few)[np.triu_indices(200)]
    assert np.unique(sums).size == sums.size
