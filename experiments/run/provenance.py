"""Provenance of a row: versions, host and commit."""

from __future__ import annotations

import functools
import importlib.metadata
import platform
import subprocess
from pathlib import Path

from forestcoll.generation import usable_cores

__all__ = ["commit", "host", "versions"]

PACKAGES = ("forestcoll", "numpy", "networkx", "scipy", "highspy", "ortools")
"""Packages whose versions can change a result or a time."""


@functools.cache
def versions() -> dict[str, str]:
    """Return the versions of Python and of those packages that are installed."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue  # run from the source tree, or not needed by this experiment
    return found


@functools.cache
def host() -> dict[str, str | int]:
    """Return the machine's name, kind, and number of usable processors."""
    return {
        "name": platform.node(),
        "machine": platform.machine(),
        "system": f"{platform.system()} {platform.release()}",
        "processors": usable_cores(),
    }


@functools.cache
def commit() -> str | None:
    """Return the commit of this code, with "+" if there are local changes; None outside a clone.

    Changes below ``results`` do not count: the run itself writes rows there.
    """
    folder = Path(__file__).resolve().parent
    if _git(folder, "ls-files", "--error-unmatch", __file__) is None:
        return None  # perhaps installed inside another repository
    head = _git(folder, "rev-parse", "--short=12", "HEAD")
    code = (":/", ":(top,exclude)results")
    changed = _git(folder, "status", "--porcelain", "--untracked-files=no", "--", *code)
    return None if head is None else f"{head}+" if changed else head


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "--no-optional-locks", "-C", str(folder), *arguments],
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()
