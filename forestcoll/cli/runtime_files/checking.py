"""``forestcoll check-xml`` and ``check-plan``: execute files of runtimes on the CPU."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from forestcoll.cli.options import MOST, Json
from forestcoll.cli.output import report
from forestcoll.errors import InvalidParameterError
from forestcoll.runtimes.interpretation.findings import Finding, Findings, Kind
from forestcoll.runtimes.interpretation.multiprocessors import MACHINES, blocks_of
from forestcoll.runtimes.msccl import COLLECTIVES, Algorithm, Reading, Remark, read_all
from forestcoll.runtimes.msccl.interpreter import interpret
from forestcoll.runtimes.mscclpp import Plan, read_plan
from forestcoll.runtimes.mscclpp.interpreter import interpret_plan

__all__ = ["RootRank", "check_plan", "check_xml", "lines_of", "record_of"]

_SHOWN = 5
_LETTERS = 400

RootRank = Annotated[
    int | None,
    typer.Option(
        "--root", metavar="RANK", max=MOST, help="Root of a broadcast or reduce, if ambiguous."
    ),
]
Machine = Annotated[
    str | None,
    typer.Option(
        "--machine", metavar="|".join(MACHINES), help="The machine, for limits on threadblocks."
    ),
]
Threadblocks = Annotated[
    int | None,
    typer.Option(
        "--threadblocks",
        min=1,
        max=100_000,
        help="Threadblocks that run at once on a GPU (its multiprocessors), instead of a machine.",
    ),
]


ScheduleOfFile = Annotated[
    Path | None,
    typer.Option(
        "--schedule",
        metavar="FILE",
        help="The schedule that it was exported from, which has the amounts of an all-to-all of "
        "unequal amounts.",
    ),
]


def _pairs(schedule: Path | None, input_chunks: int) -> tuple[tuple[int, ...], ...] | None:
    """Return the chunks with data of each pair, if a schedule gives them."""
    if schedule is None:
        return None
    from forestcoll.compilation import compile_program
    from forestcoll.runtimes.data_layout import chunks_of_pairs
    from forestcoll.schedule import read_schedule

    program = compile_program(read_schedule(schedule), loopback=False)
    return chunks_of_pairs(program, input_chunks)


def check_xml(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file of MSCCL, XML.")],
    root: RootRank = None,
    machine: Machine = None,
    threadblocks: Threadblocks = None,
    schedule: ScheduleOfFile = None,
    collective: Annotated[
        str | None,
        typer.Option(
            "--collective", metavar="NAME", help="Of a file that names none, as of SCCL's tools."
        ),
    ] = None,
    json_: Json = False,
) -> None:
    """Execute an MSCCL XML file on the CPU as its runtime would, and report what is wrong."""
    most = blocks_of(machine, threadblocks)
    readings = [_named(one, file, collective) for one in read_all(file)]
    right = True
    shown = []
    for reading in readings:
        pairs = _pairs(schedule, reading.algorithm.gpus[0].input_chunks)
        found = interpret(reading.algorithm, root=root, most_blocks=most, pairs=pairs)
        shown.append(_shown_xml(file, reading, found, json_))
        right &= found.is_right
    if len(shown) > 1 and json_:
        report({"file": file, "algorithms": shown, "right": right}, json_)
    else:
        for place, one in enumerate(shown):
            if place:
                typer.echo()
            report(one, json_)
    if not right:
        raise typer.Exit(1)


def _named(reading: Reading, file: Path, collective: str | None) -> Reading:
    """Set the collective of an algorithm that names none."""
    if collective is None:
        return reading
    names = {ours: theirs for theirs, ours in COLLECTIVES.items()} | {
        one: one for one in COLLECTIVES
    }
    if collective not in names:
        known = ", ".join(COLLECTIVES.values())
        raise InvalidParameterError(f"--collective is {collective!r}; it must be one of {known}")
    if all(remark.missing != "coll" for remark in reading.remarks):
        raise InvalidParameterError(
            f"{file} says that {reading.algorithm.name} is of the collective "
            f"{reading.algorithm.collective}; leave --collective out"
        )
    remarks = tuple(one for one in reading.remarks if one.missing != "coll")
    algorithm = replace(reading.algorithm, collective=names[collective])
    given = Remark(f"algo has no coll, so the executor ignores the file; {collective} is given", 0)
    return replace(reading, algorithm=algorithm, remarks=(given, *remarks))


def _shown_xml(file: Path, reading: Reading, found: Findings, json_: bool) -> dict[str, Any]:
    notes = [Finding(Kind.NOTE, remark.message, line=remark.line) for remark in reading.remarks]
    about = {"file": file, **_about_xml(reading.algorithm)}
    if json_:
        missing = [remark.missing for remark in reading.remarks if remark.missing]
        return _document(about, notes, found, {"missing": missing})
    limit = about.pop("max_bytes")
    about["sizes"] = f"{about.pop('min_bytes')} bytes to {limit or 'any size'}"
    about["threadblocks"] = f"{about['threadblocks']} a GPU at most"
    return _summary(about, notes, found)


def check_plan(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A plan of MSCCL++, JSON.")],
    root: RootRank = None,
    machine: Machine = None,
    threadblocks: Threadblocks = None,
    schedule: ScheduleOfFile = None,
    json_: Json = False,
) -> None:
    """Execute an MSCCL++ execution plan on the CPU, and report what is wrong with it."""
    most = blocks_of(machine, threadblocks)
    reading = read_plan(file)
    pairs = _pairs(schedule, reading.plan.gpus[0].input_chunks)
    found = interpret_plan(reading.plan, root=root, most_blocks=most, pairs=pairs)
    notes = [Finding(Kind.NOTE, remark) for remark in reading.remarks]
    about = {"file": file, **_about_plan(reading.plan)}
    shown = _document(about, notes, found, {}) if json_ else _summary(about, notes, found)
    _report(shown, found, json_)


def _report(shown: dict[str, Any], found: Findings, json_: bool) -> None:
    report(shown, json_)
    if not found.is_right:
        raise typer.Exit(1)


def _about_xml(algorithm: Algorithm) -> dict[str, Any]:
    modes = ["in place"] * algorithm.in_place + ["out of place"] * algorithm.out_of_place
    return {
        "name": algorithm.name,
        "collective": algorithm.collective,
        "calls": " and ".join(modes) or "none",
        "gpus": len(algorithm.gpus),
        "protocol": algorithm.protocol,
        "channels": algorithm.channels,
        "threadblocks": max(len(gpu.threadblocks) for gpu in algorithm.gpus),
        "chunks": algorithm.chunks_per_loop,
        "min_bytes": algorithm.min_bytes,
        "max_bytes": algorithm.max_bytes,
    }


def _about_plan(plan: Plan) -> dict[str, Any]:
    blocks = [block for gpu in plan.gpus for block in gpu.threadblocks]
    return {
        "name": plan.name,
        "collective": plan.collective,
        "calls": "in place" if plan.in_place else "out of place",
        "gpus": len(plan.gpus),
        "protocol": plan.protocol,
        "threadblocks": max(len(gpu.threadblocks) for gpu in plan.gpus),
        "operations": max((len(block.operations) for block in blocks), default=0),
        "chunks": max(plan.gpus[0].input_chunks, plan.gpus[0].output_chunks),
        "min_bytes": plan.min_bytes,
        "max_bytes": plan.max_bytes,
    }


def _document(
    about: dict[str, Any], notes: list[Finding], found: Findings, more: dict[str, Any]
) -> dict[str, Any]:
    return {
        **about,
        "executed": list(found.runs),
        "transfers": found.transfers,
        "findings": [record_of(one) for one in (*found.findings, *notes)],
        "more_of": [str(kind) for kind in found.more],
        **more,
        "right": found.is_right,
    }


def _summary(about: dict[str, Any], notes: list[Finding], found: Findings) -> dict[str, Any]:
    """Return the facts that fit a screen."""
    every = [*found.findings, *notes]
    return {
        **about,
        "executed": list(found.runs),
        "findings": list(lines_of([one for one in every if one.is_wrong], found)),
        "notes": list(lines_of([one for one in every if not one.is_wrong], found)) or None,
        "right": found.is_right,
    }


def record_of(one: Finding) -> dict[str, Any]:
    """Return a finding with all its fields."""
    return {
        "kind": str(one.kind),
        "wrong": one.is_wrong,
        "message": one.message,
        "gpu": one.gpu,
        "threadblock": one.threadblock,
        "step": one.step,
        "line": one.line,
        "lines": list(one.lines),
    }


def lines_of(findings: Iterable[Finding], found: Findings) -> Iterator[str]:
    """Return a line for each of the first findings of each kind."""
    by_kind: dict[Kind, list[str]] = {}
    for one in findings:
        by_kind.setdefault(one.kind, []).append(one.message)
    for kind, messages in by_kind.items():
        for message in messages[:_SHOWN]:
            cut = message if len(message) <= _LETTERS else f"{message[:_LETTERS]} ..."
            yield cut if kind is Kind.NOTE else f"{kind}: {cut}"
        if (left := len(messages) - _SHOWN) > 0:
            yield f"{kind}: {left}{' or more' if kind in found.more else ''} others; see --json"
