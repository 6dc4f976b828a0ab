"""Watchdog: the process beside each worker that enforces its limits.

:mod:`experiments.run.supervisor` starts it through ``python -m forestcoll.own_packages``. It writes
the order, a line of JSON, to the watchdog's standard input and keeps that open. The watchdog forks
the worker before any slow import, whose memory would count as the worker's. It watches from
outside, so that limits hold in native code too. Events go to its standard output, one JSON object a
line: ``{"stage": ...}`` during the run, and at the end ``{"columns": ...}`` of the row.

No process outlives a point. The watchdog adopts all orphans of the worker's children, even those in
sessions of their own. It kills them all when the worker ends, when it exceeds a limit, and when the
standard input closes because the supervisor is gone. If the watchdog itself is killed, the kernel
kills the worker.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
from typing import TYPE_CHECKING

from experiments.run.parentage import LEAVE_WITHIN_S, adopt_orphans, die_with_parent, reap

if TYPE_CHECKING:
    from experiments.run.watch import Order

__all__ = ["main"]


def main() -> None:
    """Carry out the order on the standard input."""
    order: Order = json.loads(sys.stdin.readline())
    adopt_orphans()
    watchdog = os.getpid()
    events, their_events = os.pipe()
    complaints, their_complaints = os.pipe()
    worker = os.fork()
    if worker == 0:
        _become_worker(watchdog, their_complaints)
        from experiments.run.worker import run_job  # slow; only the worker needs it

        run_job(order["job"], their_events)
        return
    os.close(their_events)
    os.close(their_complaints)
    from experiments.run.processes import descendants, end_all
    from experiments.run.watch import Watch

    try:
        Watch(order, worker, events, complaints).keep()
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(worker, signal.SIGKILL)
        end_all(descendants)
        reap(LEAVE_WITHIN_S)


def _become_worker(watchdog: int, complaints: int) -> None:
    """Detach the fork from the watchdog's files, and make the kernel kill it first for memory."""
    die_with_parent(watchdog)
    os.setpgid(0, 0)
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    os.dup2(complaints, 2)
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as score:
        score.write("500")


if __name__ == "__main__":
    main()
