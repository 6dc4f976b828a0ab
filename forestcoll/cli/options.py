"""Arguments and options that commands share."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Literal

import typer

from forestcoll.errors import InvalidParameterError, InvalidTopologyError
from forestcoll.problem.options import MOST_TREES
from forestcoll.problem.sizes import read_sizes
from forestcoll.problem.weights import Weights, read_weights
from forestcoll.topology import Topology, group, members_from_text
from forestcoll.topology.groups import IDLE
from forestcoll.topology.reading.units import bandwidth_gb_s
from forestcoll.topology.validation import COLLECTIVES

__all__ = [
    "MOST", "Alpha", "ChunkCost", "CollectiveName", "Gamma", "Group", "Idle", "Json", "MaxDepth",
    "MessageCost", "Output", "Root", "ScheduleFile", "Spec", "Trees", "WeightsFile", "Window",
    "idle_fact", "idle_of", "idle_words", "in_group", "rate_of", "read_if_given", "root_of",
    "sizes_of", "window_of",
]  # fmt: skip

MOST = 1_000_000
"""Upper limit of every number on the command line that has no bound of its own."""

Spec = Annotated[str, typer.Argument(metavar="TOPOLOGY", help="A family or a topology file.")]
ScheduleFile = Annotated[Path, typer.Argument(metavar="FILE", help="A schedule file.")]
Json = Annotated[bool, typer.Option("--json", help="Write one JSON document to stdout.")]
Trees = Annotated[
    int | None,
    typer.Option(
        "--k", max=MOST_TREES, help="Trees per GPU; by default as many as the optimum needs."
    ),
]
MaxDepth = Annotated[
    int | None,
    typer.Option(
        "--max-depth",
        max=MOST,
        metavar="HOPS",
        help="Limit the depth of trees, in hops from GPU to GPU (for an allreduce, the sum of both "
        "phases), and find the highest rate within it.",
    ),
]
Output = Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Where to write.")]


CollectiveName = Annotated[
    str, typer.Option("--collective", help=f"One of {', '.join(COLLECTIVES)}, all-to-all.")
]
Root = Annotated[
    str | None,
    typer.Option(
        "--root", metavar="GPU", help="Root of a broadcast, reduce or allreduce: name or rank."
    ),
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
        help="GPUs of the process group: names, or BOXES/INDICES like 0-15/* or */0.",
    ),
]
Idle = Annotated[
    str | None,
    typer.Option(
        "--idle",
        metavar="|".join(IDLE),
        help="Whether GPUs outside the group forward data or are absent; no library lets them "
        "forward. The default is forward, but absent for `expected`.",
    ),
]


Alpha = Annotated[
    str,
    typer.Option(
        "--alpha",
        metavar="US",
        help="Latency of a hop from GPU to GPU: microseconds, or with a unit, such as 800ns.",
    ),
]
Gamma = Annotated[
    str, typer.Option("--gamma", metavar="S", help="Seconds in which a GPU adds a gigabyte.")
]
Window = Annotated[
    str,
    typer.Option(
        "--window", help="Pipeline chunks of a transfer on the way at once, or unlimited."
    ),
]
ChunkCost = Annotated[
    str, typer.Option("--chunk-cost", metavar="US", help="Microseconds of a pipeline chunk.")
]
MessageCost = Annotated[
    str, typer.Option("--message-cost", metavar="US", help="Microseconds of a transfer's start.")
]


def window_of(text: str) -> int | Literal["unlimited"]:
    """Read a window: a whole number, or "unlimited".

    Raises InvalidParameterError.
    """
    if text == "unlimited":
        return "unlimited"
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise InvalidParameterError(
            f"--window is {text!r}; it must be a whole number, or unlimited"
        )
    return int(text)


def in_group(topology: Topology, members: str | None, idle: str | None = None) -> Topology:
    """Mark the GPUs outside the group as relays, or remove them."""
    chosen = idle_of(members, idle)
    if members is None or chosen is None:
        return topology
    return group(topology, members_from_text(topology, members), idle=chosen)


def idle_of(
    members: str | None, idle: str | None, default: Literal["forward", "absent"] = "forward"
) -> Literal["forward", "absent"] | None:
    """Return what GPUs outside the group do; None without a group."""
    if idle is not None and members is None:
        raise InvalidParameterError("--idle is of GPUs outside a group; name one by --group")
    for known in IDLE:
        if idle == known:
            return known
    if idle is not None:
        raise InvalidParameterError(f"--idle is {idle!r}; it must be {' or '.join(IDLE)}")
    return None if members is None else default


def idle_fact(members: str | None, idle: str | None) -> dict[str, str]:
    """Return what GPUs outside the group do as a fact to report; nothing without a group."""
    chosen = idle_of(members, idle)
    return {} if chosen is None else {"idle": chosen}


def idle_words(chosen: str | None) -> str:
    """Return what GPUs outside the group do, in words that follow the network's name."""
    return f", GPUs outside the group {_DOING[chosen]}" if chosen is not None else ""


_DOING = {"forward": "forward", "absent": "are absent"}


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


def rate_of(option: str, text: str | None) -> Fraction | None:
    """Return the bandwidth that an option gives, in GB/s."""
    if text is None:
        return None
    try:
        rate = bandwidth_gb_s(text)
    except InvalidTopologyError as error:
        raise InvalidParameterError(f"{option} {error}") from None
    if rate <= 0:
        raise InvalidParameterError(f"{option} is {text}; it must be above 0")
    return rate
