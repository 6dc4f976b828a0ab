"""Supervisor of one point: starts its watchdog and worker, and returns its row."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Self

from experiments.config.own_functions import search_path
from experiments.config.points import Point, Status
from experiments.results.rows import Row
from experiments.run.processes import end_all, marked
from experiments.run.provenance import commit, host, versions
from experiments.run.watch import Order

__all__ = ["OnStage", "Running"]

MARK = "FORESTCOLL_POINT"
"""Environment variable of all processes of a point: finds them if the watchdog is killed."""

END_WITHIN_S = 10.0
"""Longest wait for a watchdog to stop; it takes milliseconds unless the process is suspended."""

OnStage = Callable[[str], None]
"""Called with each phase and stage of a point as it begins."""


class Running:
    """A running point; a context manager whose exit leaves no process behind.

    Parameters
    ----------
    jobs : int, optional
        Number of points side by side on this machine, for the row.
    """

    def __init__(self, point: Point, jobs: int | None = None) -> None:
        self.point = point
        self._jobs = jobs
        self._token = uuid.uuid4().hex
        self._columns: dict[str, Any] = {}
        self._unfinished = b""
        self._time = datetime.now(UTC)
        self._began = time.monotonic()
        self._watchdog = subprocess.Popen(
            # -P: the current folder must not shadow the packages that this process has imported.
            [sys.executable, "-P", "-m", "forestcoll.own_packages", "experiments.run.watchdog"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": search_path(), MARK: self._token},
            start_new_session=True,
        )
        self._order()

    def _order(self) -> None:
        point = self.point
        order: Order = {
            "job": point.job,
            "seconds": point.limits.seconds,
            "memory_gb": point.limits.memory_gb,
        }
        assert self._watchdog.stdin is not None
        with contextlib.suppress(
            BrokenPipeError
        ):  # it died at once; its exit code gives the reason
            self._watchdog.stdin.write((json.dumps(order) + "\n").encode())
            self._watchdog.stdin.flush()

    def fileno(self) -> int:
        """Return a file descriptor for ``select``."""
        assert self._watchdog.stdout is not None
        return self._watchdog.stdout.fileno()

    def listen(self, on_stage: OnStage) -> Row | None:
        """Wait for events and pass them on; return the row when the point has ended."""
        heard = os.read(self.fileno(), 65536)
        # A read may end in the middle of a line; the rest comes with the next read.
        *lines, self._unfinished = (self._unfinished + heard).split(b"\n")
        for line in lines:
            message = json.loads(line)
            self._columns |= message.get("columns", {})
            if "stage" in message:
                on_stage(message["stage"])
        if heard and not self._columns:
            return None
        return self._row(self._columns or self._lost())

    def _lost(self) -> dict[str, Any]:
        """Return the columns of a point whose watchdog ended without sending them."""
        _, complaints = self._watchdog.communicate()
        code = self._watchdog.returncode
        if code < 0:
            reason = f"killed by signal {-code}"
            return {"status": Status.FAILED, "reason": reason, "killed": True}
        last = complaints.decode(errors="replace").strip().rpartition("\n")[2]
        return {
            "status": Status.FAILED,
            "reason": f"the watchdog failed: {last} (exit code {code})",
        }

    def _row(self, columns: dict[str, Any]) -> Row:
        circumstances = {
            "wall_s": round(time.monotonic() - self._began, 3),
            "jobs": self._jobs,
            "versions": versions(),
            "host": host(),
            "commit": commit(),
            "time": self._time.isoformat(timespec="seconds"),
        }
        return Row.of(self.point, columns | circumstances)

    def stop(self) -> None:
        """Tell the watchdog to end the point; :meth:`close` waits for it."""
        assert self._watchdog.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._watchdog.stdin.close()

    def close(self) -> None:
        """Stop the point, and kill any process that remains."""
        self.stop()
        try:
            killed = self._watchdog.wait(END_WITHIN_S) < 0
        except subprocess.TimeoutExpired:
            self._watchdog.kill()
            killed = self._watchdog.wait() < 0
        if killed:
            end_all(lambda: marked(MARK, self._token))
        for pipe in (self._watchdog.stdout, self._watchdog.stderr):
            assert pipe is not None
            pipe.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
