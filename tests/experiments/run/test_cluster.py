"""Points on a Dask cluster: two worker processes on this machine, one of which is killed."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from experiments.results.rows import Status, read_rows
from experiments.run import cluster as cluster_executor
from forestcoll.errors import ForestCollError, InvalidExperimentError
from tests.experiments.run.ended import ended

ENVIRONMENT = {
    "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "3",
    "DASK_DISTRIBUTED__WORKER__MULTIPROCESSING_METHOD": "spawn",
}


def wait_for(condition: Callable[[], object], what: str, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.05)


class Cluster:
    """A scheduler and two workers, each a process of one thread."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = folder / "scheduler.json"
        self.scheduler = self._start(
            "dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"
        )
        options = ["--no-nanny", "--nthreads", "1", "--no-dashboard", "--death-timeout", "60"]
        self.workers = [
            self._start("dask_worker", *options, "--local-directory", str(folder / f"worker-{n}"))
            for n in range(2)
        ]
        wait_for(self._is_written, "the scheduler")
        self.address = json.loads(self._file.read_text())["address"]

    def _is_written(self) -> bool:
        """The file is there before its text is."""
        return self._file.exists() and self._file.read_text().rstrip().endswith("}")

    def _start(self, program: str, *options: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [
                *(sys.executable, "-P", "-m", f"distributed.cli.{program}"),
                *("--scheduler-file", str(self._file)),
                *options,
            ],
            env={
                **os.environ,
                **ENVIRONMENT,
                "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            },
            cwd=self._folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def stop(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    cluster = Cluster(tmp_path)
    yield cluster
    cluster.stop()


def ancestors(process: int) -> list[int]:
    found = [process]
    while found[-1] > 1:
        found.append(int(Path(f"/proc/{found[-1]}/stat").read_text().rpartition(")")[2].split()[1]))
    return found


@pytest.mark.slow  # some thirteen seconds of restarts
def test_no_point_is_lost_with_a_worker_harness_or_scheduler(
    cluster: Cluster, write_experiment, harness, tmp_path: Path
) -> None:
    """A Dask worker, then the harness, then the scheduler, while a point sleeps for a minute.

    The point of the killed worker goes to the other one, where it answers at once; none is lost or
    doubled, and what ran on the killed worker is gone. The interrupted harness leaves nothing
    either. Without a scheduler there is one line, exit code 2, and no waiting for ever.
    """
    note = tmp_path / "note"
    path = write_experiment(
        topologies=[{"family": "ring", "parameters": {"nodes": 3}}],
        methods=[
            {"name": "zoo:naps_first", "parameters": {"note": str(note)}},
            {"name": "zoo:naps"},
        ],
    )
    options = ["--executor", "dask", "--scheduler", cluster.address, "--no-figures"]

    def asleep(*more: str) -> tuple[subprocess.Popen[bytes], int]:
        """A run, and the process of its first point."""
        note.unlink(missing_ok=True)
        run = harness(path, *options, *more)
        wait_for(lambda: note.exists() and note.read_text(), "the first point")
        return run, int(note.read_text())

    run, point = asleep()
    (victim,) = [w for w in cluster.workers if w.pid in ancestors(point)]
    victim.send_signal(signal.SIGKILL)
    _, notes = run.communicate(timeout=90)
    assert run.returncode == 0, notes.decode()
    rows = read_rows(tmp_path / "results" / "toy" / "rows.jsonl")
    assert [row.status for row in rows] == [Status.OK] * 2
    assert set(Counter(row.point for row in rows).values()) == {1}
    assert ended(point)

    run, point = asleep("--fresh")
    run.send_signal(signal.SIGINT)
    run.communicate(timeout=30)
    assert run.returncode == 130
    wait_for(lambda: ended(point), "the point's end")

    run, point = asleep("--fresh")
    cluster.scheduler.kill()
    _, notes = run.communicate(timeout=60)
    assert run.returncode == 2
    assert f"error: lost the Dask scheduler at {cluster.address}" in notes.decode()


def test_nobody_at_the_address(
    app, write_experiment, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Port 1 is nobody's."""
    monkeypatch.setattr(cluster_executor, "CONNECT_S", 0.5)
    monkeypatch.chdir(tmp_path)  # results go below it
    options = ["--executor", "dask", "--scheduler", "tcp://127.0.0.1:1"]
    done = CliRunner().invoke(app, [str(write_experiment()), *options])
    assert isinstance(done.exception, ForestCollError)
    assert "no Dask scheduler answers at tcp://127.0.0.1:1" in str(done.exception)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--scheduler", "tcp://head:1"], "--scheduler is for --executor dask"),
        (["--executor", "dask"], "add --scheduler tcp://HOST:PORT"),
        (["--executor", "dask", "--scheduler", "tcp://head:1", "-j", "2"], "leave --jobs out"),
    ],
)
def test_options_that_do_not_go_together(app, write_experiment, options, message) -> None:
    """Each is reported with what to do."""
    done = CliRunner().invoke(app, [str(write_experiment()), *options])
    assert isinstance(done.exception, InvalidExperimentError)
    assert message in str(done.exception)


def test_a_missing_dask_is_named(app, write_experiment, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line that names the extra."""
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.delitem(sys.modules, "experiments.run.cluster", raising=False)
    options = ["--executor", "dask", "--scheduler", "tcp://head:8786"]
    done = CliRunner().invoke(app, [str(write_experiment()), *options])
    assert isinstance(done.exception, ForestCollError)
    assert "pip install 'forestcoll[dask]'" in str(done.exception)
