"""Linux process information: descendants, memory, and termination.

Elsewhere there is no /proc: no process has descendants then, and all memory is 0.
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
    "LEAVE_WITHIN_S",
    "adopt_orphans",
    "descendants",
    "die_with_parent",
    "end_all",
    "marked",
    "reap",
    "resident_bytes",
    "runs",
]

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
BETWEEN_LOOKS_S = 0.005
END_WITHIN_S = 5.0
"""A process that the kernel itself holds up (a disk that hangs) is not waited for any longer."""

LEAVE_WITHIN_S = 1.0
"""A process that has ended is still there until its parent takes leave of it, or has ended too."""


def adopt_orphans() -> None:
    """Become the parent of every descendant that loses its own, so that none gets out of sight."""
    _prctl(PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent(parent: int) -> None:
    """Be killed as soon as the parent has ended, whatever this process is doing then."""
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)  # it had ended before it was asked for


def _prctl(option: int, value: int) -> None:
    call = getattr(ctypes.CDLL(None), "prctl", None)
    if call is not None:
        call(option, ctypes.c_ulong(value), 0, 0, 0)


def runs(process: int) -> bool:
    """Return whether a process is there and does not merely wait for its parent to notice its end.

    While any of its threads runs, it has not ended.
    """
    try:
        state = _state_and_parent(process)[0]
        return state not in b"ZX" or len(os.listdir(f"/proc/{process}/task")) > 1
    except OSError:
        return False


def descendants(process: int) -> list[int]:
    """Return the children of a process, their children, and so on, as far as they still run."""
    children: dict[int, list[int]] = {}
    ended = set()
    for pid in _processes():
        try:
            state, parent = _state_and_parent(pid)
        except OSError:
            continue  # it has just ended
        children.setdefault(parent, []).append(pid)
        if state in b"ZX":
            ended.add(pid)  # yet it keeps its children until the last of its threads has ended
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
    # The name, in brackets, may hold anything; after it come state and parent.
    state, parent = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[:2]
    return state, int(parent)


def resident_bytes(processes: Iterable[int], *, shared_once: bool = False) -> int:
    """Return the memory that processes hold.

    Parameters
    ----------
    processes : iterable of int
    shared_once : bool
        Divide each shared page among those who share it, instead of counting it for each: true to
        the facts, but it costs a walk through all of their pages.
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
    """Kill what ``find`` returns, again and again: they may fork, or change parents, meanwhile.

    Returns when all of them have ended and two looks, apart, found nothing more: a look at many
    processes is not a look at one moment, and a process has no environment while it begins another
    program, nor any more while the kernel takes its memory back.
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
    """Take leave of the children that have ended; return their exit codes, -N for signal N.

    Parameters
    ----------
    within_s : float
        Wait so long for those that have not. Not all that :func:`runs` no longer counts can be
        taken leave of at once: the kernel first lets go of their last threads.
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
