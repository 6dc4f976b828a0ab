"""Programs between real processes over MPI, beside MPI's own collectives."""

import os
import signal
import subprocess
import sys
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from forestcoll import compile_program, generate, verify
from forestcoll.errors import (
    ExecutionError,
    InvalidParameterError,
    TimeLimitError,
    UnsupportedError,
    VerificationError,
)
from forestcoll.runtimes.execution import execution
from forestcoll.runtimes.execution.execution import execute, run_tasks
from forestcoll.runtimes.execution.launching import EndedError
from forestcoll.runtimes.execution.one_rank import Task, pid_file
from forestcoll.runtimes.execution.planning import rank_plans
from forestcoll.runtimes.execution.rank_plan import RankPlan
from forestcoll.runtimes.execution.transport import Backend
from forestcoll.schedule.program import Program
from tests.schedule.made.flows import ring
from tests.schedule.made.types import schedule
from tests.schedule.made.weighted import weighted


@pytest.mark.parametrize(
    ("spec", "collective"),
    [
        ("fat_tree:leaves=1,hosts=4,spines=1", "allreduce"),
        *(
            pytest.param(f"dgx_a100:boxes={boxes}", collective, marks=pytest.mark.slow)
            for boxes, collective in product((1, 2), ("allreduce", "allgather", "reduce-scatter"))
        ),
    ],
)
def test_schedules_through_switches_give_the_results_of_mpi(spec: str, collective: str) -> None:
    """4, 8 and 16 processes, bit for bit, 64-bit integers over their whole range.

    An allreduce is a reduce-scatter and an allgather; ``make test-all`` runs each alone.
    """
    made = generate(spec, collective=collective).schedule
    verify(made)
    found = execute(compile_program(made), size_bytes=2**18, repetitions=1)
    assert found.size_bytes == 2**18
    assert found.library.startswith("MPICH ")
    assert min(found.time_s, found.library_time_s) > 0
    assert (found.runs_s, len(found.library_runs_s)) == ((found.time_s,), 1)


@pytest.mark.slow
def test_64_processes_on_one_machine() -> None:
    """An allgather on eight boxes; a minute or less on two cores."""
    made = generate("dgx_a100:boxes=8", k=1).schedule
    found = execute(compile_program(made), size_bytes=2**20, repetitions=1, seconds=600)
    assert found.time_s > 0


PROGRAMS = {
    "reduce": lambda: compile_program(
        generate("ring:nodes=4", collective="reduce", root=2).schedule, 3
    ),
    "all-to-all": lambda: compile_program(ring(4)),
    "multicast switches": lambda: compile_program(schedule("step schedule through switches")),
    "weights": lambda: compile_program(weighted("reduce-scatter")),
}


@pytest.mark.first_rows(1)
@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("reduce", "float32"),
        ("all-to-all", "float64"),
        pytest.param("multicast switches", "float32", marks=pytest.mark.slow),
        pytest.param("weights", "int32", marks=pytest.mark.slow),
    ],
)
def test_other_collectives_and_types_give_the_results_of_mpi(name: str, dtype: str) -> None:
    """8008 bytes in elements of four or eight, so that shards differ by one."""
    found = execute(PROGRAMS[name](), size_bytes=8008, dtype=dtype, repetitions=2)
    assert (found.size_bytes, found.dtype, found.repetitions) == (8008, dtype, 2)


def allreduce(gpus: int = 3) -> Program:
    made = generate(f"ring:nodes={gpus}", collective="allreduce").schedule
    verify(made)
    return compile_program(made)


def test_a_schedule_changed_after_its_proof_is_found_wrong() -> None:
    """One transfer of an allreduce that replaces what it should be added to."""
    program = allreduce()
    reduce = program.reduce.copy()
    reduce[0] = False
    with pytest.raises(VerificationError, match=r"this allreduce is wrong: rank \d has \d+ of 100"):
        execute(replace(program, reduce=reduce), size_bytes=800, repetitions=1)


def tasks_of(plans: list[RankPlan], seconds: int = 60) -> list[Task]:
    return [Task(plan, "int64", 1, seconds) for plan in plans]


def test_a_wrong_plan_is_found_wrong() -> None:
    """Rank 2 forgets what comes to it last."""
    plans = rank_plans(allreduce(), 100)
    plans[2] = replace(plans[2], result=plans[2].result[:-1])
    outcomes = run_tasks(tasks_of(plans), Backend.MPI)
    assert [outcome.wrong > 0 for outcome in outcomes] == [False, False, True]


def test_a_rank_that_fails_is_one_line() -> None:
    """Rank 0 sends on what has not come in."""
    plans = rank_plans(allreduce(), 100)
    plans[0] = replace(plans[0], rounds=plans[0].rounds[1:])
    with pytest.raises(ExecutionError, match=r"^rank 0 failed: KeyError: \d+$"):
        run_tasks(tasks_of(plans), Backend.MPI)


def silent() -> list[RankPlan]:
    """Two ranks that both send nothing in their first rounds, so that both wait."""
    plans = rank_plans(allreduce(gpus=2), 100)
    return [
        replace(plan, rounds=(replace(plan.rounds[0], sends=()), *plan.rounds[1:]))
        for plan in plans
    ]


def test_ranks_that_wait_for_ever_are_stopped() -> None:
    with pytest.raises(TimeLimitError, match="not done after 1 s and were stopped"):
        run_tasks(tasks_of(silent(), seconds=1), Backend.MPI)


def test_ctrl_c_stops_every_rank(tmp_path: Path) -> None:
    """Of a run that would wait for ever: the folder of its tasks goes, and so do its ranks."""
    code = "from tests.runtimes.execution.test_execution import *\nimport tempfile\n"
    code += f"tempfile.tempdir = {str(tmp_path)!r}\nprint('go', flush=True)\n"
    code += "run_tasks(tasks_of(silent()), Backend.MPI)"
    run = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert run.stdout is not None
    assert run.stdout.readline() == "go\n"
    while not list(tmp_path.glob("forestcoll-*/log")):
        assert run.poll() is None
    os.kill(run.pid, signal.SIGINT)
    assert "KeyboardInterrupt" in run.communicate(timeout=30)[1]
    assert list(tmp_path.iterdir()) == []


def test_a_process_that_is_killed_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """The launcher's words for it, without its banner. It had not joined, so it has no rank."""
    code = "import os; os.kill(os.getpid(), 9)"
    monkeypatch.setattr(execution, "_WORKER", ("-c", code))
    with pytest.raises(ExecutionError, match=r"a process failed, it ended with 9: Killed"):
        run_tasks(tasks_of(silent()), Backend.MPI)


def test_the_rank_of_a_killed_process_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rank 1 ends in the middle, as where memory is short; the launcher ends the other."""
    code = (
        "import os, sys; from pathlib import Path; "
        "from forestcoll.runtimes.execution import one_rank; run = one_rank.run_task; "
        "one_rank.run_task = lambda task, to: "
        "os.kill(os.getpid(), 9) if to.rank == 1 else run(task, to); "
        "one_rank.main(sys.argv[1], Path(sys.argv[2]))"
    )
    monkeypatch.setattr(execution, "_WORKER", ("-c", code))
    with pytest.raises(ExecutionError, match=r"^rank 1 failed, it ended with 9: Killed"):
        run_tasks(tasks_of(silent()), Backend.MPI)


def test_a_rank_that_was_started_alone_is_named_by_its_process(tmp_path: Path) -> None:
    """torch.distributed has no launcher; a rank that had not joined is nobody."""
    for rank, pid in enumerate((70, 7)):
        pid_file(tmp_path, rank).write_text(str(pid))
    log = tmp_path / "log"
    log.write_text("PID 70 RUNNING here\nTypeError: no\n")
    assert execution._why(EndedError(7, -9), tmp_path, 3, log) == (
        "rank 1 failed, it ended with -9: TypeError: no"
    )
    assert execution._why(EndedError(8, 1), tmp_path, 3, log).startswith(
        "a process failed, it ended"
    )


def test_a_process_that_cannot_begin_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execution, "_WORKER", ("-c", "raise ImportError('no MPI')"))
    with pytest.raises(ExecutionError, match="a process failed, it ended with 1: ImportError: no"):
        run_tasks(tasks_of(silent()), Backend.MPI)


@pytest.mark.parametrize("backend", ["mpi", "torch"])
def test_a_missing_library_is_reported(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execution, "find_spec", lambda name: None)
    name = {"mpi": "mpi4py", "torch": "torch"}[backend]
    with pytest.raises(UnsupportedError, match=f"{name} is not installed; pip install"):
        execute(allreduce(), backend=backend)
    if backend == "mpi":
        monkeypatch.undo()
        monkeypatch.setattr(execution.shutil, "which", lambda *_, **__: None)
        with pytest.raises(UnsupportedError, match="there is no mpiexec; pip install"):
            execute(allreduce())


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"backend": "nccl"}, "backend is 'nccl'; it must be mpi or torch"),
        ({"dtype": "bfloat16"}, "dtype is 'bfloat16'; it must be int32 or"),
        ({"size_bytes": 0}, "the size is 0; it must be 1 or more"),
        ({"repetitions": 0}, "repetitions is 0"),
        ({"seconds": 0}, "the limit in seconds is 0"),
        ({"warm_up": 0}, "the number of warm-up runs is 0"),
    ],
)
def test_mistakes_are_reported(parameters: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        execute(allreduce(), **parameters)  # type: ignore[arg-type]
