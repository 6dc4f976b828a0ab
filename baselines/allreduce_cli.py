"""The command ``forestcoll baselines allreduce``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from baselines.interface.parameters import settings_for
from baselines.synthesizers.teccl.staged_allreduce import (
    StagedAllreduce,
    check_stages,
    joint_allreduce,
    paper_allreduce,
)
from baselines.synthesizers.teccl.teccl import generate
from forestcoll.cli.changed import NewLinks, Scale, Without, changed_network
from forestcoll.cli.facts import as_json, as_text
from forestcoll.cli.options import Json, Spec
from forestcoll.problem.limits import MOST_SECONDS, MOST_THREADS, Limits
from forestcoll.schedule import verify

__all__ = ["compare_allreduces"]

_SETTINGS = ("size_bytes", "chunks", "epoch", "crossing", "switches", "solver", "work")


def compare_allreduces(
    spec: Spec,
    without: Without = None,
    scale: Scale = None,
    links: NewLinks = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A parameter of TE-CCL; repeatable."),
    ] = None,
    seconds: Annotated[
        float | None, typer.Option(min=0, max=MOST_SECONDS, help="Seconds for each of the three.")
    ] = None,
    threads: Annotated[int, typer.Option(min=1, max=MOST_THREADS, help="Threads.")] = 1,
    json_: Json = False,
) -> None:
    """Compare TE-CCL's allreduces: two stages in sequence, both solved together, and reversal."""
    topology = changed_network(spec, without, scale, links)
    asked = settings_for(joint_allreduce, settings or (), _SETTINGS, "an allreduce in stages has")
    limits = Limits(seconds=seconds, threads=threads)
    rows = [
        _row("all-to-all, then allgather", paper_allreduce(topology, limits=limits, **asked)),
        _row("both stages together", joint_allreduce(topology, limits=limits, **asked)),
    ]
    reverse = generate(topology, "allreduce", limits=limits, **asked)
    verify(reverse)
    assert reverse.clock is not None
    rows.append(
        {"allreduce": "reversed allgather, then allgather", "makespan_us": reverse.clock.finish_us}
    )
    facts = [{**row, "verified": True} for row in rows]
    typer.echo(as_json(facts) if json_ else "\n\n".join(map(as_text, facts)))


def _row(name: str, made: StagedAllreduce) -> dict[str, Any]:
    check_stages(made)
    return {
        "allreduce": name,
        "epochs": made.epochs,
        "bound": made.bound,
        "makespan_us": made.finish_us,
    }
