"""The command that scores MSCCL's XML on a network, whoever wrote it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from forestcoll.cli.options import Json
from forestcoll.cli.output import report
from forestcoll.schedule.msccl import Algorithm, read_leniently
from forestcoll.scoring.file_score import FileScore, score
from forestcoll.topology import load_topology

__all__ = ["score_xml"]

_SHOWN = 5
_LETTERS = 400
_MODEL = "transfers as in the file, over paths of fewest links through switches, shared evenly"


def score_xml(
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
        "algbw_gb_s": found.algbw_gb_s,
        "busiest_link": found.busiest_link,
        "at_most_gb_s": found.at_most_gb_s,
        "share_of_optimum": found.share_of_optimum,
        "at_most_if_summed_at_one_gpu_gb_s": found.rooted_at_most_gb_s,
        "model": _MODEL if found.findings.is_right else None,
    }
