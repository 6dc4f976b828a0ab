"""Launch processes together, and end all of them on a failure, a time-out or Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from forestcoll.errors import ExecutionError, TimeLimitError

__all__ = ["Command", "EndedError", "run_together"]

_POLL_S = 0.02
# Seconds for mpiexec to end its own processes before SIGKILL, which it cannot pass on.
_GRACE_S = 3.0


class EndedError(ExecutionError):
    """A process ended with a failure.

    Parameters
    ----------
    pid : int
        The number of the process that was started.
    code : int
        Its exit code; negative: the signal that ended it.
    """

    def __init__(self, pid: int, code: int) -> None:
        super().__init__(f"ended with {code}")
        self.pid, self.code = pid, code


@dataclass(frozen=True, slots=True)
class Command:
    """A command to start, and additions to its environment."""

    words: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)


def run_together(commands: Sequence[Command], seconds: float, log: Path) -> None:
    """Start processes and wait for all of them.

    Parameters
    ----------
    seconds : float
        Time limit.
    log : Path
        File for their output.

    Raises
    ------
    TimeLimitError
        If they take longer.
    EndedError
        If one of them fails.
    """
    started: list[subprocess.Popen[bytes]] = []
    try:
        with log.open("wb") as output:
            for command in commands:
                started.append(_start(command, output.fileno()))
        _wait(started, seconds)
    finally:
        _stop(started)


def _start(command: Command, output: int) -> subprocess.Popen[bytes]:
    """Start a process in a session of its own, so that Ctrl-C reaches it through us alone."""
    return subprocess.Popen(
        command.words,
        env={**os.environ, **command.environment},
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        start_new_session=True,
    )


def _wait(started: Sequence[subprocess.Popen[bytes]], seconds: float) -> None:
    end = time.monotonic() + seconds
    while _running(started):
        _expect_success(started)
        if time.monotonic() > end:
            raise TimeLimitError(
                f"the processes were not done after {seconds:g} s and were stopped; allow more, or "
                "take less data or fewer ranks"
            )
        time.sleep(_POLL_S)
    _expect_success(started)


def _running(started: Sequence[subprocess.Popen[bytes]]) -> list[subprocess.Popen[bytes]]:
    """Check every process, also those after a running one; return the running ones."""
    return [process for process in started if process.poll() is None]


def _expect_success(started: Sequence[subprocess.Popen[bytes]]) -> None:
    for process in started:
        if process.returncode:
            raise EndedError(process.pid, process.returncode)


def _stop(started: Sequence[subprocess.Popen[bytes]]) -> None:
    """End running sessions, first with SIGTERM, so that a launcher can end its own children.

    psutil ends processes, not sessions.
    """
    for how in (signal.SIGTERM, signal.SIGKILL):
        running = _running(started)
        for process in running:
            os.killpg(process.pid, how)
        end = time.monotonic() + _GRACE_S
        while _running(running) and time.monotonic() < end:
            time.sleep(_POLL_S)
