"""Where spans lie."""

from dataclasses import replace

import pytest

from forestcoll.errors import UnsupportedError
from forestcoll.runtimes.interpretation.findings import Kind
from forestcoll.runtimes.mscclpp import Loop, Operation, Span, SwitchGroup
from forestcoll.runtimes.mscclpp.interpreter import interpret_plan
from forestcoll.runtimes.mscclpp.interpreter.buffer_cells import (
    check_bounds,
    check_buffers,
    plan_cells_of,
)
from tests.runtimes.mscclpp.interpreter.hand_plans import alone, copy, data, own, pair, swap, there


def test_buffers_lie_one_behind_the_other() -> None:
    """Two GPUs with 2 chunks of input, output and scratch each: 6 cells, then the other's."""
    plan = pair(swap(), swap())
    layout = plan_cells_of(plan, in_place=False)
    assert layout.cells.base.tolist() == [[0, 2, 4], [6, 8, 10]]
    block = plan.gpus[0].threadblocks[0]
    assert layout.ranges(0, block, own("s1"), (0, 1)) == [(5, 1)]
    assert layout.ranges(0, block, there(1, 0, 2), (0, 1)) == [(8, 2)]


def test_in_place_buffers_are_one() -> None:
    """Of a gather with one chunk a GPU, the input is the own chunk of the output."""
    plan = pair(swap(), swap())
    assert plan_cells_of(plan, in_place=True).cells.base.tolist() == [[0, 0, 2], [4, 4, 6]]
    gpus = tuple(replace(gpu, input_chunks=1, scratch_chunks=0) for gpu in plan.gpus)
    gather = replace(plan, collective="allgather", gpus=gpus)
    assert plan_cells_of(gather, in_place=True).cells.base.tolist() == [[0, 0, 2], [3, 2, 4]]


def test_a_group_of_threadblocks_cuts_chunks_into_parts() -> None:
    """Threadblock 1 of 2 takes the second half of a chunk."""
    half = replace(copy("i1", "o1"), part=1, parts=2)
    plan = alone([half])
    layout = plan_cells_of(plan, in_place=False)
    assert layout.parts == 2
    assert layout.ranges(0, plan.gpus[0].threadblocks[0], own("i1"), (1, 2)) == [(3, 1)]
    halves = [[replace(copy("i0", "o0", 2), part=part, parts=2)] for part in (0, 1)]
    assert not interpret_plan(alone(*halves)).findings
    assert not interpret_plan(alone(halves[0])).is_right


def test_a_switch_channel_is_a_buffer_of_all_its_gpus() -> None:
    plan = pair(swap(), swap())
    gpus = tuple(replace(gpu, switch_channels=(SwitchGroup("s", (0, 1)),)) for gpu in plan.gpus)
    plan = replace(plan, gpus=gpus)
    block = replace(plan.gpus[0].threadblocks[0], switch_channels=(0,))
    layout = plan_cells_of(plan, in_place=False)
    assert layout.ranges(0, block, Span("switch", 1, 1), (0, 1)) == [(5, 1), (11, 1)]
    assert layout.owners(0, block, Span("switch", 1, 1)) == [(0, "s"), (1, "s")]


def test_parts_are_so_many_at_most() -> None:
    with pytest.raises(UnsupportedError, match="cut a chunk into 65 parts; at most 64"):
        interpret_plan(alone([replace(copy("i0", "o0", 2), parts=65)]))
    loops = [Operation("pipeline", loop=Loop(unit, 1), inner=()) for unit in (16, 32)]
    with pytest.raises(UnsupportedError, match="pipelines of 2 different unit sizes"):
        interpret_plan(alone(loops))


def test_chunks_that_are_in_no_buffer_are_reported() -> None:
    """GPU 1 has two chunks of scratch."""
    plan = pair([data("put", [own("i0", 2)], [there(2, 1, 2)])], [])
    (finding,) = check_bounds(plan)
    assert finding.kind is Kind.BOUNDS
    assert "chunk 2 of the scratch of GPU 1, which has 2" in finding.message
    found = interpret_plan(plan)
    assert not found.runs


def test_buffers_that_do_not_fit_the_collective_are_reported() -> None:
    plan = pair(swap(), swap())
    (finding,) = check_buffers(plan, "allgather")
    assert "in an allgather of 2 GPUs they are 1 to 2" in finding.message
    unlike = replace(plan, gpus=(plan.gpus[0], replace(plan.gpus[1], output_chunks=4)))
    assert "GPU 1: 2 chunks of input and 4" in next(check_buffers(unlike, "allreduce")).message
    assert not list(check_buffers(plan, "allreduce"))
