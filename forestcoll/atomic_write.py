"""Atomic file writes: a file appears complete, or not at all.

Problem: a write may fail or be killed at any byte; a partial file must not stay.
Input:   the path, and a function that writes the content to a path.
Output:  the whole file; or an error that names it, with the previous content kept.
Cost:    a rename and a listing of the directory.
Source:  none. A draft is locked while it is written. The system frees the lock of a killed process,
         so an unlocked draft is a leftover. The next write of the same file removes it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from forestcoll.errors import ExportError

__all__ = ["reason", "temporary_folder", "write_text", "write_whole"]

_DRAFT = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
_LOCK = "lock"
_YOUNG_S = 60.0  # a younger folder may not have its lock yet


def write_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Call ``write`` to fill a draft beside the file, then put it in the file's place.

    Missing directories are created. An interrupted or failed write leaves what was there before.

    Raises
    ------
    ExportError
        If a directory cannot be created or written to.
    """
    try:
        if path.exists() and not path.is_file():
            # A device or a pipe: nothing to replace (a directory: an error).
            write(path)
        else:
            real = path.resolve()
            real.parent.mkdir(parents=True, exist_ok=True)
            _replace(real, write)
    except OSError as error:
        raise ExportError(f"{path}: cannot be written: {reason(error)}") from None


def write_text(path: Path, text: str) -> None:
    """Write a text in UTF-8 as :func:`write_whole` does, with its line ends as they are."""
    write_whole(path, lambda draft: draft.write_text(text, encoding="utf-8", newline="\n"))


def reason(error: OSError) -> str:
    """Return what the system says is wrong, without the name of the file."""
    return (error.strerror or str(error)).lower()


@contextmanager
def temporary_folder(prefix: str) -> Iterator[Path]:
    """Make a folder and remove it at the end; also remove folders that killed processes left."""
    parent = Path(tempfile.gettempdir())
    for folder in parent.glob(f"{prefix}*"):
        _remove_if_left(folder)
    with (
        tempfile.TemporaryDirectory(prefix=prefix, dir=parent) as name,
        (Path(name) / _LOCK).open("wb") as lock,
    ):
        _lock(lock.fileno(), wait=True)
        yield Path(name)


def _replace(path: Path, write: Callable[[Path], object]) -> None:
    _remove_left_drafts(path)
    draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with _locked(draft), contextlib.ExitStack() as unfinished:
        unfinished.callback(draft.unlink, missing_ok=True)
        write(draft)
        draft.replace(path)
        # After the rename, the name may be another thread's draft already.
        unfinished.pop_all()


@contextmanager
def _locked(draft: Path) -> Iterator[None]:
    """Make an empty draft and hold its lock."""
    while True:
        descriptor = os.open(draft, _DRAFT, 0o666)
        try:
            _lock(descriptor, wait=True)
            # The previous holder of the lock may have renamed or removed the locked file.
            if _is_at(descriptor, draft):
                yield
                return
        finally:
            os.close(descriptor)


def _is_at(descriptor: int, path: Path) -> bool:
    """Whether an open file is still the file at this path."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False


def _remove_left_drafts(path: Path) -> None:
    """Remove drafts of the file that no process is writing."""
    draft = re.compile(rf"\.{re.escape(path.name)}\.[0-9]+\.tmp")
    for name in os.listdir(path.parent):
        if draft.fullmatch(name):
            with contextlib.suppress(OSError):  # already removed, or owned by another user
                _remove_if_unlocked(path.with_name(name))


def _remove_if_unlocked(draft: Path) -> None:
    with _free(draft) as free:
        if free:
            draft.unlink()


@contextmanager
def _free(file: Path) -> Iterator[bool]:
    """Yield whether the lock of a file was free; if so, hold it during the block."""
    descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        yield _lock(descriptor, wait=False)
    finally:
        os.close(descriptor)


def _remove_if_left(folder: Path) -> None:
    """Remove a folder that no process has locked, unless it is too young to have a lock."""
    try:
        old = time.time() - folder.stat().st_mtime > _YOUNG_S
        with _free(folder / _LOCK) as free:
            if old and free:
                shutil.rmtree(folder, ignore_errors=True)
    except OSError:  # already removed, or owned by another user
        return


def _lock(descriptor: int, *, wait: bool) -> bool:
    """Lock an open file; False if another process has it locked or the file system has no locks."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        return False
    return True
