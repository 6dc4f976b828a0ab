"""The work of a point, in this process: what becomes a result, and what a status."""

import subprocess
import sys
from collections.abc import Callable

import pytest

from experiments.config.methods import run_method
from experiments.config.points import Status
from tests.experiments.working import columns


@pytest.mark.parametrize(
    ("method", "status", "reason"),
    [
        ("zoo:good", Status.OK, ""),
        ("zoo:refuses", Status.UNSUPPORTED, "ring:nodes=4 has too much charm"),
        ("zoo:gives_up", Status.TIMEOUT, "the solver's own limit was reached"),
        ("zoo:asks_too_much", Status.OUT_OF_MEMORY, "an allocation was refused: Unable to"),
        ("zoo:lies", Status.FAILED, "VerificationError: "),
        ("zoo:answers_for_another", Status.FAILED, "VerificationError: the schedule is for"),
        ("unheard-of", Status.FAILED, "InvalidExperimentError: there is no method 'unheard-of'"),
    ],
)
def test_the_worker_gives_errors_their_status(method: str, status: Status, reason: str) -> None:
    """The same work, in this process: only what is verified becomes a result."""
    found = columns(method, "allgather", source="ring:nodes=4")
    assert found["status"] == status
    assert reason in str(found["reason"])
    assert ("algbw" in found) == (status is Status.OK)
    if "VerificationError" in reason:  # it took its time, but what it claims is no result
        assert found["verified"] is False
        assert "generation_s" in found


def test_imports_are_not_timed() -> None:
    """What a method imports on first use, it has before the clock starts. In a new process."""
    program = """
import sys
from experiments.run import worker
from tests.experiments.working import columns

generate = worker.run_method
def watched(*arguments, **more):
    before = set(sys.modules)
    made = generate(*arguments, **more)
    print(arguments[0], sorted(set(sys.modules) - before))
    return made

worker.run_method = watched
columns("tacos", "allgather", source="torus:dims=2x3")
columns("forestcoll", "allgather")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.splitlines() == ["tacos []", "forestcoll []"], done.stderr


def test_another_collective_than_asked_for_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A method that answers another question has failed, whatever its schedule is worth."""

    def wrong(
        name: str, topology: object, collective: str, *rest: object, **more: object
    ) -> object:
        ask: Callable[..., object] = run_method
        return ask(name, topology, "allgather", *rest, **more)

    monkeypatch.setattr("experiments.run.worker.run_method", wrong)
    found = columns("ring", "reduce-scatter")
    assert found["status"] == Status.FAILED
    assert "the schedule is of allgather" in str(found["reason"])


def test_another_root_than_asked_for_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rates differ by root; a row is of the one that it says."""

    def wrong(*arguments: object, root: int, **more: object) -> object:
        ask: Callable[..., object] = run_method
        return ask(*arguments, root=root + 1, **more)

    monkeypatch.setattr("experiments.run.worker.run_method", wrong)
    found = columns("forestcoll", "broadcast", root=2)
    assert found["status"] == Status.FAILED
    assert "rooted at rank 3; rank 2 was due" in str(found["reason"])


def test_weights_are_part_of_a_job() -> None:
    """A ring of 4, all data on two neighbours: the other two get it over two links of 1 GB/s."""
    found = columns("forestcoll", "allgather", source="ring:nodes=4", weights=["1/2", "0.5", 0, 0])
    assert found["status"] == Status.OK, found
    assert (found["algbw"], found["optimum"]) == ("2", "2")
    named = columns(
        "forestcoll",
        "reduce-scatter",
        source="ring:nodes=4",
        weights={"gpu0": 1, "gpu1": 1, "gpu2": 0, "gpu3": 0},
    )
    assert named["optimum"] == "2"


@pytest.mark.parametrize(
    ("method", "more", "reason"),
    [
        ("ring", {"weights": [1, 2, 1, 1]}, "unsupported: ring takes no weights"),
        ("zoo:good", {"weights": [1, 2, 1, 1]}, "unsupported: zoo:good takes no weights"),
        ("zoo:good", {"collective": "allreduce"}, "zoo:good takes no collective: it is for allga"),
        ("multitree", {"parameters": {"k": 2}}, "unsupported: multitree takes no k"),
        ("forestcoll-paper", {"parameters": {"k": 2}}, "forestcoll-paper takes no k"),
        ("ring", {"collective": "allreduce", "root": 1}, "unsupported: ring takes no root"),
        ("teccl", {"group": "gpu0,gpu2"}, "has GPUs outside of the group"),
    ],
)
def test_unsupported_points_are_rows(method: str, more: dict[str, object], reason: str) -> None:
    """Never a gap, and never a schedule of something else."""
    found = columns(method, **{"collective": "allgather", "source": "ring:nodes=4", **more})
    assert found["status"] == Status.UNSUPPORTED
    assert reason in str(found["reason"])


def test_other_weights_than_asked_are_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(*arguments: object, weights: object, **more: object) -> object:
        ask: Callable[..., object] = run_method
        return ask(*arguments, **more)

    monkeypatch.setattr("experiments.run.worker.run_method", wrong)
    found = columns("forestcoll", "allgather", source="ring:nodes=4", weights=[2, 1, 1, 1])
    assert found["status"] == Status.FAILED
    assert "has the weights (1, 1, 1, 1); (2, 1, 1, 1) were due" in str(found["reason"])


def test_unequal_parts_that_nobody_asked_for_are_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """The optimum of the row is that of equal parts; the schedule itself is right."""

    def wrong(*arguments: object, weights: object, **more: object) -> object:
        ask: Callable[..., object] = run_method
        return ask(*arguments, weights=[2, 1, 1, 1], **more)

    monkeypatch.setattr("experiments.run.worker.run_method", wrong)
    found = columns("forestcoll", "allgather", source="ring:nodes=4")
    assert found["status"] == Status.FAILED
    assert "has the weights (2, 1, 1, 1); equal ones were due" in str(found["reason"])


def test_what_is_no_schedule_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("experiments.run.worker.run_method", lambda *_, **__: ([1], {}))
    found = columns("forestcoll", "allgather", source="ring:nodes=4")
    assert found["status"] == Status.FAILED
    assert "returned an object of type list; a schedule was due" in str(found["reason"])


def test_a_group_is_as_large_as_it_is() -> None:
    """GPU 0 of two boxes over the whole network; its bound is that of the group."""
    found = columns("forestcoll", "allgather", group="*/0")
    assert (found["status"], found["gpus"], found["ratio"]) == (Status.OK, 2, 1.0)


def test_an_allreduce_over_a_root_is_of_that_root(monkeypatch: pytest.MonkeyPatch) -> None:
    """A ring of 4: each byte crosses 3 links to the root and 3 from it, of 8 at 1 GB/s: 8/6."""
    found = columns("forestcoll", "allreduce", source="ring:nodes=4", root=2)
    assert (found["status"], found["algbw"]) == (Status.OK, "4/3"), found

    def wrong(*arguments: object, root: int, **more: object) -> object:
        ask: Callable[..., object] = run_method
        return ask(*arguments, root=root + 1, **more)

    monkeypatch.setattr("experiments.run.worker.run_method", wrong)
    other = columns("forestcoll", "allreduce", source="ring:nodes=4", root=2)
    assert "rooted at rank 3; rank 2 was due" in str(other["reason"])


def test_a_link_that_is_dead_one_way_leaves_the_other_in_use() -> None:
    """The NIC of GPU 7 can receive but not send. 15 shards enter each of 16 GPUs, over 300 GB/s of
    NVLink and 25 from ib, which sends on the 375 GB/s that it receives: 16 (300 16 + 375) / (15 16)
    = 345 GB/s.
    """
    found = columns("forestcoll", "allgather", changes={"without": ["b1.gpu7 -> ib"]})
    assert (found["status"], found["algbw"], found["optimum"]) == (Status.OK, "345", "345"), found


def test_a_root_that_is_no_gpu_is_a_failure() -> None:
    found = columns("forestcoll", "broadcast", root="gpu99")
    assert found["status"] == Status.FAILED
    assert "the root is 'gpu99', which is not a node" in str(found["reason"])
