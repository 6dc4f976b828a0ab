"""Points run in processes of their own: whatever becomes of one is a row, and nobody is left."""

import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from experiments.config.points import Limits, Point, Status
from experiments.results.rows import Row
from experiments.run.supervisor import OnStage, Running
from forestcoll.generation import STAGES
from tests.experiments.run import planned
from tests.experiments.run.ended import ended


def run_point(point: Point, on_stage: OnStage) -> Row:
    """Run a point to its end."""
    with Running(point) as running:
        while True:
            row = running.listen(on_stage)
            if row is not None:
                return row


def a_point(method: str, *, limits: Limits | None = None, **parameters: str) -> Point:
    return replace(planned.a_point(method, **parameters), limits=limits or Limits(30.0, 4.0))


def ignore(stage: str) -> None:
    """Nobody looks."""


def run_and_time(point: Point) -> tuple[Row, float]:
    """Return the row, and the seconds from the beginning of the generation to the very end."""
    began = time.monotonic()

    def on_stage(stage: str) -> None:
        nonlocal began
        if stage == "generate":
            began = time.monotonic()

    return run_point(point, on_stage), time.monotonic() - began


def test_a_finished_point_has_every_column() -> None:
    """A ring of 4 with 1 GB/s each way: 3 shards come into each GPU over 2 GB/s.

    So x* = 2/3 and algbw = 4 x* = 8/3; ForestColl attains it, and its stages are timed.
    """
    stages: list[str] = []
    row = run_point(a_point("forestcoll"), stages.append)
    assert (row.status, row.reason, row.verified) == (Status.OK, "", True)
    assert row.optimum == row.algbw == "8/3"
    assert row.algbw_gb_s == pytest.approx(8 / 3)
    assert row.ratio == 1.0
    assert (row.gpus, row.num_trees) == (4, 4 * row.k)
    assert row.depth is not None
    assert 1 <= row.depth <= 3
    assert stages == ["generate", *row.stages_s, "check"]
    assert tuple(row.stages_s) == STAGES
    assert row.generation_s is not None
    assert row.wall_s is not None
    assert sum(row.stages_s.values()) <= row.generation_s < row.wall_s
    assert row.peak_memory_mb is not None
    assert 10 < row.peak_memory_mb < 1000
    assert {"python", "numpy"} <= row.versions.keys()
    assert row.host["processors"] >= 1
    assert row.killed is False


@pytest.mark.first_rows(3)
@pytest.mark.parametrize(
    ("method", "status", "reason"),
    [
        ("zoo:prints", Status.OK, ""),
        ("zoo:forks_and_goes_on", Status.OK, ""),
        pytest.param(*("zoo:aborts", Status.FAILED, "(signal 6, Aborted)"), marks=pytest.mark.slow),
        ("zoo:segfaults", Status.FAILED, "(signal 11, Segmentation fault)"),
        pytest.param(
            *("zoo:raises", Status.FAILED, "KeyError: 'a bug' (exit code 1)"),
            marks=pytest.mark.slow,  # tests/experiments/test_cli.py runs it as well
        ),
        ("zoo:leaves", Status.FAILED, "ended without an answer (exit code 0)"),
        ("zoo:shuts_everything", Status.FAILED, "Bad file descriptor (exit code 1)"),
        ("nowhere:nothing", Status.FAILED, "No module named 'nowhere' (exit code 1)"),
    ],
)
def test_every_end_is_a_row(method: str, status: Status, reason: str) -> None:
    """What a method prints does not matter; crashes have a status and a reason, and are final."""
    row = run_point(a_point(method), ignore)
    assert row.status is status, row.reason
    assert reason in row.reason
    assert (row.algbw is not None) == (status is Status.OK)
    assert row.killed is False


@pytest.mark.parametrize(
    "method",
    [
        *("zoo:hangs", "zoo:floods"),
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("zoo:sleeps", "zoo:computes")),
    ],
)
def test_a_timeout_is_kept_within_a_second(method: str) -> None:
    """Asleep, stuck in C with the lock held, computing there, or writing without end."""
    row, seconds = run_and_time(a_point(method, limits=Limits(0.5, 4.0)))
    assert (row.status, row.reason) == (Status.TIMEOUT, "over 0.5 s in phase 'generate'")
    assert 0.4 < seconds < 1.5
    assert row.gpus == 4
    assert row.peak_memory_mb is not None


@pytest.mark.parametrize(
    "method", [pytest.param("zoo:sleeps_with_child", marks=pytest.mark.slow), "zoo:escapes"]
)
def test_a_timeout_ends_all_children(method: str, tmp_path: Path) -> None:
    """Also an orphan in a session of its own with an empty environment."""
    note = tmp_path / "child"
    row, seconds = run_and_time(a_point(method, limits=Limits(0.5, 4.0), note=str(note)))
    assert row.status is Status.TIMEOUT
    assert seconds < 1.5
    assert ended(int(note.read_text()))


def test_children_that_a_method_leaves_behind_are_ended(tmp_path: Path) -> None:
    """The row is ok, and neither the child in its own session nor its orphan goes on."""
    note = tmp_path / "child"
    row = run_point(a_point("zoo:leaves_children", note=str(note)), ignore)
    assert row.status is Status.OK
    assert ended(int(note.read_text()))


@pytest.mark.first_rows(1)
@pytest.mark.parametrize("method", ["zoo:allocates", "zoo:allocates_in_child"])
def test_memory_beyond_the_limit_is_stopped(method: str) -> None:
    """2 GB in steps of 40 MB, or 0.6 GB in a child; the limit is a fifth of a GB."""
    row, seconds = run_and_time(a_point(method, limits=Limits(30.0, 0.2)))
    assert (row.status, row.reason) == (Status.OUT_OF_MEMORY, "over 0.2 GB in phase 'generate'")
    assert row.peak_memory_mb is not None
    assert 200 < row.peak_memory_mb < 2000
    assert seconds < 2  # the memory has to be filled first


@pytest.mark.slow
def test_shared_memory_counts_once() -> None:
    """Three processes that share 300 MB do not hold 900 MB; the limit is 0.7 GB."""
    row = run_point(a_point("zoo:shares", limits=Limits(30.0, 0.7)), ignore)
    assert (row.status, row.reason) == (Status.OK, "")


@pytest.mark.slow
def test_the_parent_s_memory_is_not_the_worker_s() -> None:
    """We hold 400 MB while the worker runs; getrusage would have charged it with that."""
    hoard = bytearray(os.urandom(1024)) * 400_000
    row = run_point(a_point("zoo:good"), ignore)
    assert len(hoard) > 400e6
    assert row.peak_memory_mb is not None
    assert row.peak_memory_mb < 300


def test_a_worker_killed_from_outside_says_so() -> None:
    """``kill -9`` by anybody: a failure that is not the method's, to be repeated."""
    row = run_point(a_point("zoo:is_killed"), ignore)
    assert (row.status, row.reason) == (Status.FAILED, "killed by signal 9")
    assert row.killed is True


def test_a_killed_watchdog_leaves_nobody(tmp_path: Path) -> None:
    """``kill -9`` of the watchdog takes the worker along; its children are found by their mark."""
    note = tmp_path / "child"
    row = run_point(a_point("zoo:kills_its_watchdog", note=str(note)), ignore)
    assert (row.status, row.reason, row.killed) == (Status.FAILED, "killed by signal 9", True)
    assert ended(int(note.read_text()))
