"""Watch of a worker from outside: its events, time and memory, until there is a row.

:mod:`experiments.run.watchdog` loads this module after the fork of the worker.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import time
from typing import Any, TypedDict

import psutil

from experiments.config.points import Job, Status
from experiments.run.parentage import reap
from experiments.run.processes import descendants, resident_bytes

__all__ = ["Order", "Watch"]

POLL_S = 0.02
"""Seconds between two checks of a worker; they cost 0.1 percent of a core."""

WALK_S = 0.5
"""Longest time between two searches for children, so that their memory is noticed within 1 s."""

START_S = 60.0
"""Least time limit for a worker's imports and for reading its topology."""

COMPLAINTS = 16384
"""Bytes stored from the end of the standard error, to show why a worker failed."""

FROM_OUTSIDE = (signal.SIGHUP, signal.SIGINT, signal.SIGKILL, signal.SIGTERM)
"""Signals that another process sends; all others come from the worker's own faults."""

Columns = dict[str, Any]


class Order(TypedDict):
    """The order for a watchdog: the job of the worker, and its limits."""

    job: Job
    seconds: float
    memory_gb: float


_AFTER = ("check", "simulate")
"""Phases after the generation; the memory peak is recorded only until they begin."""


class Watch:
    """A running worker, and its events so far.

    Parameters
    ----------
    order : Order
    worker : int
        The worker's process, a child of this one.
    events, complaints : int
        File descriptors of the worker's events and standard error.
    """

    def __init__(self, order: Order, worker: int, events: int, complaints: int) -> None:
        self._order = order
        self._worker = worker
        self._memory = _Memory(worker, order["memory_gb"] * 1e9)
        self._heard = {0: b"", events: b"", complaints: b""}
        self._open = [0, events, complaints]
        self._events, self._complaints = events, complaints
        self._columns: Columns = {}
        self._phase, self._stage = "start", ""
        self._since = self._looked = time.monotonic()
        for source in self._open:
            os.set_blocking(source, False)

    def keep(self) -> None:
        """Watch until there is a row, and send it; or until the supervisor is gone."""
        ending: Columns = {}
        while not ending:
            self._listen(POLL_S)
            if 0 not in self._open:
                return
            if "status" in self._columns:
                break
            ending = self._look()
        self._columns |= ending
        if self._columns["status"] == Status.FAILED:
            self._listen(0)
            self._columns["stderr"] = self._complained()
        self._tell({"columns": self._columns})

    def _complained(self) -> str:
        return self._heard[self._complaints].decode(errors="replace")

    def _tell(self, message: dict[str, Any]) -> None:
        with contextlib.suppress(
            BrokenPipeError
        ):  # the supervisor is gone, so the input has closed too
            os.write(1, (json.dumps(message) + "\n").encode())

    def _look(self) -> Columns:
        """Return the status of a worker that has ended or exceeded a limit, else nothing."""
        now = time.monotonic()
        if now - self._looked < POLL_S:
            return {}  # it sends events without pause
        self._looked = now
        ended = reap().get(self._worker)
        if ended is not None:
            self._listen(0)
            return {} if "status" in self._columns else self._crash(ended)
        return self._overrun(now)

    def _listen(self, seconds: float) -> None:
        """Read the available events; wait for them at most ``seconds``."""
        for source in select.select(self._open, [], [], seconds)[0]:
            with contextlib.suppress(BlockingIOError):
                heard = os.read(source, 65536)
                if not heard:
                    self._open.remove(source)
                self._heard[source] += heard
        self._heard[self._complaints] = self._heard[self._complaints][-COMPLAINTS:]
        *lines, self._heard[self._events] = self._heard[self._events].split(b"\n")
        for line in lines:
            self._take(json.loads(line))

    def _take(self, event: dict[str, Any]) -> None:
        self._columns |= event.get("fields", {})
        if "generation_s" in self._columns and self._phase == "generate":
            self._columns["peak_memory_mb"] = self._peak_mb()
        if "phase" in event:
            self._phase, self._since = event["phase"], time.monotonic()
        self._stage = event.get("stage", "")
        if "phase" in event or "stage" in event:
            self._tell({"stage": self._stage or self._phase})

    def _overrun(self, now: float) -> Columns:
        seconds, memory_gb = self._order["seconds"], self._order["memory_gb"]
        allowed = max(seconds, START_S) if self._phase == "start" else seconds
        where = f"in {self._stage}" if self._stage else f"in phase {self._phase!r}"
        if self._memory.is_over():
            peak = {"peak_memory_mb": self._peak_mb()}
            return peak | _ending(Status.OUT_OF_MEMORY, f"over {memory_gb:g} GB {where}")
        if now - self._since > allowed:
            peak = {} if self._phase in _AFTER else {"peak_memory_mb": self._peak_mb()}
            return peak | _ending(Status.TIMEOUT, f"over {allowed:g} s {where}")
        return {}

    def _peak_mb(self) -> float:
        reported: float = self._columns.get("peak_memory_mb", 0.0)
        return max(reported, round(self._memory.peak / 1e6, 1))

    def _crash(self, code: int) -> Columns:
        """Return the status of a worker that ended without sending one."""
        if -code in FROM_OUTSIDE:
            return _ending(Status.FAILED, f"killed by signal {-code}") | {"killed": True}
        how = f"signal {-code}, {signal.strsignal(-code)}" if code < 0 else f"exit code {code}"
        lines = self._complained().split("\n")
        last = next((line.strip()[:500] for line in reversed(lines) if line.strip()), "")
        return _ending(Status.FAILED, f"{last or 'ended without an answer'} ({how})")


def _ending(status: Status, reason: str) -> Columns:
    return {"status": str(status), "reason": reason}


class _Memory:
    """The memory of the worker and its descendants, measured at little cost.

    Every check reads the worker. A search for descendants walks through all of /proc, so the next
    one waits fifty times as long as it took. Shared pages count for each process while the sum is
    below the limit; above it, a slower exact count divides them.
    """

    def __init__(self, worker: int, limit: float) -> None:
        self.peak = 0
        self._worker = psutil.Process(worker)
        self._limit = limit
        self._others: list[psutil.Process] = []
        self._next_walk = 0.0

    def is_over(self) -> bool:
        """Measure the memory, and return whether it exceeds the limit."""
        began = time.monotonic()
        if began >= self._next_walk:
            self._others = [one for one in descendants() if one != self._worker]
            self._next_walk = began + min(WALK_S, 50 * (time.monotonic() - began))
        held = resident_bytes((self._worker, *self._others))
        if held > self._limit and self._others:
            held = resident_bytes((self._worker, *self._others), shared_once=True)
        self.peak = max(self.peak, held)
        return held > self._limit
