"""A plan carried out: what is put together of what."""

from collections.abc import Sequence

import numpy as np
import pytest

from forestcoll import compile_program, generate
from forestcoll.runtimes.execution.carrying_out import Process
from forestcoll.runtimes.execution.planning import rank_plans
from forestcoll.runtimes.execution.rank_plan import OWN, Message, Part, RankPlan, Round
from forestcoll.runtimes.execution.transport import Values
from tests.runtimes.execution.in_threads import InThreads, carried_out, due, random_given


class Scripted(InThreads):
    """Rank 0 of two; the other one sends what it is told to."""

    def __init__(self, comes: Sequence[Values]) -> None:
        super().__init__(0, {(0, 0): None, (1, 1): None})  # type: ignore[dict-item]
        self.comes, self.sent = list(comes), []

    def exchange(
        self, receives: Sequence[tuple[int, Values]], sends: Sequence[tuple[int, Values]]
    ) -> None:
        self.sent += [(peer, array.tolist()) for peer, array in sends]
        for _, array in receives:
            array[:] = self.comes.pop(0)


def plan(rounds: tuple[Round, ...], result: tuple[Part, ...]) -> RankPlan:
    return RankPlan(0, "by hand", -1, (4, 0), (4, 0), (), (), rounds, result)


def test_parts_are_applied_in_their_order() -> None:
    """Own 1 2 3 4; 10 20 comes: added to the middle, then 7 replaces its first."""
    rounds = (
        Round((Message(0, 1, 2), Message(1, 1, 1)), ()),
        Round((), (Message(2, 1, 3, (Part(OWN, 1, 0, 3), Part(0, 0, 0, 2, add=True))),)),
    )
    result = (Part(OWN, 0, 0, 4), Part(0, 0, 1, 2, add=True), Part(1, 0, 1, 1))
    transport = Scripted([np.array([10, 20]), np.array([7])])
    found = Process(plan(rounds, result), transport, "int64").carry_out(np.array([1, 2, 3, 4]))
    assert found.tolist() == [1, 7, 23, 4]
    assert transport.sent == [(1, [12, 23, 4])]


def test_what_nobody_brings_is_zero() -> None:
    """A gap in what is put together is not what happened to be in memory."""
    found = Process(plan((), (Part(OWN, 0, 2, 2),)), Scripted([]), "int64")
    assert found.carry_out(np.array([5, 6, 7, 8])).tolist() == [0, 0, 5, 6]


def test_messages_to_oneself_need_no_transport() -> None:
    """As the GPU it sends to itself as a switch, and back in the next round, with 1 added."""
    there = Message(0, 0, 1, (Part(OWN, 0, 0, 1),))
    back = Message(1, 0, 1, (Part(0, 0, 0, 1), Part(OWN, 1, 0, 1, add=True)))
    rounds = tuple(Round((Message(m.number, 0, 1),), (m,)) for m in (there, back))
    transport = Scripted([])
    found = Process(plan(rounds, (Part(1, 0, 0, 1),)), transport, "int64")
    assert found.carry_out(np.array([3, 1, 0, 0])).tolist()[0] == 4
    assert transport.sent == []


@pytest.mark.parametrize("dtype", ["int32", "float32"])
def test_a_plan_is_executed_again_and_again(dtype: str) -> None:
    """With other data the second time: nothing is left of the first."""
    plans = rank_plans(
        compile_program(generate("ring:nodes=3", collective="allreduce").schedule), 30
    )
    for seed in (1, 2):
        given = [(one % 1000).astype(dtype) for one in random_given(plans, seed)]
        for found, wanted in zip(carried_out(plans, given), due(plans, given), strict=True):
            assert found.dtype == dtype
            assert np.array_equal(found, wanted)
