"""``forestcoll run`` from end to end."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

from typer.testing import CliRunner

from experiments.results.rows import read_rows
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
    assert CliRunner().invoke(app, [*arguments, "--no-figures"]).exit_code == 0
    assert (folder / "rows.jsonl").read_bytes() == before


def test_json_is_all_that_a_machine_reads(app, write_experiment, tmp_path: Path) -> None:
    """Standard output is one JSON object with the rows and the files; no figures if unwanted."""
    path = write_experiment(topologies=RING, figures=["theoretical-algbw"])
    results = tmp_path / "results"
    done = CliRunner().invoke(app, [str(path), "--results", str(results), "--json", "--no-figures"])
    answer = json.loads(done.stdout)
    assert [row["status"] for row in answer["rows"]] == ["ok"]
    (row,) = answer["rows"]
    assert row["algbw"].keys() == row["optimum"].keys() == {"exact", "value"}
    assert row["ratio"] == {"exact": "1", "value": 1.0}
    assert [Path(file).name for file in answer["files"]] == ["rows.jsonl", "summary.csv"]


def test_a_failed_point_is_exit_code_1(app, write_experiment, tmp_path: Path) -> None:
    """The others are run and reported all the same."""
    path = write_experiment(topologies=RING, methods=[{"name": "zoo:raises"}, {"name": "ring"}])
    done = CliRunner().invoke(app, [str(path), "--results", str(tmp_path), "--json"])
    assert done.exit_code == 1
    statuses = [row["status"] for row in json.loads(done.stdout)["rows"]]
    assert statuses == ["failed", "ok"]


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
    _, said = run.communicate(timeout=15)
    assert run.returncode == 130
    assert b"1 of 3 points are kept" in said
    rows = read_rows(tmp_path / "results" / "toy" / "rows.jsonl")
    assert [row.method for row in rows] == ["ring"]
    for note in notes:
        assert not Path(f"/proc/{Path(note).read_text()}").exists()


def test_a_dry_run_says_what_would_run_and_writes_nothing(
    app, write_experiment, tmp_path: Path
) -> None:
    """First all is unknown; after one of the two points has run, the other may take as long."""
    arguments = [str(write_experiment()), "--results", str(tmp_path / "results")]
    first = CliRunner().invoke(app, [*arguments, "--dry-run"])
    assert first.exit_code == 0, first.output
    assert "0 done, 2 to run: 2 of unknown time" in first.output
    assert not (tmp_path / "results").exists()
    one = CliRunner().invoke(app, [*arguments, "--only", "*=3", "--json"])
    assert [row["topology"] for row in json.loads(one.stdout)["rows"]] == ["ring:nodes=3"]
    second = CliRunner().invoke(app, [*arguments, "--dry-run", "--json"])
    assert [point["runs"] for point in json.loads(second.stdout)] == [False, True]
    assert json.loads(second.stdout)[1]["estimate_s"] > 0


def test_starting_over_with_some_keeps_the_others(app, write_experiment, tmp_path: Path) -> None:
    """``--fresh --only`` runs one of two points again; the summary has the last row of both."""
    path = write_experiment()
    arguments = [str(path), "--results", str(tmp_path), "--no-figures", "--json"]
    assert CliRunner().invoke(app, [*arguments, "-j", "2"]).exit_code == 0
    assert CliRunner().invoke(app, [*arguments, "--fresh", "--only", "*=3"]).exit_code == 0
    rows = [row.topology for row in read_rows(tmp_path / "toy" / "rows.jsonl")]
    assert sorted(rows) == ["ring:nodes=3", "ring:nodes=3", "ring:nodes=4"]
    assert rows[-1] == "ring:nodes=3"
    summary = (tmp_path / "toy" / "summary.csv").read_text().splitlines()
    assert len(summary) == 3


def test_a_title_is_never_markup(app, write_experiment, tmp_path: Path) -> None:
    """It is printed as it is written, before and after the run."""
    path = write_experiment(topologies=RING, title="[/red]")
    for options in (["--dry-run"], ["--no-figures"]):
        done = CliRunner().invoke(app, [str(path), "--results", str(tmp_path), *options])
        assert done.exit_code == 0, done.exception
        assert "[/red]" in done.output
