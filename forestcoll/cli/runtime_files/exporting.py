"""``forestcoll export``: write a schedule file in the format of a runtime."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from forestcoll.atomic_write import write_text, write_whole
from forestcoll.cli.options import Json, Output, ScheduleFile
from forestcoll.cli.output import expect_writable, progress_bars, report
from forestcoll.cli.runtime_files.export_options import (
    BetweenBoxes,
    Channels,
    Check,
    DataSize,
    DslFile,
    FormatName,
    InPlace,
    Instances,
    LeastSize,
    MessageCount,
    MostSize,
    Protocol,
    Puts,
    SatisfyLimits,
    SatisfyTime,
    SimulatedAlpha,
    SimulatedGamma,
    SimulatorName,
    Threadblocks,
)
from forestcoll.compilation import compile_program
from forestcoll.errors import InvalidParameterError, RuntimeLimitError, VerificationError
from forestcoll.problem.sizes import read_size
from forestcoll.runtimes.data_layout import chunks_of_pairs
from forestcoll.runtimes.formats import Exported, ExportOptions, export, options_of
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
    name: FormatName = "msccl",
    protocol: Protocol = None,
    channels: Channels = None,
    instances: Instances = None,
    threadblocks: Threadblocks = None,
    between_boxes: BetweenBoxes = None,
    pipeline_chunks: MessageCount = None,
    puts: Puts = False,
    dsl: DslFile = None,
    in_place: InPlace = False,
    least: LeastSize = None,
    most: MostSize = None,
    size: DataSize = None,
    gamma: SimulatedGamma = None,
    alpha: SimulatedAlpha = None,
    simulator: SimulatorName = None,
    fit: SatisfyLimits = False,
    seconds: SatisfyTime = SECONDS,
    check: Check = True,
    json_: Json = False,
) -> None:
    """Verify a schedule file, export it for a runtime and execute the export as a check."""
    expect_writable(output)
    _expect_dsl(dsl, output, name)
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
    _write(output, exported, dsl)
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


def _expect_dsl(dsl: Path | None, output: Path, name: str) -> None:
    if dsl is None:
        return
    if name != "mscclpp":
        raise InvalidParameterError(f"--dsl is for --format mscclpp, and {name} has no DSL")
    if dsl.absolute() == output.absolute():
        raise InvalidParameterError(f"--dsl and -o are both {dsl}; name another file")
    expect_writable(dsl)


def _write(output: Path, exported: Exported, dsl: Path | None) -> None:
    """Write the file that was asked for, and those beside it, once all are known."""
    files = {output.with_suffix(end): content for end, content in exported.beside.items()}
    if output in files:
        raise InvalidParameterError(
            f"-o {output}: another file of this export ends in {output.suffix}; choose another "
            "ending"
        )
    if dsl is not None:
        files[dsl] = written_dsl(parse_plan(exported.text).plan)
    write_text(output, exported.text)
    for path, content in files.items():
        raw = content.encode() if isinstance(content, str) else content
        write_whole(path, partial(Path.write_bytes, data=raw))


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
