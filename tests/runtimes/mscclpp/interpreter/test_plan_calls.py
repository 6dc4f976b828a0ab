"""Plans in every way in which they may be called."""

from dataclasses import replace

import pytest

from forestcoll import compile_program, generate
from forestcoll.runtimes.mscclpp.exporter import MscclppOptions, to_mscclpp
from forestcoll.runtimes.mscclpp.interpreter import interpret_calls


@pytest.mark.parametrize(
    ("collective", "ways"), [("allgather", 1), ("reduce-scatter", 2), ("allreduce", 2)]
)
def test_reductions_are_called_both_ways(collective: str, ways: int) -> None:
    plan = to_mscclpp(compile_program(generate("ring:nodes=4", collective=collective).schedule))
    found = list(interpret_calls(plan))
    assert len(found) == ways
    assert all(one.is_right for one in found)


def test_a_gather_is_called_as_it_was_made_for() -> None:
    """In place no GPU copies its own part; called otherwise it lacks it."""
    program = compile_program(generate("ring:nodes=4").schedule)
    plan = to_mscclpp(program, MscclppOptions(in_place=True))
    assert [one.is_right for one in interpret_calls(plan)] == [True]
    assert [one.is_right for one in interpret_calls(replace(plan, in_place=False))] == [False]


def test_what_can_run_at_once_is_reported() -> None:
    plan = to_mscclpp(compile_program(generate("complete:nodes=6").schedule))
    (found,) = interpret_calls(plan, most_blocks=1)
    assert not found.is_right
