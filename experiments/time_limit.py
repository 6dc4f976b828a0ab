"""Time limit on any Python code, by an alarm signal.

Problem: peers are loops in Python without a limit of their own; end them when the time is up.
Input:   seconds.
Output:  TimeLimitError where the work was.
Cost:    none.
Source:  ours. The signal SIGALRM interrupts Python between two instructions, and the core, which
         looks for signals as it does for Ctrl-C. Solvers of linear programs have limits of their
         own and are interrupted when they return. What takes the error for that of a part of its
         work, and goes on, is interrupted again.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from forestcoll.errors import TimeLimitError

__all__ = ["time_limit"]

_AGAIN_S = 0.1
"""Seconds until the next alarm, after the first."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise TimeLimitError in the body once so many seconds are over.

    Signals reach the main thread only: in another one there is no limit. An alarm that was set
    before is set again afterwards, for as long as it was.

    Parameters
    ----------
    seconds : float
        0 or less: at once.
    """
    if seconds <= 0:
        raise TimeLimitError("no time is left")
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise TimeLimitError(f"the limit of {seconds:.3g} s was reached")

    handler = signal.signal(signal.SIGALRM, stop)
    left, interval = signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, left, interval)
        signal.signal(signal.SIGALRM, handler)
