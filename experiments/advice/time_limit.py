"""Time limit on any Python code, by an alarm signal.

Problem: baselines are Python loops without a time limit; end them when the time is up.
Input:   seconds.
Output:  TimeLimitError, raised in the running code.
Cost:    none.
Source:  ours. The signal SIGALRM interrupts Python between two instructions. The native core polls
         signals, as for Ctrl-C. Solvers of linear programs have limits of their own; the signal
         takes effect when they return. Code that catches the error of a part and goes on is
         interrupted again.
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
    """Raise TimeLimitError in the body after a number of seconds.

    Signals reach the main thread only: other threads have no limit. An earlier alarm is restored
    afterwards with its original duration.

    Parameters
    ----------
    seconds : float
        0 or less raises at once.
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
