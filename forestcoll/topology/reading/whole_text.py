"""Size-limited reading of topology files as text."""

from __future__ import annotations

from pathlib import Path

from forestcoll.bounded_read import read_text_at_most
from forestcoll.errors import ForestCollError

__all__ = ["MOST_BYTES", "whole_text"]

MOST_BYTES = 32_000_000
"""Size limit: half a million links. A larger file is of another kind, or a mistake."""


def whole_text(path: Path, error: type[ForestCollError]) -> str:
    """Return a file's text; reads no more than the size limit.

    Raises
    ------
    error
        If the file cannot be read, has over MOST_BYTES, or is not UTF-8; in one line.
    """
    remedy = "give parallel links as one, and equal ones both ways as both: true"
    return read_text_at_most(path, MOST_BYTES, error, remedy)
