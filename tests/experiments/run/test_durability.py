"""``kill -9`` at any moment: the short form of benchmarks/kill_loop.py, and a new user's path."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from experiments.results.rows import Status, read_rows
from experiments.results_cli import app as results

KILL_LOOP = Path(__file__).parents[3] / "benchmarks" / "kill_loop.py"


@pytest.mark.slow  # below a run is killed, in test_supervisor.py its worker and its watchdog
def test_the_kill_loop_in_short() -> None:
    """Three points, whose run is killed twice: none lost, none doubled, no process left.

    By this seed a watchdog and a worker are killed, too, if the machine is not too slow.
    """
    options = ["--rounds", "1", "--sizes", "1", "--runs", "2", "--within", "2", "--seed", "784"]
    done = subprocess.run(
        [sys.executable, str(KILL_LOOP), *options],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].endswith(
        "3 points: each exactly once, 0 rows lost, 0 halves, 0 processes left"
    )


def four_boxes() -> dict[str, object]:
    """Return a cluster of 4 boxes of 2 GPUs: 100 GB/s within a box, 25 GB/s to a switch."""
    gpus = [(box, index) for box in range(4) for index in range(2)]
    nodes = [
        {"name": f"gpu{box}.{index}", "kind": "compute", "box": box, "index": index}
        for box, index in gpus
    ]
    inside = [
        {"from": f"gpu{box}.0", "to": f"gpu{box}.1", "bandwidth_gb_s": 100, "both": True}
        for box in range(4)
    ]
    outside = [
        {"from": f"gpu{box}.{index}", "to": "switch", "bandwidth_gb_s": 25, "both": True}
        for box, index in gpus
    ]
    switch = {"name": "switch", "kind": "switch"}
    return {"name": "four-boxes", "nodes": [*nodes, switch], "links": [*inside, *outside]}


@pytest.mark.slow
def test_a_new_user_s_path(write_experiment, harness, tmp_path: Path) -> None:
    """Their own topology file, a run killed half-way, resumed, and a figure from the rows.

    Into each box come the 6 other shards over 2 x 25 GB/s, so 1/x* = 6/50 and algbw = 8 x* =
    200/3 GB/s.
    """
    (tmp_path / "four-boxes.yaml").write_text(yaml.safe_dump(four_boxes()))
    path = write_experiment(
        name="mine",
        topologies=[{"file": "four-boxes.yaml"}],
        methods=[
            {"name": "forestcoll"},
            {"name": "zoo:naps_first", "parameters": {"note": str(tmp_path / "note")}},
        ],
        figures=["time-against-algbw"],
    )
    folder = tmp_path / "results" / "mine"
    first = harness(path)
    deadline = time.monotonic() + 60
    while not (tmp_path / "note").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    first.send_signal(signal.SIGKILL)
    first.wait()
    before = (folder / "rows.jsonl").read_bytes()
    assert [row.method for row in read_rows(folder / "rows.jsonl")] == ["forestcoll"]
    second = harness(path)
    _, notes = second.communicate(timeout=60)
    assert second.returncode == 0, notes.decode()
    rows = read_rows(folder / "rows.jsonl")
    assert (folder / "rows.jsonl").read_bytes().startswith(before)
    assert [row.status for row in rows] == [Status.OK] * 2
    assert [row.method for row in rows] == ["forestcoll", "zoo:naps_first"]
    assert (rows[0].algbw, rows[0].ratio) == ("200/3", 1.0)
    assert (folder / "time-against-algbw.png").stat().st_size > 10_000
    picture = tmp_path / "mine.png"
    arguments = ["plot", str(folder), "--kind", "theoretical-algbw", "-o", str(picture)]
    drawn = CliRunner().invoke(results, arguments)
    assert drawn.exit_code == 0, drawn.output
    assert picture.stat().st_size > 10_000
