"""Line coverage of selected files during a block of work."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

__all__ = ["Lines", "reached"]

Lines = dict[str, set[int]]
"""Of each file."""


@contextlib.contextmanager
def reached(files: set[Path]) -> Iterator[Lines]:
    """Collect the lines that run inside a with block, in all threads started there."""
    lines: Lines = {str(path): set() for path in files}

    def follow(frame: FrameType, event: str, argument: Any) -> Any:
        found = lines.get(frame.f_code.co_filename)
        if found is None:
            return None
        found.add(frame.f_lineno)

        def step(inner: FrameType, event: str, argument: Any) -> Any:
            found.add(inner.f_lineno)
            return step

        return step

    before = sys.gettrace()
    threading.settrace(follow)
    sys.settrace(follow)
    try:
        yield lines
    finally:
        sys.settrace(before)
        threading.settrace(before)
