"""Points side by side on this machine."""

import time
from pathlib import Path

import pytest

from experiments.config.experiment import read_experiment
from experiments.config.points import Point, Status
from experiments.results.rows import Row, RowFile
from experiments.run.executors import LocalExecutor
from experiments.run.plan import make_plan
from experiments.run.runner import run_points
from tests.experiments.run.ended import ended


class Events:
    """An observer that remembers which methods began and ended, in order."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def stage(self, point: Point, stage: str) -> None:
        if stage == "starting":
            self.seen.append(f"{point.method} starts")

    def finished(self, point: Point, row: Row) -> None:
        self.seen.append(f"{point.method} ends")


@pytest.mark.slow
def test_points_run_side_by_side(write_experiment, tmp_path: Path) -> None:
    """Two of three points wait for each other; the third starts when one of them has ended.

    The rows come in the order of the points.
    """
    meeting = tmp_path / "meeting"
    meeting.mkdir()
    meets = {"folder": str(meeting), "name": ["a", "b"]}
    path = write_experiment(
        topologies=[{"family": "ring", "parameters": {"nodes": 3}}],
        methods=[{"name": "zoo:meets", "parameters": meets}, {"name": "ring"}],
    )
    points, events = read_experiment(path).points, Events()
    with RowFile(tmp_path / "rows.jsonl") as file:
        rows = run_points(make_plan(points, file.rows), file, LocalExecutor(2), events)
    assert [row.status for row in rows] == [Status.OK] * 3
    assert [row.point for row in rows] == [point.identity for point in points]
    assert [row.jobs for row in rows] == [2, 2, 2]
    assert events.seen[:3] == ["zoo:meets starts", "zoo:meets starts", "zoo:meets ends"]
    assert sorted(events.seen[3:]) == ["ring ends", "ring starts", "zoo:meets ends"]


def test_closing_the_run_ends_all_points(write_experiment, tmp_path: Path) -> None:
    """One sleeps for a minute; closing takes a moment, and nobody is left."""
    note = tmp_path / "note"
    path = write_experiment(
        topologies=[{"family": "ring", "parameters": {"nodes": 3}}],
        methods=[{"name": "ring"}, {"name": "zoo:naps_first", "parameters": {"note": str(note)}}],
    )
    run = LocalExecutor(2).run(read_experiment(path).points, lambda *_: None)
    assert next(run).method == "ring"
    deadline = time.monotonic() + 20
    while not (note.exists() and note.read_text()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    run.close()
    assert ended(int(note.read_text()))
