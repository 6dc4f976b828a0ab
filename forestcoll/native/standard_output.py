"""Keep a solver's prints out of the standard output, even those that its options do not silence."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock

__all__ = ["printed_as_errors"]

_OUTPUT, _ERRORS = 1, 2

_TURN = RLock()


@contextmanager
def printed_as_errors() -> Iterator[None]:
    """Send what is written to the standard output to the standard error meanwhile.

    Of the whole process, native code included: HiGHS has lines that no option silences, and what
    somebody pipes into a reader of JSON has to stay one document. Solves of several threads
    therefore go one after the other.
    """
    if sys.stdout is None:  # closed from the start: nobody reads it
        yield
        return
    with _TURN:
        _flush()
        kept = os.dup(_OUTPUT)
        try:
            os.dup2(_ERRORS, _OUTPUT)
            yield
        finally:
            _flush()
            os.dup2(kept, _OUTPUT)
            os.close(kept)


def _flush() -> None:
    """Write out what Python and the C library hold back, each to where it was meant to go."""
    sys.stdout.flush()
    ctypes.CDLL(None).fflush(None)
