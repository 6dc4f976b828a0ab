"""Runs: side by side, resumed, on a full disk."""

import resource
from collections.abc import Callable, Generator, Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from experiments.config.experiment import read_experiment
from experiments.config.points import Point, Status
from experiments.results.rows import Row, RowFile, read_rows
from experiments.run.plan import gpus_of, make_plan
from experiments.run.runner import run_points, with_log
from tests.experiments.samples import clusters_of_rows as some_rows

SIZES = [{"family": "ring", "parameters": {"nodes": [3, 4, 5]}}]


class Pretended:
    """An executor that makes up its rows."""

    def run(
        self, points: Iterable[Point], on_stage: Callable[[Point, str], None]
    ) -> Generator[Row]:
        for point in points:
            on_stage(point, "starting")
            yield Row.of(point, {"status": "ok", "time": "2026-01-01T00:00:00+00:00"})


def test_a_killed_run_resumes_with_the_missing_rows(write_experiment, log, tmp_path: Path) -> None:
    """Of three rows one is lost and one cut in half: the second run makes just these two."""
    path = tmp_path / "rows.jsonl"
    points = read_experiment(write_experiment(topologies=SIZES)).points
    with RowFile(path) as file:
        first = run_points(make_plan(points, file.rows), file, Pretended(), log)
    assert [row.status for row in first] == [Status.OK] * 3
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + lines[1][:100])
    log.ran.clear()
    with RowFile(path) as file:
        second = run_points(make_plan(points, file.rows), file, Pretended(), log)
    assert [point.topology for point in log.ran] == ["ring:nodes=4", "ring:nodes=5"]
    assert [row.point for row in second] == [point.identity for point in points]
    assert [row.point for row in read_rows(path)] == [point.identity for point in points]


@pytest.mark.slow
def test_a_full_disk_leaves_no_half_row(
    app, write_experiment, harness, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """No file may exceed 1500 bytes, so the second row does not fit: exit code 2.

    What was finished stays; with room again, the next run finishes the rest.
    """
    path = write_experiment()

    def fill() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1500, 1500))

    # Otherwise Python keeps what it compiles cut off at the limit, and no later import works.
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    full = harness(path, preexec_fn=fill)
    _, notes = full.communicate(timeout=60)
    assert full.returncode == 2
    message = notes.decode().splitlines()[-1]
    assert message.startswith(f"error: {tmp_path / 'results' / 'toy' / 'rows.jsonl'}: cannot write")
    assert message.endswith("make room and run again: finished rows are kept")
    rows = tmp_path / "results" / "toy" / "rows.jsonl"
    before = rows.read_bytes()
    assert before.endswith(b"}\n")
    assert len(read_rows(rows)) == 1
    again = [str(path), "--results", str(tmp_path / "results"), "--no-figures"]
    assert CliRunner().invoke(app, again).exit_code == 0
    assert rows.read_bytes().startswith(before)
    assert len({row.point for row in read_rows(rows)}) == len(read_rows(rows)) == 2


class Slow(Pretended):
    """An executor on which every method but the first takes too long from 4 nodes on."""

    def run(
        self, points: Iterable[Point], on_stage: Callable[[Point, str], None]
    ) -> Generator[Row]:
        for point in points:
            on_stage(point, "starting")
            late = point.method != "forestcoll" and point.topology != "ring:nodes=3"
            ending = {"status": "timeout", "reason": "over 1 s"} if late else {"status": "ok"}
            known = {"gpus": gpus_of(point), "time": "2026-01-01T00:00:00+00:00"}
            yield Row.of(point, {**ending, **known})


def test_larger_points_are_skipped_after_a_limit(write_experiment, log, tmp_path: Path) -> None:
    """With ``once``: its rows say so, others go on; with higher limits, and without it, all run."""
    methods = [{"name": "forestcoll"}, {"name": "ring"}]
    limits = {"seconds": 1, "once": True}
    sizes = [{"family": "ring", "parameters": {"nodes": [3, 4, 5, 6]}}]
    path = write_experiment(topologies=sizes, methods=methods, limits=limits)
    with RowFile(tmp_path / "rows.jsonl") as file:
        rows = run_points(make_plan(read_experiment(path).points, []), file, Slow(), log)
    ring = [(row.status, row.reason) for row in rows if row.method == "ring"]
    spared = (Status.TIMEOUT, "not run: over 1 s on ring:nodes=4")
    assert ring == [(Status.OK, ""), (Status.TIMEOUT, "over 1 s"), spared, spared]
    assert all(row.status is Status.OK for row in rows if row.method == "forestcoll")
    assert len(read_rows(tmp_path / "rows.jsonl")) == 8
    raised = read_experiment(
        write_experiment(topologies=sizes, methods=methods, limits={"seconds": 2, "once": True})
    )
    assert len(make_plan(raised.points, rows).to_run) == 3
    every = write_experiment(topologies=sizes, methods=methods, limits={"seconds": 1})
    with RowFile(tmp_path / "more.jsonl") as file:
        rows = run_points(make_plan(read_experiment(every).points, []), file, Slow(), log)
    assert [row.reason for row in rows if row.method == "ring"] == ["", *["over 1 s"] * 3]


def test_only_larger_networks_are_spared(write_experiment, log, tmp_path: Path) -> None:
    """In whichever order they stand: of 6, 3, 5, 7 and 4 nodes, in this order, only 7 is."""
    limits = {"seconds": 1, "once": True}
    sizes = [{"family": "ring", "parameters": {"nodes": [6, 3, 5, 7, 4]}}]
    path = write_experiment(topologies=sizes, methods=[{"name": "ring"}], limits=limits)
    plan = make_plan(read_experiment(path).points, [])
    with RowFile(tmp_path / "rows.jsonl") as file:
        found = {row.topology: row.reason for row in run_points(plan, file, Slow(), log)}
    assert found == {
        "ring:nodes=6": "over 1 s",
        "ring:nodes=3": "",
        "ring:nodes=5": "over 1 s",
        "ring:nodes=7": "not run: over 1 s on ring:nodes=5",
        "ring:nodes=4": "over 1 s",
    }


def test_a_smaller_network_that_is_added_later_runs(write_experiment, log, tmp_path: Path) -> None:
    """A limit that a larger network ran into says nothing of it."""
    limits = {"seconds": 1, "once": True}
    found = []
    with RowFile(tmp_path / "rows.jsonl") as file:
        for nodes in ([3, 6], [3, 4, 5, 6]):
            sizes = [{"family": "ring", "parameters": {"nodes": nodes}}]
            path = write_experiment(topologies=sizes, methods=[{"name": "ring"}], limits=limits)
            plan = make_plan(read_experiment(path).points, file.rows)
            found.append([row.reason for row in run_points(plan, file, Slow(), log)])
    assert found == [
        ["", "over 1 s"],
        ["", "over 1 s", "not run: over 1 s on ring:nodes=4", "over 1 s"],
    ]


def test_a_failure_s_words_are_in_a_file_that_the_row_names(tmp_path: Path) -> None:
    """Not in the row itself, which is for machines; the file says which point it is of."""
    failed = replace(some_rows()[0], status=Status.FAILED, reason="it broke", stderr="Traceback\n")
    row = with_log(failed, tmp_path)
    assert row.log == "logs/p.log"
    assert "stderr" not in row.as_dict()
    text = (tmp_path / row.log).read_text()
    assert text.startswith("forestcoll on dgx_a100:boxes=2, allgather, 2026-")
    assert text.endswith("\nit broke\n\nTraceback\n")
    assert Row.from_json(row.to_json()) == row


def test_a_point_that_is_well_again_has_no_log(tmp_path: Path) -> None:
    """An old file would speak of a failure that is none any more."""
    row = some_rows()[0]
    file = tmp_path / str(with_log(replace(row, stderr="x"), tmp_path).log)
    assert file.exists()
    assert with_log(row, tmp_path) == row
    assert not file.exists()
