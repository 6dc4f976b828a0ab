"""Process information: descendants, memory, and termination.

psutil reads it. Only Linux adopts orphans, ends a process with its parent, and divides shared pages
among processes; elsewhere an orphan's descendants are not found, and shared pages count for each.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable

import psutil

__all__ = ["descendants", "end_all", "marked", "resident_bytes", "runs"]

BETWEEN_LOOKS_S = 0.005
END_WITHIN_S = 5.0
"""Longest wait for a killed process; the kernel may block it for ever, as on a hung disk."""


def runs(process: psutil.Process) -> bool:
    """Return whether a process exists and is not a zombie.

    A process with a running thread has not ended, even if its main thread has.
    """
    try:
        alive = process.is_running()  # also compares the time of its start: numbers are used again
        return alive and (process.status() != psutil.STATUS_ZOMBIE or process.num_threads() > 1)
    except psutil.Error:
        return False


def descendants() -> list[psutil.Process]:
    """Return the running children of this process, their children, and so on."""
    return list(filter(runs, psutil.Process().children(recursive=True)))


def marked(name: str, value: str) -> list[psutil.Process]:
    """Return the processes that were started with an environment variable of this value."""
    return [
        process
        for process in psutil.process_iter(["environ"])
        if (process.info["environ"] or {}).get(name) == value  # None if it is none of ours
    ]


def resident_bytes(processes: Iterable[psutil.Process], *, shared_once: bool = False) -> int:
    """Return the resident memory of processes.

    Parameters
    ----------
    shared_once : bool
        Divide each shared page among its processes, instead of counting it for each. This is exact
        but slow: the kernel walks through all of their pages.
    """
    measure = _proportional_bytes if shared_once else _resident_bytes
    return sum(map(measure, processes))


def _resident_bytes(process: psutil.Process) -> int:
    try:
        return process.memory_info().rss
    except psutil.Error:
        return 0  # it has just ended


def _proportional_bytes(process: psutil.Process) -> int:
    try:
        return process.memory_full_info().pss
    except (AttributeError, psutil.Error):  # no Linux; ended, or not ours to look into
        return _resident_bytes(process)


def end_all(find: Callable[[], Iterable[psutil.Process]]) -> None:
    """Kill the processes that ``find`` returns, repeatedly: they may fork or change parents.

    Returns when all of them have ended and two separate searches found no more. One search is not
    enough: it is no snapshot of a single moment. A process also has no readable environment during
    exec, or while the kernel frees its memory.
    """
    deadline = time.monotonic() + END_WITHIN_S
    ending: set[psutil.Process] = set()
    quiet = 0
    while quiet < 2 and time.monotonic() < deadline:
        ending |= set(find())
        for process in ending:
            with contextlib.suppress(psutil.Error):  # it has just ended, or changed its user
                process.kill()
        ending = set(filter(runs, ending))
        quiet = 0 if ending else quiet + 1
        time.sleep(0.001 if ending else BETWEEN_LOOKS_S)
