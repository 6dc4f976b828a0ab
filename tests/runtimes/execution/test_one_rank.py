"""One process: what it compares, what it times, and how it fails."""

import json
import pickle
from pathlib import Path

import numpy as np
import pytest

from forestcoll.runtimes.execution import one_rank
from forestcoll.runtimes.execution.one_rank import Outcome, Task, outcome_file, run_task, task_file
from forestcoll.runtimes.execution.rank_plan import OWN, Part, RankPlan
from forestcoll.runtimes.execution.transport import Values
from tests.runtimes.execution.in_threads import InThreads


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
