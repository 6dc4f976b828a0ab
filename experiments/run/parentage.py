"""Parentage of processes: adoption of orphans, death with the parent, exit codes of children.

The first two are Linux's; on other systems they do nothing. Imports the standard library only: what
a watchdog loads before it forks the worker would count as the worker's memory.
"""

from __future__ import annotations

import ctypes
import os
import signal
import time

__all__ = ["LEAVE_WITHIN_S", "adopt_orphans", "die_with_parent", "reap"]

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36

LEAVE_WITHIN_S = 1.0
"""Longest wait until the kernel lets an ended child be reaped: it first ends its threads."""


def adopt_orphans() -> None:
    """Become the parent of every orphaned descendant, so that none escapes the search."""
    _prctl(PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent(parent: int) -> None:
    """Ask the kernel to kill this process when its parent ends, even in native code."""
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)  # the parent had ended before the request


def _prctl(option: int, value: int) -> None:
    call = getattr(ctypes.CDLL(None), "prctl", None)
    if call is not None:
        call(option, ctypes.c_ulong(value), 0, 0, 0)


def reap(within_s: float = 0.0) -> dict[int, int]:
    """Reap the children that have ended; return their exit codes, -N for signal N.

    Parameters
    ----------
    within_s : float
        Seconds to wait for the others. A child that no longer runs may not be reapable yet: the
        kernel first releases its last threads.
    """
    deadline = time.monotonic() + within_s
    ended: dict[int, int] = {}
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended
        if pid:
            ended[pid] = os.waitstatus_to_exitcode(status)
        elif time.monotonic() < deadline:
            time.sleep(0.001)
        else:
            return ended
