"""Arguments and options that commands share."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from forestcoll.errors import InvalidParameterError
from forestcoll.problem.sizes import read_sizes
from forestcoll.problem.weights import Weights, read_weights
from forestcoll.topology import Topology, group, members_from_text
from forestcoll.topology.validate import COLLECTIVES

__all__ = [
    "Alpha",
    "CollectiveName",
    "Gamma",
    "Group",
    "Json",
    "MaxHeight",
    "Output",
    "Root",
    "ScheduleFile",
    "Spec",
    "Trees",
    "WeightsFile",
    "in_group",
    "read_if_given",
    "root_of",
    "sizes_of",
]

Spec = Annotated[str, typer.Argument(metavar="TOPOLOGY", help="A family or a topology file.")]
ScheduleFile = Annotated[Path, typer.Argument(metavar="FILE", help="A schedule file.")]
Json = Annotated[bool, typer.Option("--json", help="Write one JSON document to stdout.")]
Trees = Annotated[
    int | None,
    typer.Option("--k", help="Trees per GPU; as many as the optimum needs if not given."),
]
MaxHeight = Annotated[
    int | None,
    typer.Option(
        "--max-height",
        metavar="HOPS",
        help="No taller trees, in hops from GPU to GPU, of an allreduce both phases in sum; the "
        "fastest found.",
    ),
]
Output = Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Where to write.")]


CollectiveName = Annotated[
    str, typer.Option("--collective", help=f"One of {', '.join(COLLECTIVES)}.")
]
Root = Annotated[
    str | None,
    typer.Option("--root", metavar="GPU", help="Of a broadcast, reduce or allreduce; or its rank."),
]
WeightsFile = Annotated[
    Path | None,
    typer.Option(
        "--weights", metavar="FILE", help="How much data each GPU has: a list or GPU: number."
    ),
]
Group = Annotated[
    str | None,
    typer.Option(
        "--group",
        metavar="GPUS",
        help="Who takes part (the others forward): names, or BOXES/INDICES like 0-15/* or */0.",
    ),
]


Alpha = Annotated[
    str, typer.Option("--alpha", metavar="US", help="Microseconds of a hop from GPU to GPU.")
]
Gamma = Annotated[
    str, typer.Option("--gamma", metavar="S", help="Seconds in which a GPU adds a gigabyte.")
]


def in_group(topology: Topology, members: str | None) -> Topology:
    """Mark those who take no part."""
    return topology if members is None else group(topology, members_from_text(topology, members))


def root_of(topology: Topology, text: str | None) -> str | int | None:
    """Read a root: a name, or a rank where no node has that name."""
    if text is None or text in topology.position_of or not re.fullmatch(r"\d{1,9}", text):
        return text
    return int(text)


def read_if_given(weights: Path | None) -> Weights | None:
    """Read a file of weights."""
    return None if weights is None else read_weights(weights)


def sizes_of(text: str | None, option: str = "--sizes") -> list[int]:
    """Read sizes of the data, such as 1MB,64MB or 1MB..1GB; none if there is no text."""
    if text is None:
        return []
    try:
        return read_sizes([part.strip() for part in text.split(",")])
    except ValueError as error:
        raise InvalidParameterError(f"{option} {error}") from None
