"""Size-limited reading of untrusted files.

Problem: a path may lead to a pipe, a device, a directory or a file of any size.
Input:   a path, the size limit of the format in bytes, the class of errors.
Output:  the bytes or the text of a regular file within the limit; else one error of one line.
Cost:    one pass; no byte of a file over the limit is read.
Source:  none. The file is opened without blocking. The checks use the descriptor that is then read,
         so no other process can exchange the file between check and read.

60 MB of ``[[],[],`` pass any limit of bytes but become gigabytes of Python objects. So JSON with
too many values is refused before it is parsed. Every value of a document follows one of ``[ { ,``
or a key: their counts, with the sizes of CPython 3.11's objects, bound the memory. Such characters
inside text count too, which errs on the safe side.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from forestcoll.errors import ForestCollError

__all__ = [
    "MOST_OBJECT_BYTES", "contains", "expect_at_most", "expect_few_objects", "object_bytes",
    "open_regular", "read_at_most", "read_start", "read_text_at_most", "read_whole",
]  # fmt: skip

MOST_OBJECT_BYTES = 400_000_000
"""Memory limit of a document's objects: half a million links of eight fields take 260 MB."""

_LIST, _OBJECT, _VALUE = 72, 200, 40

_BLOCK = 1 << 20
_OVERLAP = 256  # bytes, longer than any mark
_ANY_SIZE = 2**63
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY

_OTHERS = {
    stat.S_IFIFO: "it is a pipe; write its content to a file first",
    stat.S_IFSOCK: "it is a socket; write its content to a file first",
    stat.S_IFCHR: "it is a device, not a file",
    stat.S_IFBLK: "it is a device, not a file",
    stat.S_IFDIR: "it is a directory",
}


@contextmanager
def open_regular(
    path: Path, most: int, error: type[ForestCollError], remedy: str = ""
) -> Iterator[BinaryIO]:
    """Open a regular file of at most ``most`` bytes in binary mode.

    Parameters
    ----------
    path : Path
    most : int
        The limit, in bytes.
    error : class
        The class of errors to raise.
    remedy : str
        Advice to add to the error if the file is too large.

    Raises
    ------
    error
        If it cannot be opened or read, is not a regular file, or exceeds the limit; in one line.
    """
    try:
        with os.fdopen(_descriptor(path, error), "rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                kind = _OTHERS.get(stat.S_IFMT(found.st_mode), "it is not a regular file")
                raise error(f"{path}: cannot be read: {kind}")
            if found.st_size > most:
                raise error(_too_large(str(path), most, remedy))
            yield file
    except OSError as failure:
        reason = (failure.strerror or str(failure)).lower()
        raise error(f"{path}: cannot be read: {reason}") from None


def read_at_most(path: Path, most: int, error: type[ForestCollError], remedy: str = "") -> bytes:
    """Return the content of a regular file of at most ``most`` bytes.

    Raises
    ------
    error
        As :func:`open_regular`.
    """
    with open_regular(path, most, error, remedy) as file:
        data = read_whole(file, most)
    expect_at_most(data, most, str(path), error, remedy)
    return data


def read_text_at_most(path: Path, most: int, error: type[ForestCollError], remedy: str = "") -> str:
    """Return the text of a regular file, without byte order mark and with Unix line endings.

    Raises
    ------
    error
        As :func:`open_regular`; or if it is not UTF-8.
    """
    data = read_at_most(path, most, error, remedy)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise error(f"{path}: not text in UTF-8; save it as such") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_start(path: Path, count: int, error: type[ForestCollError]) -> bytes:
    """Return the first ``count`` bytes of a regular file of any size; all of a shorter one.

    Raises
    ------
    error
        As :func:`open_regular`.
    """
    with open_regular(path, _ANY_SIZE, error) as file:
        return file.read(count)


def read_whole(file: BinaryIO, most: int) -> bytes:
    """Return the rest of a file; if that exceeds ``most`` bytes, at least ``most`` + 1 of them.

    The size that the system reports is only a first guess: a file can grow while it is read, and
    files of /proc report 0.
    """
    blocks = [file.read(min(os.fstat(file.fileno()).st_size, most) + 1)]
    while blocks[-1] and sum(map(len, blocks)) <= most:
        blocks.append(file.read(_BLOCK))
    return b"".join(blocks)


def contains(file: BinaryIO, mark: re.Pattern[bytes], most: int) -> bool:
    """Whether a mark of at most 256 bytes is in the first ``most`` bytes; rewinds the file.

    Memory holds one block at a time.
    """
    before, found, left = b"", False, most
    while not found and left > 0 and (block := file.read(min(_BLOCK, left))):
        found = mark.search(before + block) is not None
        before, left = block[-_OVERLAP:], left - len(block)
    file.seek(0)
    return found


def expect_at_most(
    data: bytes, most: int, name: str, error: type[ForestCollError], remedy: str = ""
) -> None:
    """Refuse more than ``most`` bytes; ``name`` is what the error calls them.

    Raises
    ------
    error
        If there are more; in one line, with the remedy.
    """
    if len(data) > most:
        raise error(_too_large(name, most, remedy))


def object_bytes(text: str | bytes) -> int:
    """Estimate the memory of the objects that a JSON text becomes, in bytes.

    Examples
    --------
    >>> object_bytes('[{"a": 1}, 2]') == 72 + 200 + 40
    True
    """
    if isinstance(text, bytes):
        lists, objects, values = text.count(b"["), text.count(b"{"), text.count(b",")
    else:
        lists, objects, values = text.count("["), text.count("{"), text.count(",")
    return _LIST * lists + _OBJECT * objects + _VALUE * values


def expect_few_objects(
    text: str | bytes, name: str, error: type[ForestCollError], most: int = MOST_OBJECT_BYTES
) -> None:
    """Refuse a JSON text whose objects would take too much memory; errors call it ``name``.

    Raises
    ------
    error
        If they would; in one line.
    """
    if (found := object_bytes(text)) > most:
        where = f"{name}: " if name else ""
        raise error(
            f"{where}holds so many values that they take {found // 10**6} MB of memory; at most "
            f"{most // 10**6} MB are allowed, so check that it is the right file"
        )


def _descriptor(path: Path, error: type[ForestCollError]) -> int:
    """Open a path; a pipe without a writer does not block, and no terminal takes control."""
    try:
        return os.open(path, _FLAGS)
    except ValueError as invalid:  # a NUL byte in the name
        raise error(f"{str(path)!r}: cannot be read: {invalid}") from None


def _too_large(name: str, most: int, remedy: str) -> str:
    more = f", or {remedy}" if remedy else ""
    return (
        f"{name}: has over {most // 10**6} MB, too much to read; check that it is the right "
        f"file{more}"
    )
