"""One process: what it compares, what it times, and how it fails."""

import json
import pickle
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from forestcoll import compile_program, generate
from forestcoll.runtimes.execution import one_rank
from forestcoll.runtimes.execution.one_rank import (
    Outcome,
    Process,
    Task,
    outcome_file,
    run_task,
    task_file,
)
from forestcoll.runtimes.execution.planning import rank_plans
from forestcoll.runtimes.execution.rank_plan import OWN, Message, Part, RankPlan, Round
from forestcoll.runtimes.execution.transport import Values
from tests.runtimes.execution.in_threads import InThreads, carried_out, due, random_given


class Alone(InThreads):
    """The only rank, with a library that turns some elements over."""

    def __init__(self, wrong: tuple[int, ...] = (), ranks: int = 1) -> None:
        super().__init__(0, {(0, 0): None})  # type: ignore[dict-item]
        self.wrong, self.size, self.waited, self.ended = wrong, ranks, 0, False

    def barrier(self) -> None:
        self.waited += 1

    def collective(self, plan: RankPlan, given: Values) -> Values:
        made = given.copy()
        made[list(self.wrong)] *= -1
        return made

    def abort(self) -> None:
        self.ended = True

    def close(self) -> None:
        self.wrong = ()


def task(dtype: str = "int64", repetitions: int = 3, seed: int = 0) -> Task:
    plan = RankPlan(0, "broadcast", 0, (8,), (8,), (), (), (), (Part(OWN, 0, 0, 8),))
    return Task(plan, dtype, repetitions, seconds=60, seed=seed)


def test_a_right_rank_has_nothing_wrong_and_all_its_times() -> None:
    """All wait before each of the six times that are taken, and once before the first data."""
    alone = Alone()
    found = run_task(task(), alone)
    assert (found.wrong, found.place, found.error) == (0, -1, "")
    assert len(found.time_s) == len(found.library_time_s) == 3
    assert min(found.time_s) > 0
    assert alone.waited == 7


def test_warm_up_runs_come_before_the_timed_ones() -> None:
    """Of both; the first of them is the one whose results are compared."""
    one, other = Counting(), Counting()
    run_task(task(repetitions=2), one)
    run_task(replace(task(repetitions=2), warm_up=4), other)
    assert (one.collectives, other.collectives) == (3, 6)


class Counting(Alone):
    """Counts the library's own collectives."""

    collectives = 0

    def collective(self, plan: RankPlan, given: Values) -> Values:
        self.collectives += 1
        return super().collective(plan, given)


def test_every_element_that_differs_is_counted_and_the_first_is_reported() -> None:
    found = run_task(task(), Alone(wrong=(5, 2)))
    assert (found.wrong, found.place) == (2, 2)
    assert int(found.found) == -int(found.due) != 0


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
def test_elements_are_whole_numbers_of_their_type(dtype: str) -> None:
    """Floats so small that no sum of many is rounded; each seed has its own."""
    one, other = (one_rank._elements(1000, task(dtype, seed=seed)) for seed in (0, 1))
    assert one.dtype == dtype
    assert (one == np.round(one)).all()
    assert (one != other).any()
    assert (one == one_rank._elements(1000, task(dtype))).all()
    assert dtype.startswith("int") or np.abs(one).max() <= 1000


def put(folder: Path, monkeypatch: pytest.MonkeyPatch, transport: Alone) -> dict[str, object]:
    task_file(folder, 0).write_bytes(pickle.dumps(task()))
    monkeypatch.setattr(one_rank, "open_transport", lambda *_: transport)
    monkeypatch.setattr(one_rank.signal, "alarm", lambda _: 0)
    one_rank.main("mpi", folder)
    return dict(json.loads(outcome_file(folder, 0).read_text()))


def test_a_worker_writes_its_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = put(tmp_path, monkeypatch, Alone())
    assert set(found) == set(Outcome.__slots__)
    assert (found["wrong"], found["library"]) == (0, "threads")


def test_a_failed_worker_ends_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Here the launcher and the library do not belong together, so each process is alone."""
    alone = Alone(ranks=4)
    found = put(tmp_path, monkeypatch, alone)
    assert str(found["error"]).startswith("RuntimeError: 4 processes reach each other, not 1")
    assert alone.ended


class Scripted(InThreads):
    """Rank 0 of two; the other one sends what the test asks for."""

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


def test_parts_without_a_source_are_zero() -> None:
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
def test_a_plan_is_carried_out_again_and_again(dtype: str) -> None:
    """With other data the second time: nothing is left of the first."""
    plans = rank_plans(
        compile_program(generate("ring:nodes=3", collective="allreduce").schedule), 30
    )
    for seed in (1, 2):
        given = [(one % 1000).astype(dtype) for one in random_given(plans, seed)]
        for found, wanted in zip(carried_out(plans, given), due(plans, given), strict=True):
            assert found.dtype == dtype
            assert np.array_equal(found, wanted)
