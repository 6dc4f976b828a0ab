"""Interpreters on this machine that a wheel is built by, and tried with."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["LEAST", "STABLE", "Interpreter", "builders", "found_interpreters", "suits"]

LEAST = (3, 11)
"""The oldest Python that the toolkit supports."""

STABLE = (3, 12)
"""The oldest Python whose stable ABI has what nanobind needs."""

_LATEST = 14
_VERSION = "import sys; print(*sys.version_info[:2])"


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python, and its version as (major, minor)."""

    path: Path
    version: tuple[int, int]

    def __str__(self) -> str:
        return f"Python {self.version[0]}.{self.version[1]}"


def found_interpreters(asked: Sequence[str] | None = None) -> list[Interpreter]:
    """Return one interpreter of each supported version: those asked for, or all found.

    A path of pyenv's shims may belong to no version, so each is run once.
    """
    found: dict[tuple[int, int], Interpreter] = {}
    for path in asked or _candidates():
        version = _version(path)
        if version is not None and version >= LEAST:
            found.setdefault(version, Interpreter(Path(path), version))
        elif asked:
            raise SystemExit(f"error: {path}: is no Python 3.11 or later")
    return [found[version] for version in sorted(found)]


def builders(interpreters: Iterable[Interpreter]) -> list[Interpreter]:
    """Return the interpreters that build: each before the stable ABI, and the first with it.

    Examples
    --------
    >>> known = [Interpreter(Path("python"), (3, minor)) for minor in (11, 12, 13)]
    >>> [str(one) for one in builders(known)]
    ['Python 3.11', 'Python 3.12']
    """
    ordered = sorted(interpreters, key=lambda one: one.version)
    old = [one for one in ordered if one.version < STABLE]
    return old + [one for one in ordered if one.version >= STABLE][:1]


def suits(wheel: str, one: Interpreter) -> bool:
    """Whether a wheel of this file name is for an interpreter.

    Examples
    --------
    >>> new = Interpreter(Path("python"), (3, 13))
    >>> suits("forestcoll-0.1.0-cp312-abi3-manylinux_2_34_x86_64.whl", new)
    True
    >>> suits("forestcoll-0.1.0-cp311-cp311-manylinux_2_34_x86_64.whl", new)
    False
    """
    match = re.search(r"-cp3(\d+)-(\w+)-", wheel)
    assert match is not None, wheel
    built = (3, int(match[1]))
    return one.version >= built if match[2] == "abi3" else one.version == built


def _candidates() -> Iterator[str]:
    """Yield the one that runs this, those on the PATH, and those of pyenv."""
    yield getattr(sys, "_base_executable", sys.executable)
    for minor in range(LEAST[1], _LATEST + 1):
        path = shutil.which(f"python3.{minor}")
        if path is not None:
            yield path
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    yield from map(str, sorted(versions.glob("3.*/bin/python")))


def _version(path: str) -> tuple[int, int] | None:
    try:
        done = subprocess.run(
            [path, "-c", _VERSION], capture_output=True, text=True, check=True, timeout=60
        )
    except (OSError, subprocess.SubprocessError):
        return None
    match = re.fullmatch(r"(\d+) (\d+)\n", done.stdout)
    return None if match is None else (int(match[1]), int(match[2]))
