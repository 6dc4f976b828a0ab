"""``forestcoll check-xml``: execute any MSCCL XML file on the CPU."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from forestcoll.cli.options import MOST, Json
from forestcoll.cli.output import report
from forestcoll.cli.runtime_files.findings_report import Machine, Threadblocks, lines_of, record_of
from forestcoll.runtimes.interpretation.findings import Finding, Findings, Kind
from forestcoll.runtimes.interpretation.multiprocessors import blocks_of
from forestcoll.runtimes.msccl import Algorithm, Reading, read_leniently
from forestcoll.runtimes.msccl.interpreter import interpret

__all__ = ["check_xml"]


def check_xml(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file of MSCCL, XML.")],
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
    """Execute an MSCCL XML file on the CPU as its runtime would, and report what is wrong."""
    most = blocks_of(machine, threadblocks)
    reading = read_leniently(file)
    found = interpret(reading.algorithm, root=root, most_blocks=most)
    report(_document(file, reading, found) if json_ else _facts(file, reading, found), json_)
    if not found.is_right:
        raise typer.Exit(1)


def _document(file: Path, reading: Reading, found: Findings) -> dict[str, Any]:
    return {
        **_about(file, reading.algorithm),
        "executed": list(found.runs),
        "transfers": found.transfers,
        "findings": [record_of(one) for one in _all(reading, found)],
        "more_of": [str(kind) for kind in found.more],
        "missing": [remark.missing for remark in reading.remarks if remark.missing],
        "right": found.is_right,
    }


def _about(file: Path, algorithm: Algorithm) -> dict[str, Any]:
    modes = [
        words
        for words, meant in (
            ("in place", algorithm.in_place),
            ("out of place", algorithm.out_of_place),
        )
        if meant
    ]
    return {
        "file": file,
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


def _all(reading: Reading, found: Findings) -> Iterator[Finding]:
    yield from found.findings
    for remark in reading.remarks:
        yield Finding(Kind.NOTE, remark.message, line=remark.line)


def _facts(file: Path, reading: Reading, found: Findings) -> dict[str, Any]:
    about = _about(file, reading.algorithm)
    limit = about.pop("max_bytes")
    about["sizes"] = f"{about.pop('min_bytes')} bytes to {limit or 'any size'}"
    about["threadblocks"] = f"{about['threadblocks']} a GPU at most"
    wrong = [one for one in _all(reading, found) if one.is_wrong]
    notes = [one for one in _all(reading, found) if not one.is_wrong]
    return {
        **about,
        "executed": list(found.runs),
        "findings": list(lines_of(wrong, found)),
        "notes": list(lines_of(notes, found)) or None,
        "right": found.is_right,
    }
