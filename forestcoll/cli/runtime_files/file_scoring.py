"""The command that scores MSCCL's XML on a network, whoever wrote it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from forestcoll.cli.options import Json
from forestcoll.cli.output import report
from forestcoll.schedule.msccl import Algorithm, read_leniently
from forestcoll.scoring.file_score import FileScore, score
from forestcoll.scoring.measurement import Measurement
from forestcoll.topology import load_topology

__all__ = ["score_file"]

_SHOWN = 5
_LETTERS = 400
_MODEL = "transfers as in the file, over paths of fewest links through switches, shared evenly"


def score_file(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file of MSCCL, XML.")],
    network: Annotated[
        str, typer.Option("--topology", metavar="TOPOLOGY", help="The network that it is for.")
    ],
    root: Annotated[
        int | None,
        typer.Option("--root", metavar="RANK", help="Of a broadcast or reduce, if not plain."),
    ] = None,
    json_: Json = False,
) -> None:
    """Execute an MSCCL XML file, and say how near it is to the optimum of a network."""
    algorithm = read_leniently(file).algorithm
    topology = load_topology(network)
    found = score(algorithm, topology, root=root)
    report({"file": file, "topology": topology.name, **_facts(algorithm, found)}, json_)
    if not found.findings.is_right:
        raise typer.Exit(1)


def _facts(algorithm: Algorithm, found: FileScore) -> dict[str, Any]:
    wrong = [one for one in found.findings.findings if one.is_wrong]
    return {
        "name": algorithm.name,
        "collective": algorithm.collective,
        "right": found.findings.is_right,
        "wrong": [f"{one.kind}: {one.message[:_LETTERS]}" for one in wrong[:_SHOWN]] or None,
        "more_wrong": "see check-xml" if wrong[_SHOWN:] else None,
        **({} if found.measurement is None else _measured(found.measurement)),
    }


def _measured(found: Measurement) -> dict[str, Any]:
    """Say how fast it is; the share is of the optimum where that is known, else of a bound."""
    bound = found.bound
    optimal = bound is not None and bound.optimal
    return {
        "algbw_gb_s": found.algbw_gb_s,
        "busiest_link": found.busiest_link,
        "at_most_gb_s": None if bound is None else bound.algbw_gb_s,
        "at_most_by": None if bound is None else bound.by,
        "at_most_for": None if bound is None else bound.model,
        "share_of_optimum": found.share if optimal else None,
        "share_at_least": None if optimal else found.share,
        "model": _MODEL,
    }
