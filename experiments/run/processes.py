"""Linux process information: descendants, memory, and termination.

Other systems have no /proc: there, no process has descendants, and all memory is 0.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import time
from collections.abc import Callable, Iterable
from pathlib import Path

__all__ = [
    "LEAVE_WITHIN_S", "adopt_orphans", "descendants", "die_with_parent", "end_all", "marked",
    "reap", "resident_bytes", "runs",
]  # fmt: skip

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
BETWEEN_LOOKS_S = 0.005
END_WITHIN_S = 5.0
"""Longest wait for a killed process; the kernel may block it for ever, as on a hung disk."""

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


def runs(process: int) -> bool:
    """Return whether a process exists and is not a zombie.

    A process with a running thread has not ended, even if its main thread has.
    """
    try:
        state = _state_and_parent(process)[0]
        return state not in b"ZX" or len(os.listdir(f"/proc/{process}/task")) > 1
    except OSError:
        return False


def descendants(process: int) -> list[int]:
    """Return the running children of a process, their children, and so on."""
    children: dict[int, list[int]] = {}
    ended = set()
    for pid in _processes():
        try:
            state, parent = _state_and_parent(pid)
        except OSError:
            continue  # it has just ended
        children.setdefault(parent, []).append(pid)
        if state in b"ZX":
            ended.add(pid)  # a zombie leader keeps its children until its last thread has ended
    found = [process]
    for pid in found:
        found += children.get(pid, [])
    return [pid for pid in found[1:] if pid not in ended]


def marked(mark: str) -> list[int]:
    """Return the processes that were started with ``mark`` ("NAME=value") in their environment."""
    found = []
    for pid in _processes():
        try:
            environment = Path(f"/proc/{pid}/environ").read_bytes()
        except OSError:
            continue  # it has just ended, or is none of ours
        if mark.encode() in environment.split(b"\0"):
            found.append(pid)
    return found


def _processes() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []


def _state_and_parent(pid: int) -> tuple[bytes, int]:
    # The name, in brackets, may contain spaces and brackets; state and parent follow it.
    state, parent = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[:2]
    return state, int(parent)


def resident_bytes(processes: Iterable[int], *, shared_once: bool = False) -> int:
    """Return the resident memory of processes.

    Parameters
    ----------
    shared_once : bool
        Divide each shared page among its processes, instead of counting it for each. This is exact
        but slow: the kernel walks through all of their pages.
    """
    measure = _proportional_bytes if shared_once else _resident_bytes
    return sum(map(measure, processes))


def _resident_bytes(pid: int) -> int:
    try:
        pages = Path(f"/proc/{pid}/statm").read_bytes().split()[1]
    except OSError:
        return 0  # it has just ended
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def _proportional_bytes(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_bytes().splitlines()
    except OSError:
        return _resident_bytes(pid)  # ended, or not ours to look into
    return 1024 * sum(int(line.split()[1]) for line in lines if line.startswith(b"Pss:"))


def end_all(find: Callable[[], Iterable[int]]) -> None:
    """Kill the processes that ``find`` returns, repeatedly: they may fork or change parents.

    Returns when all of them have ended and two separate searches found no more. One search is not
    enough: it is no snapshot of a single moment. A process also has no readable environment during
    exec, or while the kernel frees its memory.
    """
    deadline = time.monotonic() + END_WITHIN_S
    ending: set[int] = set()
    quiet = 0
    while quiet < 2 and time.monotonic() < deadline:
        ending |= set(find())
        for pid in ending:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)  # unless it has just ended, or changed its user
        ending = set(filter(runs, ending))
        quiet = 0 if ending else quiet + 1
        time.sleep(0.001 if ending else BETWEEN_LOOKS_S)


def reap(within_s: float = 0.0) -> dict[int, int]:
    """Reap the children that have ended; return their exit codes, -N for signal N.

    Parameters
    ----------
    within_s : float
        Seconds to wait for the others. A child for which :func:`runs` is false may not be reapable
        yet: the kernel first releases its last threads.
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
