"""The command ``forestcoll exec``: run a schedule file between processes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from forestcoll.cli.facts import as_json
from forestcoll.cli.options import MOST, Json, ScheduleFile, sizes_of
from forestcoll.compilation import compile_program
from forestcoll.errors import InvalidParameterError
from forestcoll.problem.limits import MOST_SECONDS
from forestcoll.problem.sizes import size_text
from forestcoll.runtimes.execution.execution import DTYPES, Execution, execute
from forestcoll.runtimes.execution.transport import Backend
from forestcoll.schedule import read_schedule, verify
from forestcoll.schedule.program import Program
from forestcoll.schedule.simulate import MOST_PIPELINE_CHUNKS

__all__ = ["execute_schedule"]

_LABEL = "times between processes on the CPUs of this machine, not between GPUs"


def execute_schedule(
    file: ScheduleFile,
    ranks: Annotated[
        int | None,
        typer.Option(
            "--ranks", metavar="N", max=MOST, help="Processes: as many as the schedule has GPUs."
        ),
    ] = None,
    backend: Annotated[
        Backend, typer.Option("--backend", help="Library that carries the data.")
    ] = Backend.MPI,
    size: Annotated[str, typer.Option("--size", help="Size of the data; 1MB is 2^20.")] = "1MB",
    dtype: Annotated[
        str, typer.Option("--dtype", help=f"Type of the elements: {', '.join(DTYPES)}.")
    ] = "int64",
    pipeline_chunks: Annotated[
        int,
        typer.Option(
            "--pipeline-chunks", metavar="N", max=MOST_PIPELINE_CHUNKS, help="Parts of every chunk."
        ),
    ] = 1,
    repetitions: Annotated[
        int, typer.Option("--repetitions", metavar="N", max=10_000, help="Number of timed runs.")
    ] = 5,
    seconds: Annotated[
        int,
        typer.Option(
            "--seconds",
            metavar="S",
            max=MOST_SECONDS,
            help="Time limit, after which all processes are stopped.",
        ),
    ] = 120,
    json_: Json = False,
) -> None:
    """Verify a schedule file, run it between processes, and compare and time its result."""
    sizes = sizes_of(size, "--size")
    if len(sizes) != 1:
        raise InvalidParameterError(f"--size is {size!r}; it must be one size")
    schedule = read_schedule(file)
    _expect_ranks(file, ranks, schedule.topology.num_compute)
    verify(schedule)
    program = compile_program(schedule, pipeline_chunks, loopback=False)
    found = execute(
        program,
        backend=backend,
        size_bytes=sizes[0],
        dtype=dtype,
        repetitions=repetitions,
        seconds=seconds,
    )
    facts = _document(file, program, found)
    typer.echo(as_json(facts) if json_ else "\n".join(_lines(program, found)))


def _expect_ranks(file: Path, ranks: int | None, gpus: int) -> None:
    if ranks not in (None, gpus):
        raise InvalidParameterError(
            f"--ranks is {ranks}, but {file} is for {gpus} GPUs; give --ranks {gpus}"
        )


def _document(file: Path, program: Program, found: Execution) -> dict[str, Any]:
    return {
        "file": file,
        "verified": True,
        "collective": program.collective,
        "topology": program.topology.name,
        "method": program.method,
        "ranks": program.topology.num_compute,
        "library": found.library,
        "dtype": found.dtype,
        "size_bytes": found.size_bytes,
        "repetitions": found.repetitions,
        "equal_to_the_librarys_own": True,
        "times_are": _LABEL,
        "cpu_cores": os.cpu_count(),
        "time_s": found.time_s,
        "library_time_s": found.library_time_s,
    }


def _lines(program: Program, found: Execution) -> list[str]:
    ranks = program.topology.num_compute
    own = f"the {program.collective} of {found.library}"
    width = max(len(own), len("this schedule"))
    return [
        f"{program.collective} on {program.topology.name} by {program.method}, verified",
        f"carried out by {ranks} processes over {found.library}, {size_text(found.size_bytes)} of "
        f"{found.dtype}: equal to the library's own, bit for bit",
        "",
        f"{_LABEL} ({os.cpu_count()} cores); median of {found.repetitions}",
        f"{'this schedule':<{width}}  {1e3 * found.time_s:10.3f} ms",
        f"{own:<{width}}  {1e3 * found.library_time_s:10.3f} ms",
    ]
