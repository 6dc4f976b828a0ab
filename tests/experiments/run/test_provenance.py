"""Versions, host and commit of a row; looking for them leaves no trace."""

import os
import platform
import subprocess
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest

from experiments.run import provenance
from experiments.run.provenance import commit, host, versions


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A repository with one commit, in which the module seems to be."""
    file = tmp_path / "provenance.py"
    file.write_text("0\n")
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "rows.jsonl").write_text("")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "One")
    monkeypatch.setattr(provenance, "__file__", str(file))
    commit.cache_clear()
    yield tmp_path
    commit.cache_clear()


def git(folder: Path, *arguments: str) -> str:
    who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    done = subprocess.run(
        ["git", "-C", str(folder), *who, *arguments], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_versions_are_those_that_are_installed() -> None:
    found = versions()
    assert found["python"] == platform.python_version()
    assert found["numpy"] == version("numpy")
    assert "forestcoll" in found


def test_the_host_is_this_one() -> None:
    assert host()["name"] == platform.node()
    assert 1 <= int(host()["processors"]) <= (os.cpu_count() or 1)


def test_the_commit_is_that_of_the_code_and_says_if_it_was_changed(clone: Path) -> None:
    """Twelve digits and a plus sign; new files and rows do not count."""
    head = git(clone, "rev-parse", "--short=12", "HEAD")
    assert commit() == head
    (clone / "notes.txt").write_text("new")
    (clone / "results" / "rows.jsonl").write_text("{}")
    commit.cache_clear()
    assert commit() == head
    (clone / "provenance.py").write_text("1\n")
    commit.cache_clear()
    assert commit() == f"{head}+"


def test_foreign_code_has_no_commit(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where it is installed somewhere inside another one; nor has any without git."""
    other = clone / "site-packages" / "provenance.py"
    other.parent.mkdir()
    other.write_text("0\n")
    monkeypatch.setattr(provenance, "__file__", str(other))
    assert commit() is None
    monkeypatch.setattr(provenance, "__file__", str(clone / "provenance.py"))
    monkeypatch.setenv("PATH", str(clone))
    commit.cache_clear()
    assert commit() is None


def test_looking_for_the_commit_writes_nothing(clone: Path) -> None:
    """A status refreshes git's index, under a lock that a run which is killed leaves behind."""
    index = clone / ".git" / "index"
    os.utime(clone / "provenance.py", (1, 1))  # the index holds another time
    before = index.read_bytes()
    assert commit() is not None
    assert index.read_bytes() == before
