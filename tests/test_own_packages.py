"""A folder of a user's with packages of our names: our command finds its own, whoever starts it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from forestcoll.own_packages import OURS, prefer_ours

EXPERIMENT = (
    "name: toy\ntopologies: [{family: ring, parameters: {nodes: 3}}]\nmethods: [{name: METHOD}]\n"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder whose packages of our names fail when they are imported."""
    for name in OURS:
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise RuntimeError('this is the user s')\n")
        (tmp_path / name / "mine.py").write_text("")
    return tmp_path


def _python(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python as a user does who has put this folder first."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


def _run(folder: Path, method: str, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "toy.yaml").write_text(EXPERIMENT.replace("METHOD", method))
    return _python(folder, "-m", "forestcoll", "run", "toy.yaml", "--format", "wide", *options)


@pytest.mark.slow
def test_the_command_and_its_workers_are_ours(folder: Path) -> None:
    """``python -m`` looks in the folder first, and so would the workers that it starts."""
    done = _run(folder, "ring")
    assert done.returncode == 0, done.stderr
    assert "1/1 ring on ring:nodes=3: ok" in done.stderr


@pytest.mark.slow
def test_a_function_in_a_package_of_our_name_is_a_line(folder: Path) -> None:
    """It cannot be found, and what to do about it is said before anything runs."""
    done = _run(folder, "'experiments.mine:fn'", "--dry-run")
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "error: toy.yaml, line 3: methods[0].name is 'experiments.mine:fn', but there is no "
        "'experiments.mine': 'experiments' is a package of the toolkit itself; "
        "give yours another name"
    ]


def test_other_modules_of_the_user_are_found(folder: Path) -> None:
    """Only our own names are taken."""
    (folder / "mine.py").write_text("word = 'the user s own'\n")
    done = _python(
        folder,
        "-c",
        "from forestcoll.own_packages import prefer_ours; prefer_ours(); import mine, lp;"
        "print(mine.word, lp.__file__)",
    )
    word, _, file = done.stdout.strip().rpartition(" ")
    assert word == "the user s own"
    assert not Path(file).is_relative_to(folder)


def test_without_it_the_user_s_would_win(folder: Path) -> None:
    """So there is something to prevent: as `python -c` starts, the folder is looked at first."""
    hidden = "import sys; sys.meta_path[:] = sys.meta_path[-3:]; import baselines"
    assert "this is the user s" in _python(folder, "-c", hidden).stderr


def test_it_is_done_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    prefer_ours()
    before = list(sys.meta_path)
    prefer_ours()
    assert sys.meta_path == before
