"""Workers with a time limit that nothing can hold up, native code included.

The kernel keeps the time: a worker sets an alarm before each network and leaves the signal to its
default, which ends the process at once. The pool notices, and starts another worker. Neither
``concurrent.futures`` nor ``multiprocessing.Pool`` can do that; ``experiments.run.supervisor`` can,
but takes a second to start each point, in which a worker examines tens of networks.
"""

import contextlib
import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.connection import Connection, wait
from typing import Self

from experiments.run.parentage import die_with_parent
from tests.fuzz.check import OnStage, Outcome, examine

Task = tuple[str, int]
"""A family and a seed."""

Examine = Callable[[str, int, OnStage], Outcome]

_CONTEXT = multiprocessing.get_context("spawn")


def _serve(connection: Connection, parent: int, limit_s: float, examine: Examine) -> None:
    """Examine what is sent until the other side closes."""
    die_with_parent(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the pool decides what happens then
    with contextlib.suppress(EOFError):
        while True:
            family, seed = connection.recv()
            signal.setitimer(signal.ITIMER_REAL, limit_s)
            outcome = examine(family, seed, lambda *stage: connection.send(stage))
            signal.setitimer(signal.ITIMER_REAL, 0)
            connection.send(outcome)


class _Worker:
    """A process, the task it is at, and how far it is with it."""

    def __init__(self, limit_s: float, examine: Examine) -> None:
        self.connection, theirs = _CONTEXT.Pipe()
        self._limit_s = limit_s
        self._process = _CONTEXT.Process(
            target=_serve, args=(theirs, os.getpid(), limit_s, examine), daemon=True
        )
        self._process.start()
        theirs.close()
        self._task: Task = ("", 0)
        self._stage, self._gpus, self._began = "", 0, 0.0

    def begin(self, task: Task) -> None:
        self._task, self._stage, self._gpus = task, "starting", 0
        self._began = time.perf_counter()
        self.connection.send(task)

    def listen(self) -> Outcome | None:
        """Take in what it says, or that it has ended; return the outcome if that is it."""
        try:
            heard: Outcome | tuple[str, int] = self.connection.recv()
        except (EOFError, ConnectionResetError):
            return self._lost()
        if isinstance(heard, Outcome):
            return heard
        self._stage, self._gpus = heard
        return None

    def _lost(self) -> Outcome:
        self._process.join()
        seconds, code = time.perf_counter() - self._began, self._process.exitcode
        slow = code == -signal.SIGALRM
        what = f"slow: over {self._limit_s:g} s" if slow else f"the process ended with {code}"
        failure = f"{what}, in {self._stage}"
        return Outcome(*self._task, self._gpus, seconds=seconds, failure=failure)

    @property
    def has_ended(self) -> bool:
        return self._process.exitcode is not None

    def end(self) -> None:
        self._process.kill()
        self._process.join()
        self.connection.close()


class Pool:
    """Examines networks side by side; leaving its context ends all workers.

    Parameters
    ----------
    jobs : int
        Workers.
    limit_s : float
        Wall-clock seconds for each network, building, generating and checking.
    examine : callable
        What the workers do; a function of a module, which they import.
    """

    def __init__(self, jobs: int, limit_s: float, examine: Examine = examine) -> None:
        self._limit_s, self._examine = limit_s, examine
        self._workers = [_Worker(limit_s, examine) for _ in range(jobs)]

    def outcomes(self, tasks: Iterable[Task]) -> Iterator[Outcome]:
        """Yield outcomes as they come; tasks are asked for only when a worker is free."""
        todo = iter(tasks)
        idle, busy = list(self._workers), dict[Connection, _Worker]()
        while True:
            while idle and (task := next(todo, None)) is not None:
                worker = idle.pop()
                worker.begin(task)
                busy[worker.connection] = worker
            if not busy:
                return
            for connection in wait(list(busy)):
                assert isinstance(connection, Connection)
                outcome = busy[connection].listen()
                if outcome is not None:
                    idle.append(self._fit(busy.pop(connection)))
                    yield outcome

    def _fit(self, worker: _Worker) -> _Worker:
        """Return the worker, or another in place of one that has ended."""
        if not worker.has_ended:
            return worker
        worker.end()
        self._workers.remove(worker)
        self._workers.append(_Worker(self._limit_s, self._examine))
        return self._workers[-1]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.end()
