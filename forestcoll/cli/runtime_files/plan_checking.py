"""``forestcoll check-plan``: execute any MSCCL++ execution plan on the CPU."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from forestcoll.cli.options import MOST, Json
from forestcoll.cli.output import report
from forestcoll.cli.runtime_files.findings_report import Machine, Threadblocks, lines_of, record_of
from forestcoll.runtimes.interpretation.findings import Finding, Findings, Kind
from forestcoll.runtimes.interpretation.multiprocessors import blocks_of
from forestcoll.runtimes.mscclpp import Plan, read_plan
from forestcoll.runtimes.mscclpp.interpreter import interpret_plan

__all__ = ["check_plan"]


def check_plan(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A plan of MSCCL++, JSON.")],
    root: Annotated[
        int | None,
        typer.Option(
            "--root", metavar="RANK", max=MOST, help="Root of a broadcast or reduce, if ambiguous."
        ),
    ] = None,
    machine: Machine = None,
    threadblocks: Threadblocks = None,
    json_: Json = False,
) -> None:
    """Execute an MSCCL++ execution plan on the CPU, and report what is wrong with it."""
    most = blocks_of(machine, threadblocks)
    reading = read_plan(file)
    found = interpret_plan(reading.plan, root=root, most_blocks=most)
    notes = [Finding(Kind.NOTE, remark) for remark in reading.remarks]
    told = [*found.findings, *notes]
    about = {"file": file, **_about(reading.plan), "executed": list(found.runs)}
    report(_document(about, told, found) if json_ else {**about, **_facts(told, found)}, json_)
    if not found.is_right:
        raise typer.Exit(1)


def _about(plan: Plan) -> dict[str, Any]:
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


def _document(about: dict[str, Any], told: list[Finding], found: Findings) -> dict[str, Any]:
    return {
        **about,
        "transfers": found.transfers,
        "findings": [record_of(one) for one in told],
        "more_of": [str(kind) for kind in found.more],
        "right": found.is_right,
    }


def _facts(told: list[Finding], found: Findings) -> dict[str, Any]:
    return {
        "findings": list(lines_of([one for one in told if one.is_wrong], found)),
        "notes": list(lines_of([one for one in told if not one.is_wrong], found)) or None,
        "right": found.is_right,
    }
