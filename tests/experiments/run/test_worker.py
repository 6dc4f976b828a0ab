"""The work of a point, in this process: what becomes a result, and what a status."""

from __future__ import annotations

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


def test_a_root_that_is_no_gpu_is_a_failure() -> None:
    found = columns("forestcoll", "broadcast", root="gpu99")
    assert found["status"] == Status.FAILED
    assert "the root is 'gpu99', which is no node" in str(found["reason"])
