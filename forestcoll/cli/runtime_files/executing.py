"""The command ``forestcoll exec``: run a schedule file between processes."""

from __future__ import annotations

import os
import statistics
from pathlib import Path
from typing import Annotated, Any

import typer

from forestcoll.cli.facts import as_json
from forestcoll.cli.options import MOST, Json, sizes_of
from forestcoll.cli.output import expect_drawable
from forestcoll.compilation import compile_program
from forestcoll.errors import InvalidParameterError
from forestcoll.problem.limits import MOST_SECONDS
from forestcoll.problem.sizes import size_text
from forestcoll.runtimes.execution.execution import DTYPES, Execution, execute
from forestcoll.runtimes.execution.transport import Backend
from forestcoll.schedule import read_schedule, verify
from forestcoll.schedule.program import Program
from forestcoll.schedule.simulate import MOST_PIPELINE_CHUNKS
from forestcoll.topology.describe import counted

__all__ = ["execute_schedule"]

_LABEL = "times between processes on the CPUs of this machine, not between GPUs"


def execute_schedule(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="Schedule files of one collective and rank count."),
    ],
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
    warm_up: Annotated[
        int,
        typer.Option(
            "--warm-up", metavar="N", max=10_000, help="Number of runs before the timed ones."
        ),
    ] = 1,
    seconds: Annotated[
        int,
        typer.Option(
            "--seconds",
            metavar="S",
            max=MOST_SECONDS,
            help="Time limit of each schedule, after which all its processes are stopped.",
        ),
    ] = 120,
    figure: Annotated[
        Path | None,
        typer.Option("--figure", metavar="FILE", help="Bars of the times: .png, .pdf or .svg."),
    ] = None,
    json_: Json = False,
) -> None:
    """Verify schedule files, run them between processes, and compare and time their results."""
    sizes = sizes_of(size, "--size")
    if len(sizes) != 1:
        raise InvalidParameterError(f"--size is {size!r}; it must be one size")
    expect_drawable(figure)
    programs = _programs(files, ranks, pipeline_chunks)
    found = [
        execute(
            program,
            backend=backend,
            size_bytes=sizes[0],
            dtype=dtype,
            repetitions=repetitions,
            seconds=seconds,
            warm_up=warm_up,
        )
        for program in programs
    ]
    documents = [_document(*each, warm_up) for each in zip(files, programs, found, strict=True)]
    runs = _runs(files, programs[0], found)
    if figure is not None:
        _draw(figure, _what(programs, found[0]), runs)
    if json_:
        typer.echo(as_json(documents[0] if len(documents) == 1 else {"schedules": documents}))
    else:
        typer.echo("\n".join(_lines(programs, found[0], runs, warm_up)))


def _programs(files: list[Path], ranks: int | None, pipeline_chunks: int) -> list[Program]:
    """Read, verify and compile the files, which must be of one collective and size."""
    programs = []
    for file in files:
        schedule = read_schedule(file)
        _expect_ranks(file, ranks, schedule.topology.num_compute)
        verify(schedule)
        programs.append(compile_program(schedule, pipeline_chunks, loopback=False))
    kinds = [(one.collective, one.topology.num_compute) for one in programs]
    for file, (collective, gpus) in zip(files, kinds, strict=True):
        if (collective, gpus) != kinds[0]:
            raise InvalidParameterError(
                f"{file} is an {collective} of {gpus} GPUs, and {files[0]} an {kinds[0][0]} of "
                f"{kinds[0][1]}; times side by side are of one collective and number of GPUs"
            )
    return programs


def _expect_ranks(file: Path, ranks: int | None, gpus: int) -> None:
    if ranks not in (None, gpus):
        raise InvalidParameterError(
            f"--ranks is {ranks}, but {file} is for {gpus} GPUs; give --ranks {gpus}"
        )


def _document(file: Path, program: Program, found: Execution, warm_up: int) -> dict[str, Any]:
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
        "warm_up": warm_up,
        "equal_to_the_librarys_own": True,
        "times_are": _LABEL,
        "cpu_cores": os.cpu_count(),
        "time_s": found.time_s,
        "library_time_s": found.library_time_s,
        "runs_s": list(found.runs_s),
        "library_runs_s": list(found.library_runs_s),
    }


def _runs(
    files: list[Path], program: Program, found: list[Execution]
) -> dict[str, tuple[float, ...]]:
    """Return the times of each schedule, and of the library's own collective, by their names.

    The library's collective was timed beside every schedule; all these runs count.
    """
    names = ["this schedule"] if len(files) == 1 else [file.name for file in files]
    if len(set(names)) < len(names):
        names = [f"{place}: {file}" for place, file in enumerate(files, 1)]
    runs = {name: one.runs_s for name, one in zip(names, found, strict=True)}
    own = tuple(time for one in found for time in one.library_runs_s)
    return runs | {f"the {program.collective} of {found[0].library}": own}


def _what(programs: list[Program], found: Execution) -> str:
    gpus = programs[0].topology.num_compute
    return (
        f"carried out by {gpus} processes over {found.library}, {size_text(found.size_bytes)} of "
        f"{found.dtype}: equal to the library's own, bit for bit"
    )


def _lines(
    programs: list[Program], found: Execution, runs: dict[str, tuple[float, ...]], warm_up: int
) -> list[str]:
    heads = dict.fromkeys(
        f"{one.collective} on {one.topology.name} by {one.method}, verified" for one in programs
    )
    width = max(map(len, runs))
    own = statistics.median(list(runs.values())[-1])
    lines = [
        *heads,
        _what(programs, found),
        "",
        f"{_LABEL} ({os.cpu_count()} cores)",
        f"ms, {counted(found.repetitions, 'run')} after {warm_up} of warm-up",
        f"{'':<{width}}  {'median':>10} {'least':>10} {'most':>10}  {'to the library':>14}",
    ]
    for name, times in runs.items():
        median = statistics.median(times)
        numbers = " ".join(f"{1e3 * time:10.3f}" for time in (median, min(times), max(times)))
        lines.append(f"{name:<{width}}  {numbers}  {median / own:>14.3g}")
    return lines


def _draw(file: Path, title: str, runs: dict[str, tuple[float, ...]]) -> None:
    from forestcoll.draw import draw_execution_times, save_figure  # loads matplotlib

    label = f"time between processes on CPUs ({os.cpu_count()} cores)"
    save_figure(draw_execution_times(runs, title, label), file)
