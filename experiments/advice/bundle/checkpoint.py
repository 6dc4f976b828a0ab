"""Checkpoint of a bundle: finished files, stored until all are finished.

An export and its execution take seconds to minutes each. An interrupted export can continue, and no
half bundle can be loaded: files are stored beside the bundle's place, each under a hash of
everything it depends on, and the finished bundle is moved there at once.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from experiments.advice.bundle.bundle_index import FORMAT, INDEX, MOST_FILE_BYTES
from forestcoll.atomic_write import reason, write_text
from forestcoll.bounded_read import read_text_at_most
from forestcoll.cli.output import expect_writable
from forestcoll.errors import ExportError, InvalidScheduleError

__all__ = ["Checkpoint"]

_MOST_BYTES = 2 * MOST_FILE_BYTES  # a runtime file as text of JSON, whose quotes are escaped


class Checkpoint:
    """The folder of finished files.

    Parameters
    ----------
    place : Path
        Place of the bundle: nothing yet, an empty folder, or a bundle, which is replaced.

    Raises
    ------
    ExportError
        If something else is there, or it cannot be written.
    """

    def __init__(self, place: Path) -> None:
        if place.exists() and not place.is_dir():
            raise ExportError(f"{place}: is a file; name a folder")
        if place.is_dir() and any(place.iterdir()) and not _is_bundle(place):
            raise ExportError(f"{place}: is a folder of something else; name another")
        expect_writable(place / INDEX if place.is_dir() else place)
        self.place = place.resolve()
        self.path = self.place.with_name(f".{self.place.name}.checkpoint")

    @property
    def done(self) -> int:
        """Number of finished files."""
        return len(list(self.path.glob("*.json")))

    def key(self, *what: object) -> str:
        """Return a hash of everything an entry depends on, this release of the toolkit included."""
        text = json.dumps([_release(), *map(str, what)])
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    def kept(self, key: str, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Return the entry stored under a key, or make and store it."""
        file = self.path / f"{key}.json"
        found = _object_in(file)
        if found is not None:
            return found
        made = make()
        self.begin()
        text = json.dumps(made)
        write_text(file, text)
        return made

    def begin(self) -> None:
        """Make the folder."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ExportError(f"{self.path}: cannot be written: {reason(error)}") from None

    def finish(self, files: dict[str, str], check: Callable[[Path], None]) -> None:
        """Write and check the files of the bundle, move them to their place, and clean up."""
        self.begin()
        whole = self.path / "bundle"
        old = self.path / "replaced"
        try:
            for folder in (whole, old) if self.place.exists() else (whole,):
                shutil.rmtree(folder, ignore_errors=True)
            for name, text in files.items():
                file = whole / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8")
            check(whole)
            if self.place.is_dir():
                self.place.rename(old)
            whole.rename(self.place)
            shutil.rmtree(self.path)
        except OSError as error:
            raise ExportError(f"{self.place}: cannot be written: {reason(error)}") from None


def _is_bundle(place: Path) -> bool:
    found = _object_in(place / INDEX)
    return found is not None and found.get("format") == FORMAT


def _object_in(file: Path) -> dict[str, Any] | None:
    """Return the JSON object in a file; None if there is no such file, or no object in it."""
    try:
        found = json.loads(read_text_at_most(file, _MOST_BYTES, InvalidScheduleError))
    except (InvalidScheduleError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _release() -> str:
    try:
        return version("forestcoll")
    except PackageNotFoundError:
        return "sources"
