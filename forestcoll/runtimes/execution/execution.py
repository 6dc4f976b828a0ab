"""Execute programs between processes, and compare the results with a library's collectives.

Problem: a schedule that is correct on paper should move real data correctly.
Input:   a program; the size and type of the data; the library that carries it.
Output:  its time on the CPUs of this machine, and that of the library's own collective.
Cost:    a process for each rank.
Source:  ours. The times are no measure of networks of GPUs: all processes share the memory and the
         cores of one machine.
"""

from __future__ import annotations

import json
import pickle
import re
import shutil
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from forestcoll.atomic_write import reason, temporary_folder
from forestcoll.errors import (
    ExecutionError,
    InvalidParameterError,
    UnsupportedError,
    VerificationError,
)
from forestcoll.runtimes.execution.launching import Command, EndedError, run_together
from forestcoll.runtimes.execution.one_rank import (
    Outcome,
    Task,
    outcome_file,
    pid_file,
    task_file,
)
from forestcoll.runtimes.execution.planning import rank_plans
from forestcoll.runtimes.execution.rank_plan import RankPlan
from forestcoll.runtimes.execution.transport import Backend
from forestcoll.schedule.program import Program

__all__ = ["DTYPES", "Execution", "execute", "launcher", "run_tasks"]

DTYPES = ("int32", "int64", "float32", "float64")
"""What elements may be."""

_REMEDY = {
    Backend.MPI: ("mpi4py", "pip install 'forestcoll[exec]' brings it, with an MPI"),
    Backend.TORCH: ("torch", "pip install torch brings it"),
}
_WORKER = ("-m", "forestcoll.runtimes.execution.one_rank")
_TELLING = (r"^\w+(?:Error|Exception): .*", r"EXIT STRING: (.*)", r"\S.*")
"""What a process or its launcher prints when it fails, the most telling first."""

_ENDED = r"BAD TERMINATION[^\n]*\n[^\n]*PID (\d+) RUNNING"
"""What MPICH's launcher prints of the process that ended first."""

_ONE_THREAD = {"OMP_NUM_THREADS": "1"}


@dataclass(frozen=True, slots=True)
class Execution:
    """A successful execution, whose result equals that of the library's collective.

    Parameters
    ----------
    size_bytes : int
        Size of the data, as nccl-tests define it.
    library : str
        The library that carried the data.
    time_s, library_time_s : float
        Median of the times until the last rank was done, of the program and of the library's own
        collective, between processes on the CPUs of this machine.
    runs_s, library_runs_s : tuple of float
        All of these times, one for each timed run.
    """

    size_bytes: int
    dtype: str
    repetitions: int
    library: str
    time_s: float
    library_time_s: float
    runs_s: tuple[float, ...] = ()
    library_runs_s: tuple[float, ...] = ()


def execute(
    program: Program,
    *,
    backend: str = "mpi",
    size_bytes: int = 2**20,
    dtype: str = "int64",
    repetitions: int = 5,
    seconds: int = 120,
    warm_up: int = 1,
) -> Execution:
    """Execute a program with one process for each GPU.

    Parameters
    ----------
    backend : str
        ``mpi`` (mpi4py) or ``torch`` (torch.distributed).
    size_bytes : int
        Size of the data, rounded to whole elements, at least one.
    dtype : str
        One of ``DTYPES``.
    repetitions : int
        Number of timed runs.
    seconds : int
        Time limit, after which all processes are stopped.
    warm_up : int
        Number of runs before the timed ones.

    Raises
    ------
    InvalidParameterError
        If a parameter is out of its range.
    UnsupportedError
        If the library is not installed.
    VerificationError
        If some rank does not have what the library's own collective gives.
    TimeLimitError
        If it takes too long.
    ExecutionError
        If a process fails.
    """
    _check(backend, dtype, size_bytes, repetitions, seconds, warm_up)
    elements = max(1, round(size_bytes / np.dtype(dtype).itemsize))
    tasks = [
        Task(plan, dtype, repetitions, seconds, warm_up=warm_up)
        for plan in rank_plans(program, elements)
    ]
    return _summary(run_tasks(tasks, Backend(backend)), elements, tasks[0])


def run_tasks(tasks: Sequence[Task], backend: Backend) -> list[Outcome]:
    """Run a process for each task; return their outcomes.

    Raises
    ------
    UnsupportedError, TimeLimitError, ExecutionError
        As of :func:`execute`.
    """
    with temporary_folder("forestcoll-exec-") as folder:
        _write_tasks(tasks, folder)
        log = folder / "log"
        try:
            run_together(_commands(backend, folder, len(tasks)), tasks[0].seconds, log)
        except EndedError as error:
            raise ExecutionError(_why(error, folder, len(tasks), log)) from None
        return [_outcome(folder, rank) for rank in range(len(tasks))]


def _write_tasks(tasks: Sequence[Task], folder: Path) -> None:
    for rank, task in enumerate(tasks):
        file = task_file(folder, rank)
        try:
            file.write_bytes(pickle.dumps(task))
        except OSError as error:
            raise ExecutionError(f"{file}: cannot be written: {reason(error)}") from None


def _check(
    backend: str, dtype: str, size_bytes: int, repetitions: int, seconds: int, warm_up: int
) -> None:
    for name, value, known in (("backend", backend, list(Backend)), ("dtype", dtype, DTYPES)):
        if value not in known:
            raise InvalidParameterError(f"{name} is {value!r}; it must be {' or '.join(known)}")
    for name, number in (
        ("the size", size_bytes),
        ("repetitions", repetitions),
        ("the limit in seconds", seconds),
        ("the number of warm-up runs", warm_up),
    ):
        if number < 1:
            raise InvalidParameterError(f"{name} is {number}; it must be 1 or more")


def _commands(backend: Backend, folder: Path, ranks: int) -> list[Command]:
    """Return the commands to start: MPI's launcher, or one for each process."""
    module, remedy = _REMEDY[backend]
    if find_spec(module) is None:
        raise UnsupportedError(f"unsupported: {module} is not installed; {remedy}")
    # -P: a file of the current folder must not stand in for a package.
    words = [sys.executable, "-P", *_WORKER, backend, str(folder)]
    if backend is Backend.MPI:
        return [Command([launcher(), "-n", str(ranks), *words], _ONE_THREAD)]
    return [
        Command(words, {**_ONE_THREAD, "RANK": str(rank), "WORLD_SIZE": str(ranks)})
        for rank in range(ranks)
    ]


def launcher() -> str:
    """Return the mpiexec of this Python environment, or else the one on the path."""
    beside = shutil.which("mpiexec", path=str(Path(sys.executable).parent))
    found = beside or shutil.which("mpiexec")
    if found is None:
        raise UnsupportedError(
            "unsupported: there is no mpiexec; pip install 'forestcoll[exec]' brings one"
        )
    return found


def _outcome(folder: Path, rank: int) -> Outcome:
    file = outcome_file(folder, rank)
    if not file.exists():
        raise ExecutionError(f"rank {rank} has ended without an outcome; run it again")
    fields = json.loads(file.read_text(encoding="utf-8"))
    return Outcome(**fields | {name: tuple(fields[name]) for name in ("time_s", "library_time_s")})


def _why(error: EndedError, folder: Path, ranks: int, log: Path) -> str:
    """Return which rank failed and why: its error, or the last line printed."""
    # An error of a rank has more detail than that of the launcher, which only saw it end.
    for rank in range(ranks):
        if outcome_file(folder, rank).exists() and (reason := _outcome(folder, rank).error):
            return f"rank {rank} failed: {reason}"
    printed = log.read_text(encoding="utf-8", errors="replace")
    found = (re.findall(pattern, printed, re.MULTILINE) for pattern in _TELLING)
    last = next(filter(None, found), ["nothing was printed"])[-1]
    ended = _ended(error, folder, ranks, printed)
    who = "a process" if ended is None else f"rank {ended}"
    return f"{who} failed, it {error}: {last}"


def _ended(error: EndedError, folder: Path, ranks: int, printed: str) -> int | None:
    """Return the rank whose process ended first; None if it had not joined the others yet."""
    # MPI's launcher ends with its ranks, and prints which of them ended.
    ended = {str(error.pid), *re.findall(_ENDED, printed)}
    for rank in range(ranks):
        file = pid_file(folder, rank)
        if file.exists() and file.read_text(encoding="ascii") in ended:
            return rank
    return None


def _summary(outcomes: Sequence[Outcome], elements: int, task: Task) -> Execution:
    _expect_right(outcomes, task.plan)
    runs = _slowest([outcome.time_s for outcome in outcomes])
    library_runs = _slowest([outcome.library_time_s for outcome in outcomes])
    return Execution(
        size_bytes=elements * np.dtype(task.dtype).itemsize,
        dtype=task.dtype,
        repetitions=task.repetitions,
        library=outcomes[0].library,
        time_s=float(statistics.median(runs)),
        library_time_s=float(statistics.median(library_runs)),
        runs_s=runs,
        library_runs_s=library_runs,
    )


def _expect_right(outcomes: Sequence[Outcome], plan: RankPlan) -> None:
    for rank, outcome in enumerate(outcomes):
        if outcome.wrong:
            raise VerificationError(
                f"carried out, this {plan.collective} is wrong: rank {rank} has {outcome.wrong} of "
                f"{plan.due[rank]} elements that the library's own does not give; the first is "
                f"element {outcome.place}, {outcome.found} instead of {outcome.due}"
            )


def _slowest(times: Sequence[Sequence[float]]) -> tuple[float, ...]:
    """Return the time of the slowest rank in each run."""
    return tuple(max(each) for each in zip(*times, strict=True))
