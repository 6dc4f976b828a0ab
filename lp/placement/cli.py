"""The command ``forestcoll placement``."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forestcoll.cli.changed import NewLinks, Scale, Without, changed_network
from forestcoll.cli.options import Json, Spec
from forestcoll.problem.limits import MOST_SECONDS

if TYPE_CHECKING:
    from lp.placement.placement_search import Placement

__all__ = ["placement"]

_SHOWN = 8  # groups of a kind; the file has all


def placement(
    spec: Spec,
    kind: Annotated[
        list[str] | None,
        typer.Option(
            "--kind",
            metavar="NAME=GPUS:COLLECTIVE:SIZE",
            help="Groups of so many GPUs, or rest: tensor=8:allreduce:64MB; repeatable.",
        ),
    ] = None,
    objective: Annotated[
        str, typer.Option("--objective", help="Of the kinds' times: sum or slowest.")
    ] = "sum",
    without: Without = None,
    scale: Scale = None,
    links: NewLinks = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where to write all groups, as JSON."),
    ] = None,
    time_limit: Annotated[
        float,
        typer.Option("--time-limit", metavar="SECONDS", max=MOST_SECONDS, help="Of the search."),
    ] = 60.0,
    swaps: Annotated[
        int, typer.Option("--swaps", min=0, max=10**9, help="Tried by the local search, at most.")
    ] = 200_000,
    json_: Json = False,
) -> None:
    """Choose which GPUs form which process group, so that the collectives take the least time.

    All groups of a kind run at once; kinds run one after the other. Times are of verified
    schedules.
    """
    from forestcoll.atomic_write import write_text
    from forestcoll.cli.facts import as_json, as_text
    from lp.placement.parallel_kinds import kinds_of
    from lp.placement.placement_search import best_placement

    topology = changed_network(spec, without, scale, links)
    kinds = kinds_of(kind or [], topology.num_compute)
    start = time.perf_counter()
    found = best_placement(topology, kinds, objective=objective, seconds=time_limit, swaps=swaps)
    facts = {**_facts(found), "search_s": time.perf_counter() - start}
    if output is not None:
        write_text(output, as_json(_document(found)) + "\n")
        facts["file"] = output
    typer.echo(as_json({**facts, **_document(found)}) if json_ else as_text(_shown(facts, found)))


def _facts(found: Placement) -> dict[str, Any]:
    of = found.objective
    return {
        "topology": found.topology.name,
        "gpus": found.topology.num_compute,
        "model": "groups of a kind at once, kinds one after the other, allreduce as sequential "
        "phases",
        "objective": "sum of the kinds' times" if of == "sum" else "time of the slowest kind",
        "search": _search(found),
        "placements": found.looked_at,
        "swaps": None if found.exhaustive else found.swaps,
        "default_time_us": found.default.time_us(of),
        "time_us": found.best.time_us(of),
        "gain": float(found.gain),
        "bound_for_this_placement_us": found.best.bound_us(of),
        "bound_for_all_placements_us": found.least_us,
        "best_of_all_placements": found.is_best or None,
        "above_the_bound": None if found.is_best else f"{100 * found.distance:.3g} %",
        "verified": True,
    }


def _search(found: Placement) -> str:
    way = "all placements up to symmetry" if found.exhaustive else "local search by swaps"
    return f"{way}; the time limit was reached" if found.out_of_time else way


def _document(found: Placement) -> dict[str, Any]:
    """Return ranks, and the groups and times of each kind."""
    names = [found.topology.nodes[place].name for place in found.topology.compute]
    times = zip(found.kinds, found.groups, found.default.kinds, found.best.kinds, strict=True)
    return {
        "topology": found.topology.name,
        "ranks": [names[gpu] for gpu in found.best.order],
        "kinds": {
            kind.name: {
                "size": kind.size,
                "collective": kind.collective,
                "size_bytes": kind.size_bytes,
                "default_time_us": before.time_us,
                "time_us": after.time_us,
                "bound_us": after.bound_us,
                "groups": groups,
            }
            for kind, groups, before, after in times
        },
    }


def _shown(facts: dict[str, Any], found: Placement) -> dict[str, Any]:
    """Add a line for each kind and its first groups."""
    lines = dict(facts)
    times = zip(found.kinds, found.groups, found.default.kinds, found.best.kinds, strict=True)
    for kind, groups, before, after in times:
        rate = kind.size_bytes / float(after.time_us) / 1000
        lines[kind.name] = [
            f"{len(groups)} groups of {kind.size}, {kind.collective}: "
            f"{float(before.time_us):.6g} us in the default order, {float(after.time_us):.6g} us "
            f"found, {rate:.6g} GB/s algbw",
            *(" ".join(names) for names in groups[:_SHOWN]),
            *(["..."] if len(groups) > _SHOWN else []),
        ]
    return lines
