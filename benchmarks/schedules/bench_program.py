"""Measure the compilation of schedules of a thousand GPUs to programs.

    python -m benchmarks.schedules.bench_program --only A100 --pipeline-chunks 4

"Lower" is the compilation from a schedule with physical paths to a program with dependencies. The
torus goes hop by hop, as a step schedule. Times are medians. Further columns are the transfers,
their dependencies, and the peak memory of the process so far. With ``--check`` every program is
written in steps and verified after the measurement.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import cast

from rich.console import Console
from rich.table import Table

from benchmarks.machine import machine, median_of, peak_memory_mb
from forestcoll import Program, compile_program, generate, load_topology
from forestcoll.schedule import Allreduce, Forest, StepSchedule, lockstep, stepwise, verify

BUDGET_S = 10
"""For what 1024 GPUs do, in one pipeline chunk."""

Lowered = Forest | Allreduce[Forest] | StepSchedule


@dataclass(frozen=True, slots=True)
class Row:
    """A measured case: a schedule that is made once."""

    name: str
    make: Callable[[], Lowered]


def forest_of(spec: str, collective: str) -> Forest | Allreduce[Forest]:
    """Generate, and find the paths, which are found when they are first asked for."""
    made = generate(load_topology(spec), collective=collective)
    schedule = cast("Forest | Allreduce[Forest]", made.schedule)
    for phase in schedule.phases if isinstance(schedule, Allreduce) else (schedule,):
        _ = phase.routes.hop
    return schedule


def steps_of(spec: str, collective: str) -> StepSchedule:
    """Generate and go hop by hop."""
    return lockstep(forest_of(spec, collective))


def rows() -> Iterator[Row]:
    """Yield all rows."""
    for name, spec in (
        ("A100", "dgx_a100:boxes=128"),
        ("H100", "dgx_h100:boxes=128"),
        ("MI250", "mi250:boxes=64"),
    ):
        for collective in ("allgather", "allreduce"):
            yield Row(f"{name} 1024 {collective}", partial(forest_of, spec, collective))
    for collective in ("allgather", "allreduce"):
        name = f"torus 32x32 {collective} in lockstep"
        yield Row(name, partial(steps_of, "torus:dims=32x32", collective))


def main() -> None:
    """Read the arguments and print the table."""
    parser = argparse.ArgumentParser(description="Seconds from a schedule to its program.")
    parser.add_argument("--only", default="", help="rows whose names hold this text")
    parser.add_argument("--runs", type=int, default=3, help="runs, of which the median counts")
    parser.add_argument("--pipeline-chunks", type=int, default=1, help="parts of every chunk")
    parser.add_argument("--check", action="store_true", help="verify the steps of every program")
    args = parser.parse_args()
    table = Table("schedule", "lower s", "transfers", "needs", "peak MB", title=machine())
    over = []
    for row in rows():
        if args.only.lower() in row.name.lower():
            seconds, program = measure(row, args.runs, args.pipeline_chunks)
            table.add_row(*cells(row.name, seconds, program))
            if seconds > BUDGET_S * args.pipeline_chunks:
                over.append(row.name)
            if args.check:
                verify(stepwise(program))
    console = Console()
    console.print(table)
    console.print(f"over {BUDGET_S} s a pipeline chunk: {', '.join(over) or 'none'}")


def measure(row: Row, runs: int, pipeline_chunks: int) -> tuple[float, Program]:
    """Return the median seconds and a program."""
    schedule = row.make()
    return median_of(runs, lambda: schedule, lambda made: compile_program(made, pipeline_chunks))


def cells(name: str, seconds: float, program: Program) -> tuple[str, ...]:
    """Return one line of the table."""
    counts = f"{program.num_transfers:,}", f"{len(program.need):,}"
    return name, f"{seconds:.2f}", *counts, f"{peak_memory_mb():.0f}"


if __name__ == "__main__":
    main()
