"""Options of ``forestcoll export``, in the order of its help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from forestcoll.cli.options import MOST
from forestcoll.problem.limits import MOST_SECONDS
from forestcoll.runtimes.formats import FORMATS

__all__ = [
    "BetweenBoxes", "Channels", "Check", "DataSize", "DslFile", "FormatName", "InPlace",
    "Instances", "LeastSize", "MessageCount", "MostSize", "Protocol", "Puts", "SatisfyLimits",
    "SatisfyTime", "SimulatedAlpha", "SimulatedGamma", "SimulatorName", "Threadblocks",
]  # fmt: skip

FormatName = Annotated[str, typer.Option("--format", help=f"One of {', '.join(FORMATS)}.")]
Protocol = Annotated[
    str | None,
    typer.Option(
        "--protocol",
        help="Simple, LL or (msccl) LL128; Simple if not given. LL is for small messages.",
    ),
]
Channels = Annotated[
    int | None,
    typer.Option("--channels", max=MOST, help="Limit per instance; by default as many as fit."),
]
Instances = Annotated[
    int | None,
    typer.Option(
        "--instances", max=MOST, help="Number of parts of the data, each on its own channels."
    ),
]
Threadblocks = Annotated[
    int | None,
    typer.Option(
        "--threadblocks",
        max=MOST,
        help="Threadblocks that run at once on a GPU (its multiprocessors), for mscclpp; 108 "
        "if not given.",
    ),
]
BetweenBoxes = Annotated[
    str | None,
    typer.Option(
        "--between-boxes",
        metavar="port|memory",
        help="Channels between boxes, for mscclpp: of a proxy and the NICs (port, if not "
        "given), or where NVLink joins the boxes (memory).",
    ),
]
MessageCount = Annotated[
    int | None,
    typer.Option(
        "--pipeline-chunks",
        max=MOST,
        help="Messages that each transfer is cut into, for simulators, nccl4py and torch; 1 if "
        "not given.",
    ),
]
Puts = Annotated[
    bool,
    typer.Option("--puts", help="For nccl4py: puts with signals instead of sends and receives."),
]
DslFile = Annotated[
    Path | None,
    typer.Option(
        "--dsl",
        metavar="FILE",
        help="For mscclpp: write the plan as a Python program of MSCCL++'s DSL, too, to be edited.",
    ),
]
InPlace = Annotated[
    bool,
    typer.Option(
        "--in-place", help="For in-place calls: no GPU copies its own part to its output."
    ),
]
LeastSize = Annotated[
    str | None, typer.Option("--min-size", help="Least size of the data: 1MB; 1MB is 2^20.")
]
MostSize = Annotated[str | None, typer.Option("--max-size", help="Largest size.")]
DataSize = Annotated[
    str | None,
    typer.Option("--size", help="Size of the data, for simulators; 1MB if not given."),
]
SimulatedGamma = Annotated[
    str | None,
    typer.Option(
        "--gamma",
        metavar="S",
        help="Seconds in which a GPU adds a gigabyte, for simulators; 0 if not given.",
    ),
]
SimulatedAlpha = Annotated[
    str | None,
    typer.Option(
        "--alpha",
        metavar="US",
        help="Latency of a hop from GPU to GPU in microseconds, for simulators; 10 if not given.",
    ),
]
SimulatorName = Annotated[
    str | None,
    typer.Option(
        "--simulator",
        metavar="loggopsim|htsim",
        help="Which simulator runs a GOAL file; loggopsim if not given.",
    ),
]
SatisfyLimits = Annotated[
    bool,
    typer.Option(
        "--satisfy-limits",
        help="If the schedule exceeds a limit of the runtime, export a variant within limits: "
        "other channels, fewer instances, or the fastest forest with fewer trees per GPU.",
    ),
]
SatisfyTime = Annotated[
    float,
    typer.Option(
        "--satisfy-time",
        metavar="SECONDS",
        max=MOST_SECONDS,
        help="Seconds for the search for a variant within limits.",
    ),
]
Check = Annotated[
    bool,
    typer.Option("--check/--no-check", help="Execute the export on the CPU before writing it."),
]
