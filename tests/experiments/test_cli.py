"""``forestcoll run`` from end to end."""

import json
import signal
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from experiments.config.experiment import read_experiment
from experiments.results.rows import Row, RowFile, read_rows
from forestcoll.errors import InvalidExperimentError

RING = [{"family": "ring", "parameters": {"nodes": 4}}]


def test_an_experiment_runs_and_is_reported(app, write_experiment, tmp_path: Path) -> None:
    """Two points: rows, a summary and a figure twice; a second run runs nothing."""
    path = write_experiment(figures=["theoretical-algbw"])
    arguments = [str(path), "--results", str(tmp_path / "results")]
    first = CliRunner().invoke(app, arguments, env={"COLUMNS": "120"})
    assert first.exit_code == 0, first.output
    assert "ring:nodes=4" in first.output
    folder = tmp_path / "results" / "toy"
    assert sorted(file.name for file in folder.iterdir()) == [
        "rows.jsonl",
        "summary.csv",
        "theoretical-algbw.pdf",
        "theoretical-algbw.png",
    ]
    before = (folder / "rows.jsonl").read_bytes()
    assert "not run" not in first.stderr
    second = CliRunner().invoke(app, [*arguments, "--no-figures"])
    assert second.exit_code == 0
    assert "2 of 2 points had a row and were not run; --fresh runs them again" in second.stderr
    assert (folder / "rows.jsonl").read_bytes() == before


@pytest.mark.slow
def test_json_is_all_that_a_machine_reads(app, write_experiment, tmp_path: Path) -> None:
    """Standard output is one JSON object with the rows and the files; no figures if unwanted.

    A failed point is exit code 1; the others are run and reported all the same.
    """
    path = write_experiment(
        topologies=RING,
        methods=[{"name": "zoo:raises"}, {"name": "ring"}],
        figures=["theoretical-algbw"],
    )
    results = tmp_path / "results"
    done = CliRunner().invoke(app, [str(path), "--results", str(results), "--json", "--no-figures"])
    assert done.exit_code == 1
    answer = json.loads(done.stdout)
    assert [row["status"] for row in answer["rows"]] == ["failed", "ok"]
    row = answer["rows"][1]
    assert row["algbw"].keys() == row["optimum"].keys() == {"exact", "value"}
    assert row["ratio"] == {"exact": "1", "value": 1.0}
    assert [Path(file).name for file in answer["files"]] == ["rows.jsonl", "summary.csv"]


@pytest.mark.slow
def test_the_table_names_the_file_of_a_traceback(app, write_experiment, tmp_path: Path) -> None:
    """Of what a method raises, of ours or its own errors; the row names it in its own folder."""
    path = write_experiment(topologies=RING, methods=[{"name": "zoo:raises"}, {"name": "zoo:lies"}])
    results = tmp_path / "results"
    done = CliRunner().invoke(app, [str(path), "--results", str(results), "--format", "wide"])
    rows = read_rows(results / "toy" / "rows.jsonl")
    for row, words in zip(rows, ('raise KeyError("a bug")', "in verify"), strict=True):
        file = results / "toy" / str(row.log)
        assert f"failed: {row.method} on {row.topology}: {row.reason}; see {file}" in done.stdout
        assert "Traceback (most recent call last)" in file.read_text()
        assert words in file.read_text()
        assert row.stderr is None


def test_a_method_that_is_not_there_is_refused_by_a_dry_run(app, write_experiment) -> None:
    path = write_experiment(methods=[{"name": "nomod:fn"}])
    done = CliRunner().invoke(app, [str(path), "--dry-run"])
    assert isinstance(done.exception, InvalidExperimentError)
    assert "methods[0].name is 'nomod:fn', but there is no module 'nomod'" in str(done.exception)


def test_a_mistake_in_the_file_is_a_typed_error(app, write_experiment) -> None:
    """The command leaves it to the caller, who knows the exit code."""
    path = write_experiment(methods=[{"name": "rnig"}])
    done = CliRunner().invoke(app, [str(path)])
    assert isinstance(done.exception, InvalidExperimentError)
    assert done.exception.exit_code == 2


def test_ctrl_c_keeps_the_finished_rows(write_experiment, harness, tmp_path: Path) -> None:
    """Interrupted while two points sleep side by side: exit code 130, one row, nobody left."""
    notes = [str(tmp_path / name) for name in ("a", "b")]
    path = write_experiment(
        topologies=RING,
        methods=[
            {"name": "ring"},
            {"name": "zoo:naps_first", "parameters": {"note": notes}},
        ],
    )
    run = harness(path, "--jobs", "2")
    deadline = time.monotonic() + 30
    while not all(Path(note).exists() for note in notes) and time.monotonic() < deadline:
        time.sleep(0.05)
    run.send_signal(signal.SIGINT)
    _, text = run.communicate(timeout=15)
    assert run.returncode == 130
    assert b"1 of 3 points are kept; run again without --fresh for the rest" in text
    rows = read_rows(tmp_path / "results" / "toy" / "rows.jsonl")
    assert [row.method for row in rows] == ["ring"]
    for note in notes:
        assert not Path(f"/proc/{Path(note).read_text()}").exists()


@pytest.fixture
def rows(write_experiment, tmp_path: Path) -> Path:
    """Rows of both points, as of an earlier run of 2 s each."""
    path = tmp_path / "results" / "toy" / "rows.jsonl"
    known = {"status": "ok", "wall_s": 2.0, "time": "2026-01-01T00:00:00+00:00"}
    with RowFile(path) as file:
        for point in read_experiment(write_experiment()).points:
            file.append(Row.of(point, {**known, "gpus": int(point.topology[-1])}))
    return path


def test_a_dry_run_writes_nothing(app, write_experiment, rows: Path, tmp_path: Path) -> None:
    """First all is unknown; with a row of one of the two points, the other may take as long."""
    path = str(write_experiment())
    first = CliRunner().invoke(app, [path, "--results", str(tmp_path / "none"), "--dry-run"])
    assert first.exit_code == 0, first.output
    assert "0 done, 2 to run: 2 of unknown time" in first.output
    assert not (tmp_path / "none").exists()
    before = rows.read_bytes().splitlines(keepends=True)[0]
    rows.write_bytes(before)
    arguments = [path, "--results", str(rows.parents[1]), "--dry-run", "--json"]
    second = CliRunner().invoke(app, arguments)
    assert [point["runs"] for point in json.loads(second.stdout)] == [False, True]
    assert json.loads(second.stdout)[1]["estimate_s"] == 2
    assert rows.read_bytes() == before


@pytest.mark.slow
def test_starting_over_with_some_keeps_the_others(app, write_experiment, rows: Path) -> None:
    """``--fresh --only`` runs one of two points again; the summary has the last row of both."""
    arguments = [str(write_experiment()), "--results", str(rows.parents[1]), "--no-figures"]
    done = CliRunner().invoke(app, [*arguments, "--json", "-j", "2", "--fresh", "--only", "*=3"])
    assert done.exit_code == 0
    assert [row["topology"] for row in json.loads(done.stdout)["rows"]] == ["ring:nodes=3"]
    kept = [row.topology for row in read_rows(rows)]
    assert kept == ["ring:nodes=3", "ring:nodes=4", "ring:nodes=3"]
    assert len(rows.with_name("summary.csv").read_text().splitlines()) == 3


def test_a_title_is_never_markup(app, write_experiment, rows: Path) -> None:
    """It is printed as it is written, before and after the run."""
    path = write_experiment(title="[/red]")
    for options in (["--dry-run"], ["--no-figures"]):
        done = CliRunner().invoke(app, [str(path), "--results", str(rows.parents[1]), *options])
        assert done.exit_code == 0, done.exception
        assert "[/red]" in done.output
