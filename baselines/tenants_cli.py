"""The command ``forestcoll baselines tenants``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from baselines.interface.forwarding_gpus import forwarding_gpus
from baselines.interface.parameters import settings_for
from baselines.synthesizers.teccl.tenant_text import tenant_in
from baselines.synthesizers.teccl.tenants import Shared, check_together, share
from forestcoll.cli.changed import NewLinks, Scale, Without, changed_network
from forestcoll.cli.facts import as_json, as_text
from forestcoll.cli.options import Json, Spec
from forestcoll.cli.output import SCHEDULES, expect_writable
from forestcoll.problem.limits import MOST_SECONDS, MOST_THREADS, Limits
from forestcoll.schedule import verify, write_schedule

__all__ = ["share_network"]

_SETTINGS = (
    *("epoch", "crossing", "switches", "buffer", "buffering", "slow", "solver", "chunk_bytes"),
)


def share_network(
    spec: Spec,
    tenants: Annotated[
        list[str],
        typer.Option(
            "--tenant",
            metavar="NAME:KEY=VALUE,...",
            help="A collective: collective, size, chunks, root, priority, group (names joined by "
            "+, or boxes and indices), or demand, which comes last; repeatable.",
        ),
    ],
    without: Without = None,
    scale: Scale = None,
    links: NewLinks = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A parameter of TE-CCL; repeatable."),
    ] = None,
    seconds: Annotated[
        float | None, typer.Option(min=0, max=MOST_SECONDS, help="Seconds for the search.")
    ] = None,
    threads: Annotated[int, typer.Option(min=1, max=MOST_THREADS, help="Threads.")] = 1,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Write FILE with each tenant's name before .json"
        ),
    ] = None,
    json_: Json = False,
) -> None:
    """Share a network between several collectives by TE-CCL, the highest priority first."""
    topology = changed_network(spec, without, scale, links)
    asked = [tenant_in(text, topology) for text in tenants]
    files = {} if output is None else {one.name: _file_of(output, one.name) for one in asked}
    for file in files.values():
        expect_writable(file, SCHEDULES)
    chosen = settings_for(share, settings or (), _SETTINGS, "tenants have")
    limits = Limits(seconds=seconds, threads=threads)
    shared = share(topology, asked, **chosen, limits=limits)
    for schedule in shared.schedules.values():
        verify(schedule)
    check_together(topology, shared.schedules.values())
    for name, file in files.items():
        write_schedule(shared.schedules[name], file)
    facts = [
        _facts(shared, one.name) | {"priority": one.priority, "file": files.get(one.name)}
        for one in asked
    ]
    typer.echo(as_json(facts) if json_ else "\n\n".join(map(as_text, facts)))


def _facts(shared: Shared, name: str) -> dict[str, Any]:
    schedule = shared.schedules[name]
    forward = forwarding_gpus(schedule)
    return {
        "tenant": name,
        "collective": schedule.collective,
        "chunks": len(schedule.chunks),
        "epochs": shared.epochs[name],
        "bound": shared.bounds[name],
        "makespan_us": None if schedule.clock is None else schedule.clock.finish_us,
        "forwarding_outside": ", ".join(forward) or "no GPU",
        "verified": "alone and together",
    }


def _file_of(output: Path, name: str) -> Path:
    return output.with_name(f"{output.stem}-{name}{output.suffix}")
