"""Steps cut into transfers."""

from forestcoll.runtimes.msccl import parse_algorithm
from forestcoll.runtimes.msccl.interpreter.actions import actions_of, how_many
from forestcoll.runtimes.msccl.interpreter.call_sizes import Cut
from forestcoll.runtimes.msccl.interpreter.merged_steps import merge
from tests.runtimes.msccl_programs import Block, xml

TEXT = xml(
    "allreduce",
    [[Block(1).step("s", "i0", "o0", 5).step("cpy", "i0", "o0", 0)], [Block(-1, 0).step("r")]],
    9,
    (9, 9, 0),
)


def test_a_step_is_as_many_transfers_as_it_takes() -> None:
    """Five chunks, two at once; a step of none is still one action, which sends nothing."""
    steps = merge(parse_algorithm(TEXT).algorithm)
    cut = Cut(2, 3, "")
    actions = actions_of(steps, cut)
    assert actions.step.tolist() == [0, 0, 0, 1, 2]
    assert actions.first_chunk.tolist() == [0, 2, 4, 0, 0]
    assert actions.count.tolist() == [2, 2, 1, 0, 1]
    assert actions.pushes.tolist() == [True, True, True, False, False]
    assert actions.pops.tolist() == [False, False, False, False, True]
    assert actions.first_of_step.tolist() == [0, 3, 4]
    assert actions.last_of_step.tolist() == [2, 3, 4]
    assert how_many(steps, cut) == 15


def test_actions_of_later_slices_come_after() -> None:
    actions = actions_of(merge(parse_algorithm(TEXT).algorithm), Cut(71, 2, ""))
    assert actions.each == 3
    assert [(actions.step_of(one), actions.slice_of(one)) for one in (1, 3, 5)] == [
        (1, 0),
        (0, 1),
        (2, 1),
    ]
