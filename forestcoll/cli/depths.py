"""``forestcoll depths``: the throughput that a limit on tree depth costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from forestcoll.cli.changed import NewLinks, Scale, Without, changed_network
from forestcoll.cli.facts import as_json
from forestcoll.cli.options import (
    CollectiveName,
    Group,
    Idle,
    Json,
    MaxDepth,
    Root,
    Spec,
    Trees,
    WeightsFile,
    idle_fact,
    idle_of,
    idle_words,
    in_group,
    read_if_given,
    root_of,
)
from forestcoll.cli.output import progress_bars
from forestcoll.problem.options import Options
from forestcoll.topology.describe import decimal

# The command imports what it works with: its help needs none of it.
if TYPE_CHECKING:
    from forestcoll.bounded_depth.depth_limit import DepthPoint

__all__ = ["show_depths"]


def show_depths(
    spec: Spec,
    collective: CollectiveName = "allgather",
    root: Root = None,
    weights: WeightsFile = None,
    members: Group = None,
    idle: Idle = None,
    without: Without = None,
    scale: Scale = None,
    links: NewLinks = None,
    k: Trees = None,
    max_depth: MaxDepth = None,
    json_: Json = False,
) -> None:
    """List the best rate found at each tree depth, with an upper bound."""
    from forestcoll.bounded_depth.depth_limit import rate_by_depth
    from forestcoll.schedule import verify

    network = changed_network(spec, without, scale, links)
    topology = in_group(network, members, idle)
    asked = Options(
        collective=collective,
        root=root_of(topology, root),
        weights=read_if_given(weights),
        k=k,
        max_depth=max_depth,
    )
    with progress_bars() as progress:
        points = rate_by_depth(topology, asked, progress=progress)
    for point in points:
        verify(point.schedule)
    if json_:
        entries = [_entry(point) for point in points]
        typer.echo(
            as_json(
                {
                    "topology": topology.name,
                    **idle_fact(members, idle),
                    "collective": collective,
                    "depths": entries,
                }
            )
        )
        return
    words = idle_words(idle_of(members, idle))
    typer.echo(f"{topology.name}, {collective}{words}: the fastest found at each depth, GB/s")
    typer.echo(f"{'depth':>8}{'algbw':>10}{'at most':>10}{'k':>6}{'trees':>8}")
    for point in points:
        at_most = "" if point.at_most_gb_s is None else decimal(point.at_most_gb_s)
        typer.echo(
            f"{point.depth:>8}{decimal(point.algbw_gb_s):>10}{at_most:>10}{point.k:>6}"
            f"{_trees(point):>8}"
        )


def _entry(point: DepthPoint) -> dict[str, Any]:
    return {
        "depth": point.depth,
        "algbw_gb_s": point.algbw_gb_s,
        "at_most_gb_s": point.at_most_gb_s,
        "proved": point.proved,
        "k": point.k,
        "distinct_trees": _trees(point),
    }


def _trees(point: DepthPoint) -> int:
    from forestcoll.schedule import Allreduce

    schedule = point.schedule
    phases = schedule.phases if isinstance(schedule, Allreduce) else (schedule,)
    return sum(phase.num_batches for phase in phases)
