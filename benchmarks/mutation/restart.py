"""Try a mutant in its own process, where the module is mutated before its first import.

Code that runs at import or while tests are collected cannot be exchanged later. The exit code is 0
if the tests pass, 1 if one fails, another one if they could not run.

    python -m benchmarks.mutation.restart forestcoll/problem/cuts.py 7 tests/problem < names
"""

from __future__ import annotations

import importlib.abc
import importlib.util
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

import pytest

from benchmarks.mutation.hypotheses import Profile
from benchmarks.mutation.mutants import Mutants
from benchmarks.mutation.session import ARGUMENTS, Result

__all__ = ["MutatedModule", "first_failed", "tried_anew"]

ROOT = Path(__file__).parents[2]


class MutatedModule(importlib.abc.MetaPathFinder):
    """Finds one module, with a mutant in it."""

    def __init__(self, path: Path, number: int) -> None:
        parts = path.relative_to(ROOT).with_suffix("").parts
        self._name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        self._path, self._number = path, number

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Claim the one module."""
        if fullname != self._name:
            return None
        loader = _Loader(self._path, self._number)
        return importlib.util.spec_from_file_location(fullname, self._path, loader=loader)


class _Loader(importlib.abc.Loader):
    """Compiles the mutated tree, past all that is kept compiled."""

    def __init__(self, path: Path, number: int) -> None:
        self._path, self._number = path, number

    def exec_module(self, module: ModuleType) -> None:
        tree = Mutants(self._path.read_text(encoding="utf-8")).tree(self._number)
        exec(compile(tree, str(self._path), "exec", dont_inherit=True), module.__dict__)


class _Order:
    """A pytest plugin that runs some tests before all others, in their order."""

    def __init__(self, names: Sequence[str]) -> None:
        self._places = {name: i for i, name in enumerate(names)}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        last = len(self._places)
        items.sort(key=lambda item: self._places.get(item.nodeid, last))


def tried_anew(result: Result, suite: Sequence[str], seconds: float) -> Result:
    """Try the mutant of a result once more, on the whole suite, its tests first.

    A mutant of code that runs while tests are collected may be seen by any test of the suite.
    """
    command = [sys.executable, "-m", "benchmarks.mutation.restart", result.path]
    command += [str(result.mutant.number), *suite]
    try:
        done = subprocess.run(
            command,
            cwd=ROOT,
            input="\n".join(result.tests),
            text=True,
            capture_output=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return replace(result, status="timeout", tests=())
    status = "survived" if done.returncode == 0 else "killed"
    return replace(result, status=status, by=first_failed(done.stdout), tests=())


def first_failed(output: str) -> str:
    """Return the first test that pytest's summary names as failed, or that has an error."""
    lines = output.splitlines()
    failed = next((line for line in lines if line.startswith(("FAILED", "ERROR"))), "")
    return failed.partition(" ")[2].partition(" - ")[0]


def main() -> int:
    path, number, *suite = sys.argv[1:]
    names = sys.stdin.read().splitlines()
    sys.meta_path.insert(0, MutatedModule(Path(path).resolve(), int(number)))
    return int(pytest.main([*ARGUMENTS, "-x", *suite], plugins=[Profile(), _Order(names)]))


if __name__ == "__main__":
    raise SystemExit(main())
