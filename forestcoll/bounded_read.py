"""Files of others, of which no more is read than they may have."""

from __future__ import annotations

from pathlib import Path

from forestcoll.errors import ForestCollError

__all__ = ["expect_at_most", "read_at_most"]


def read_at_most(path: Path, most: int, error: type[ForestCollError]) -> bytes:
    """Return a file's first ``most`` bytes and, if there is more, one more.

    Raises
    ------
    error
        If the file cannot be read; in one line.
    """
    try:
        with path.open("rb") as file:
            return file.read(most + 1)
    except OSError as failure:
        reason = (failure.strerror or str(failure)).lower()
        raise error(f"{path}: cannot be read: {reason}") from None


def expect_at_most(
    data: bytes, most: int, name: str, error: type[ForestCollError], remedy: str = ""
) -> None:
    """Refuse more than ``most`` bytes; ``name`` is what the error calls them.

    Raises
    ------
    error
        If there are more; in one line, with what else may help.
    """
    if len(data) > most:
        more = f", or {remedy}" if remedy else ""
        raise error(
            f"{name}: has over {most // 10**6} MB, too much to read; check that it is the right "
            f"file{more}"
        )
