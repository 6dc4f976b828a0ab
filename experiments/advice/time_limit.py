"""Time limit on any Python code, by an alarm signal.

Baselines are Python loops without a time limit. SIGALRM interrupts Python between two instructions,
and the native core polls signals. Solvers of linear programs have limits of their own; the signal
takes effect when they return. Code that catches the error of a part and goes on is interrupted
again.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from forestcoll.errors import TimeLimitError

__all__ = ["LP_TIME_LIMIT_S", "time_limit"]

LP_TIME_LIMIT_S = 20.0
"""Seconds for the allreduce program of a schedule, where no cut proves two phases optimal."""

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
