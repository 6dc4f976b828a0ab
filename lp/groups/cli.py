"""The command ``forestcoll groups``."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forestcoll.cli.changed import NewLinks, Scale, Without, changed_network
from forestcoll.cli.options import Json, Spec
from forestcoll.errors import ExportError, InvalidParameterError
from forestcoll.problem.limits import MOST_SECONDS

if TYPE_CHECKING:
    from forestcoll.topology import Topology
    from lp.groups.result import ConcurrentGroups

__all__ = ["Solver", "TimeLimit", "groups"]

TimeLimit = Annotated[
    float,
    typer.Option(
        "--time-limit", metavar="SECONDS", max=MOST_SECONDS, help="Of the linear program."
    ),
]
Solver = Annotated[str, typer.Option("--solver", help="highs, highs-ipm, glop, gurobi, ...")]


def groups(
    spec: Spec,
    without: Without = None,
    scale: Scale = None,
    links: NewLinks = None,
    group: Annotated[
        list[str] | None,
        typer.Option("--group", metavar="MEMBERS", help="As BOXES/INDICES or names; repeatable."),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option("--by", help='"box": each box; "index": the GPUs of each index in the boxes.'),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="DIRECTORY", help="Where to write the forests."),
    ] = None,
    time_limit: TimeLimit = 300.0,
    solver: Solver = "highs",
    json_: Json = False,
) -> None:
    """Share a network among process groups that run at once, each with a forest of its own.

    The forests are verified, alone and together, before anything is shown or written.
    """
    from forestcoll.cli.facts import as_json, as_text
    from forestcoll.cli.output import expect_writable
    from forestcoll.solver.linear_program import Settings
    from lp.groups.sharing import concurrent_groups

    if output is not None:
        if output.exists() and not output.is_dir():
            raise ExportError(f"{output}: is a file; name a folder")
        expect_writable(output / "group0.json")
    topology = changed_network(spec, without, scale, links)
    chosen = _chosen(topology, group or [], by)
    start = time.perf_counter()
    found = concurrent_groups(topology, chosen, Settings(seconds=time_limit, method=solver))
    facts = _facts(found, time.perf_counter() - start)
    if output is not None:
        facts["files"] = _written(found, output)
    typer.echo(as_json(facts) if json_ else as_text(facts))


def _chosen(topology: Topology, texts: list[str], by: str | None) -> dict[str, list[str]]:
    from forestcoll.topology.groups import members_from_text
    from lp.groups.sharing import groups_by_box, groups_by_index

    if (by is None) == (not texts):
        raise InvalidParameterError("name groups by --group, or all of them by --by box or index")
    if by is None:
        if len(set(texts)) < len(texts):
            raise InvalidParameterError("a --group is given twice; name each group once")
        return {text: members_from_text(topology, text) for text in texts}
    ways = {"box": groups_by_box, "index": groups_by_index}
    if by not in ways:
        raise InvalidParameterError(f"--by is {by!r}; it must be box or index")
    return ways[by](topology)


def _facts(found: ConcurrentGroups, seconds: float) -> dict[str, Any]:
    return {
        "topology": found.topology.name,
        "groups": len(found.groups),
        "members": [len(one.members) for one in found.groups],
        "bound_gb_s": found.bound_gb_s,
        "rate_gb_s": found.rate_gb_s,
        "attained": float(found.rate_gb_s) / found.bound_gb_s,
        "algbw_gb_s": [found.algbw_gb_s(i) for i in range(len(found.groups))],
        "trees": [forest.num_trees for forest in found.forests],
        "status": found.status,
        "tolerance": found.tolerance,
        "cuts": found.cuts,
        "lean": found.lean,
        "verified": True,
        "generation_s": seconds,
    }


def _written(found: ConcurrentGroups, directory: Path) -> list[str]:
    """Write each group's forest under its number, in the order of the groups."""
    from forestcoll.schedule import write_schedule

    paths = [directory / f"group{i}.json" for i in range(len(found.forests))]
    for path, forest in zip(paths, found.forests, strict=True):
        write_schedule(forest, path)
    return [str(path) for path in paths]
