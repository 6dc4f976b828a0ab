"""Experiments small enough for a test."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from experiments.cli import run
from experiments.config.experiment import read_experiment
from experiments.config.points import Point
from experiments.results.rows import Row

WriteExperiment = Callable[..., Path]


@pytest.fixture(autouse=True)
def _zoo(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let experiments name the methods of zoo.py; workers look where we look."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent))


@pytest.fixture
def app() -> typer.Typer:
    """Return a command line with ``run`` alone, as the entry point gives it to the real one."""
    app = typer.Typer()
    app.command("run")(run)
    return app


@pytest.fixture
def write_experiment(tmp_path: Path) -> WriteExperiment:
    """Return a function that writes an experiment file: by default, two tiny rings."""

    def write(**changes: object) -> Path:
        content = {
            "name": "toy",
            "topologies": [{"family": "ring", "parameters": {"nodes": [3, 4]}}],
            "methods": [{"name": "ring"}],
            **changes,
        }
        path = tmp_path / "toy.yaml"
        path.write_text(yaml.safe_dump(content, sort_keys=False))
        return path

    return write


@pytest.fixture
def harness(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Return a function that starts ``forestcoll run`` in a process of its own."""
    started: list[subprocess.Popen[bytes]] = []

    def start(path: Path, *options: str, **more: Any) -> subprocess.Popen[bytes]:
        program = "from forestcoll.cli import main; main()"
        results = str(tmp_path / "results")
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", program, "run", str(path), "--results", results, *options],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            **more,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


class Log:
    """An observer that remembers which points ran."""

    def __init__(self) -> None:
        self.ran: list[Point] = []

    def stage(self, point: Point, stage: str) -> None:
        if stage == "starting":
            self.ran.append(point)

    def finished(self, point: Point, row: Row) -> None:
        pass


@pytest.fixture
def log() -> Log:
    return Log()


@pytest.fixture
def points_of() -> Callable[[Path], Sequence[Point]]:
    return lambda path: read_experiment(path).points
