"""The sweep over all exports goes on where it stopped."""

import time
from pathlib import Path

import pytest

from benchmarks.schedules import export_all
from benchmarks.schedules.export_all import cases, kept, sweep, verdict
from forestcoll.errors import UnsupportedError
from forestcoll.runtimes.msccl.exporter import executor_limits
from tests.schedule.made.run_msccl import RIGHT

CASES = [("forestcoll", "allgather", name) for name in ("ring:nodes=7", "torus:dims=3x3")]
CASES += [("ring", "allgather", "ring:nodes=7")]


def test_kept_rows_are_not_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed after the first, and in the middle of writing the second."""
    rows = tmp_path / "new" / "rows.jsonl"
    first = next(iter(sweep(CASES, rows, 0, 1)))
    assert (first.case, first.said, first.gpus) == (CASES[0], RIGHT, 7)
    with rows.open("a") as out:
        out.write('{"method": "forest')
    assert list(kept(rows)) == [CASES[0]]
    tried = []

    def outcome(method: str, collective: str, name: str, kind: str) -> str:
        assert kind == "msccl"
        tried.append((method, collective, name))
        return RIGHT

    monkeypatch.setattr(export_all, "outcome", outcome)
    found = list(sweep(CASES, rows, 0, 1))
    assert [one.case for one in found] == CASES
    assert tried == CASES[1:]
    assert list(sweep(CASES, rows, 0, 1)) == found
    assert tried == CASES[1:]


@pytest.mark.slow
def test_another_process_comes_to_the_same(tmp_path: Path) -> None:
    (found,) = sweep(CASES[:1], tmp_path / "rows.jsonl", 60, 2)
    assert (found.case, found.said) == (CASES[0], RIGHT)
    assert kept(tmp_path / "rows.jsonl") == {CASES[0]: found}


def test_timeouts_are_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = tmp_path / "rows.jsonl"
    monkeypatch.setattr(export_all, "outcome", lambda *case: time.sleep(30))
    assert [one.said for one in sweep(CASES[:1], rows, 0.05, 1)] == ["out of time: 0.05 s"]
    monkeypatch.setattr(export_all, "outcome", lambda *case: RIGHT)
    assert [one.said for one in sweep(CASES[:1], rows, 0.05, 1)] == ["out of time: 0.05 s"]
    assert [one.said for one in sweep(CASES[:1], rows, 9, 1)] == [RIGHT]
    assert kept(rows)[CASES[0]].said == RIGHT


def test_failed_generation_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def outcome(*case: str) -> str:
        raise UnsupportedError("no such thing")

    monkeypatch.setattr(export_all, "outcome", outcome)
    assert verdict(CASES[0], 0).said == "not made: no such thing"


def test_a_limit_is_a_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    """A ring has two neighbours on one channel: a threadblock for each way, and a copy."""
    monkeypatch.setattr(executor_limits, "GPU_THREADBLOCKS", 2)
    said = verdict(CASES[0], 0).said
    assert said.startswith("limit: ")
    assert "3 threadblocks of a GPU, and 2 are the most" in said


def test_cases_are_those_that_methods_claim() -> None:
    found = set(cases())
    assert set(CASES) <= found
    assert ("bfb", "allgather", "dgx_a100:boxes=1") not in found
