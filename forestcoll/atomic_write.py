"""Files that appear when they are complete, or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from forestcoll.errors import ExportError

__all__ = ["reason", "write_whole"]


def write_whole(path: Path, write: Callable[[Path], None]) -> None:
    """Let ``write`` fill a draft beside the file, then put it in the file's place.

    An interrupted or failed write leaves what was there before.

    Raises
    ------
    ExportError
        If the directory does not exist or cannot be written to.
    """
    if not path.parent.is_dir():
        raise ExportError(f"{path}: there is no directory {path.parent}; create it first")
    try:
        if path.exists() and not path.is_file():
            # A device or a pipe: nothing to replace (a directory: an error).
            write(path)
        else:
            _replace(path.resolve(), write)
    except OSError as error:
        raise ExportError(f"{path}: cannot be written: {reason(error)}") from None


def reason(error: OSError) -> str:
    """Return what the system says is wrong, without the name of the file."""
    return (error.strerror or str(error)).lower()


def _replace(path: Path, write: Callable[[Path], None]) -> None:
    draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        write(draft)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
