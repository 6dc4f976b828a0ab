"""``forestcoll export``: write a schedule file in the format of a runtime."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from forestcoll.atomic_write import write_text, write_whole
from forestcoll.cli.options import MOST, Json, Output, ScheduleFile
from forestcoll.cli.output import expect_writable, progress_bars, report
from forestcoll.compilation import compile_program
from forestcoll.errors import InvalidParameterError, RuntimeLimitError, VerificationError
from forestcoll.problem.limits import MOST_SECONDS
from forestcoll.problem.sizes import read_size
from forestcoll.runtimes.data_layout import chunks_of_pairs
from forestcoll.runtimes.formats import FORMATS, Exported, ExportOptions, export, options_of
from forestcoll.runtimes.interpretation.multiprocessors import MOST_BLOCKS
from forestcoll.runtimes.msccl import parse_algorithm
from forestcoll.runtimes.msccl.interpreter import interpret
from forestcoll.runtimes.mscclpp import parse_plan, written_dsl
from forestcoll.runtimes.mscclpp.interpreter import interpret_calls
from forestcoll.runtimes.python_modules.lockstep_check import check_module
from forestcoll.runtimes.runtime_fit import SECONDS, Fit, fitting
from forestcoll.schedule import Allreduce, Forest, read_schedule, verify
from forestcoll.schedule.allreduce import AnySchedule
from forestcoll.schedule.program import Program
from forestcoll.schedule.simulate import AlphaBeta

__all__ = ["export_schedule", "export_within_limits"]


def export_schedule(
    file: ScheduleFile,
    output: Output,
    name: Annotated[str, typer.Option("--format", help=f"One of {', '.join(FORMATS)}.")] = "msccl",
    protocol: Annotated[
        str | None,
        typer.Option(
            "--protocol",
            help="Simple, LL or (msccl) LL128; Simple if not given. LL is for small messages.",
        ),
    ] = None,
    channels: Annotated[
        int | None,
        typer.Option("--channels", max=MOST, help="Limit per instance; by default as many as fit."),
    ] = None,
    instances: Annotated[
        int | None,
        typer.Option(
            "--instances", max=MOST, help="Number of parts of the data, each on its own channels."
        ),
    ] = None,
    threadblocks: Annotated[
        int | None,
        typer.Option(
            "--threadblocks",
            max=MOST,
            help="Threadblocks that run at once on a GPU (its multiprocessors), for mscclpp; 108 "
            "if not given.",
        ),
    ] = None,
    between_boxes: Annotated[
        str | None,
        typer.Option(
            "--between-boxes",
            metavar="port|memory",
            help="Channels between boxes, for mscclpp: of a proxy and the NICs (port, if not "
            "given), or where NVLink joins the boxes (memory).",
        ),
    ] = None,
    pipeline_chunks: Annotated[
        int | None,
        typer.Option(
            "--pipeline-chunks",
            max=MOST,
            help="Messages that each transfer is cut into, for simulators, nccl4py and torch; 1 if "
            "not given.",
        ),
    ] = None,
    puts: Annotated[
        bool,
        typer.Option(
            "--puts", help="For nccl4py: puts with signals instead of sends and receives."
        ),
    ] = False,
    dsl: Annotated[
        Path | None,
        typer.Option(
            "--dsl",
            metavar="FILE",
            help="For mscclpp: write the plan as a Python program of MSCCL++'s DSL, too, to be "
            "edited.",
        ),
    ] = None,
    in_place: Annotated[
        bool,
        typer.Option(
            "--in-place", help="For in-place calls: no GPU copies its own part to its output."
        ),
    ] = False,
    least: Annotated[
        str | None, typer.Option("--min-size", help="Least size of the data: 1MB; 1MB is 2^20.")
    ] = None,
    most: Annotated[str | None, typer.Option("--max-size", help="Largest size.")] = None,
    size: Annotated[
        str | None,
        typer.Option("--size", help="Size of the data, for simulators; 1MB if not given."),
    ] = None,
    gamma: Annotated[
        str | None,
        typer.Option(
            "--gamma",
            metavar="S",
            help="Seconds in which a GPU adds a gigabyte, for simulators; 0 if not given.",
        ),
    ] = None,
    alpha: Annotated[
        str | None,
        typer.Option(
            "--alpha",
            metavar="US",
            help="Latency of a hop from GPU to GPU in microseconds, for simulators; 10 if not "
            "given.",
        ),
    ] = None,
    simulator: Annotated[
        str | None,
        typer.Option(
            "--simulator",
            metavar="loggopsim|htsim",
            help="Which simulator runs a GOAL file; loggopsim if not given.",
        ),
    ] = None,
    fit: Annotated[
        bool,
        typer.Option(
            "--satisfy-limits",
            help="If the schedule exceeds a limit of the runtime, export a variant within limits: "
            "other channels, fewer instances, or the fastest forest with fewer trees per GPU.",
        ),
    ] = False,
    seconds: Annotated[
        float,
        typer.Option(
            "--satisfy-time",
            metavar="SECONDS",
            max=MOST_SECONDS,
            help="Seconds for the search for a variant within limits.",
        ),
    ] = SECONDS,
    check: Annotated[
        bool,
        typer.Option("--check/--no-check", help="Execute the export on the CPU before writing it."),
    ] = True,
    json_: Json = False,
) -> None:
    """Verify a schedule file, export it for a runtime and execute the export as a check."""
    expect_writable(output)
    if dsl is not None:
        if name != "mscclpp":
            raise InvalidParameterError(f"--dsl is for --format mscclpp, and {name} has no DSL")
        expect_writable(dsl)
    given: dict[str, Any] = {
        "protocol": protocol,
        "channels": channels,
        "instances": instances,
        "threadblocks": threadblocks,
        "in_place": in_place or None,
        "min_bytes": _bytes("--min-size", least),
        "max_bytes": _bytes("--max-size", most),
        "between_boxes": between_boxes,
        "puts": puts or None,
        "size_bytes": _bytes("--size", size),
        "gamma_s_per_gb": None if gamma is None else AlphaBeta(gamma_s_per_gb=gamma).gamma,
        "alpha_us": None if alpha is None else AlphaBeta(alpha_us=alpha).alpha,
        "simulator": simulator,
        "pipeline_chunks": pipeline_chunks,
        "prefix": output.stem if name == "chakra" else None,
    }
    options = options_of(name, given)
    schedule = read_schedule(file)
    verify(schedule)
    program = compile_program(schedule, loopback=False)
    program, exported, instead = export_within_limits(
        schedule, program, options, fit=fit, seconds=seconds
    )
    executed = _executed(exported.text, name, program, threadblocks) if check else None
    beside = _beside(output, exported)
    if dsl is not None:
        beside[dsl] = written_dsl(parse_plan(exported.text).plan)
    write_text(output, exported.text)
    for path, content in beside.items():
        raw = content.encode() if isinstance(content, str) else content
        write_whole(path, partial(Path.write_bytes, data=raw))
    facts: dict[str, Any] = {
        "topology": program.topology.name,
        "collective": program.collective,
        "method": program.method,
        "format": name,
        **exported.facts,
        **instead,
        **_left_out(schedule),
        "verified": True,
        "executed": executed,
        "file": output,
        **({} if dsl is None else {"dsl": dsl}),
    }
    report(facts, json_)


def _beside(output: Path, exported: Exported) -> dict[Path, str | bytes]:
    """Return the further files of an export, beside the file that was asked for."""
    files = {output.with_suffix(end): content for end, content in exported.beside.items()}
    if output in files:
        raise InvalidParameterError(
            f"-o {output}: another file of this export ends in {output.suffix}; choose another "
            "ending"
        )
    return files


def _left_out(schedule: AnySchedule) -> dict[str, str]:
    """Return what no format holds: the time plan, if there is one."""
    phases = schedule.phases if isinstance(schedule, Allreduce) else (schedule,)
    planned = any(isinstance(one, Forest) and one.plan is not None for one in phases)
    return {"time_plan": "not exported: GPUs send as soon as data arrive"} if planned else {}


def _bytes(option: str, text: str | None) -> int | None:
    if text is None:
        return None
    try:
        return read_size(text)
    except ValueError as error:
        raise InvalidParameterError(f"{option} {error}") from None


def _executed(text: str, name: str, program: Program, threadblocks: int | None) -> list[str] | None:
    """Execute the export and return how, in words; None if no interpreter has the format."""
    root = int(program.chunks.root[0]) if program.collective in ("broadcast", "reduce") else None
    if name == "msccl":
        algorithm = parse_algorithm(text).algorithm
        pairs = chunks_of_pairs(program, algorithm.gpus[0].input_chunks)
        found = [interpret(algorithm, root=root, pairs=pairs)]
    elif name == "mscclpp":
        most = threadblocks or MOST_BLOCKS
        plan = parse_plan(text).plan
        pairs = chunks_of_pairs(program, plan.gpus[0].input_chunks)
        found = list(interpret_calls(plan, root=root, most_blocks=most, pairs=pairs))
    elif name in ("nccl4py", "torch"):
        return [check_module(text)]
    else:
        return None
    wrong = [one for each in found for one in each.findings if one.is_wrong]
    if wrong:
        raise VerificationError(
            f"what was exported is not right, so it is not written: {wrong[0].message}; please "
            f"report the schedule"
        )
    return [run for each in found for run in each.runs]


def export_within_limits(
    schedule: AnySchedule, program: Program, options: ExportOptions, *, fit: bool, seconds: float
) -> tuple[Program, Exported, dict[str, Any]]:
    """Export a program; if it exceeds a limit, export or suggest a variant within limits.

    Parameters
    ----------
    program : Program
        The compiled schedule.
    fit : bool
        Whether to export a variant within limits instead.
    seconds : float
        For the search for a variant.

    Returns
    -------
    program : Program
        The program that was exported.
    exported : Exported
    facts : dict
        The variant and its cost; empty if the given program was exported.

    Raises
    ------
    RuntimeLimitError
        If the program exceeds a limit and no variant is wanted or found. The message suggests one.
    """
    try:
        return program, export(program, options), {}
    except RuntimeLimitError as error:
        with progress_bars() as progress:
            found = fitting(schedule, options, fastest=fit, seconds=seconds, progress=progress)
        if not isinstance(found, Fit):
            raise RuntimeLimitError(f"{error}; {found.in_words()}") from None
        if not fit:
            instead = "" if found.k is None else "; --satisfy-limits exports the fastest that fits"
            raise RuntimeLimitError(f"{error}; {found.in_words()}{instead}") from None
        if found.k is not None:
            verify(found.schedule)
        return found.program, found.exported, _facts(str(error), found)


def _facts(broken: str, found: Fit) -> dict[str, Any]:
    return {
        "given": broken,
        "changed": found.changed or None,
        "k": found.k,
        "fastest_of_k": None if found.k is None else f"1 to {found.tried_k}",
        "algbw_gb_s": found.algbw_gb_s,
        "given_algbw_gb_s": found.given_gb_s,
        "lost": None if found.k is None else f"{100 * found.lost:.3g} %",
    }
