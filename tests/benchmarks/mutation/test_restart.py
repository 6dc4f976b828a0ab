"""A mutant of what runs at import, in a process that imports it mutated."""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.mutation import restart
from benchmarks.mutation.mutants import Mutants
from benchmarks.mutation.restart import MutatedModule, tried_anew
from benchmarks.mutation.session import Result

TOY = "LIMIT = 7\n"


def test_an_import_sees_the_mutant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "toy_of_restart.py"
    path.write_text(TOY)
    monkeypatch.setattr(restart, "ROOT", tmp_path)
    monkeypatch.setattr(sys, "meta_path", [MutatedModule(path, 0), *sys.meta_path])
    monkeypatch.delitem(sys.modules, "toy_of_restart", raising=False)
    assert importlib.import_module("toy_of_restart").LIMIT == 8
    sys.modules.pop("toy_of_restart")


@pytest.mark.parametrize(
    ("code", "output", "status", "by"),
    [
        (0, "1 passed", "survived", ""),
        (1, "FAILED tests/a.py::test_b - assert 1\n1 failed", "killed", "tests/a.py::test_b"),
        (2, "ERROR tests/a.py - ImportError\n1 error", "killed", "tests/a.py"),
    ],
)
def test_the_exit_code_shows_whether_a_test_failed(
    code: int, output: str, status: str, by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = subprocess.CompletedProcess([], code, output, "")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: done)
    begun = Result("a.py", Mutants(TOY).all[0], "restart")
    found = tried_anew(begun, ["tests"], 1.0)
    assert (found.status, found.by) == (status, by)


def test_endless_runs_are_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    def late(*_: object, **__: object) -> None:
        raise subprocess.TimeoutExpired("python", 1.0)

    monkeypatch.setattr(subprocess, "run", late)
    begun = Result("a.py", Mutants(TOY).all[0], "restart")
    assert tried_anew(begun, ["tests"], 1.0).status == "timeout"
