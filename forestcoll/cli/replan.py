"""``forestcoll replan``: make a new schedule for a network that has changed."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forestcoll.cli.changed import NewLinks, Scale, Without, changed_network
from forestcoll.cli.options import Json, Output, ScheduleFile
from forestcoll.cli.output import SCHEDULES, expect_writable, report
from forestcoll.errors import InvalidParameterError

# The command imports what it works with: its help needs none of it.
if TYPE_CHECKING:
    from forestcoll.schedule import Allreduce, Forest
    from forestcoll.what_if.tree_changes import TreeChanges

__all__ = ["replan_schedule"]


def replan_schedule(
    old: ScheduleFile,
    output: Output,
    network: Annotated[
        str | None,
        typer.Option(
            "--topology",
            metavar="TOPOLOGY",
            help="The network as it is now; by default the schedule's.",
        ),
    ] = None,
    without: Without = None,
    scale: Scale = None,
    links: NewLinks = None,
    same_k: Annotated[
        bool,
        typer.Option("--same-k", help="Keep the number of trees per GPU, even if slightly slower."),
    ] = False,
    keep_weights: Annotated[
        bool,
        typer.Option("--keep-weights", help="For an allreduce: form the sums at the old GPUs."),
    ] = False,
    json_: Json = False,
) -> None:
    """Make a verified schedule for a changed network, and report how it differs."""
    from forestcoll.schedule import Allreduce, cost, read_schedule, write_schedule
    from forestcoll.what_if.replanning import replan

    expect_writable(output, SCHEDULES)  # before minutes of work, not after
    schedule = read_schedule(old)
    if not (network or without or scale or links):
        raise InvalidParameterError(
            "nothing has changed; say what has by --without, --scale, --with or --topology"
        )
    whole = schedule.topology if network is None else network
    topology = changed_network(whole, without, scale, links)
    began = time.perf_counter()
    again = replan(schedule, topology, same_k=same_k, keep_weights=keep_weights)
    seconds = time.perf_counter() - began
    made, before = again.schedule, cost(schedule).time_s_per_gb
    write_schedule(made, output)
    names = ("reduce", "gather") if isinstance(made, Allreduce) else ("changes",)
    facts = {
        "topology": topology.name,
        "collective": made.collective,
        "algbw_before_gb_s": 1 / before if before else None,
        "algbw_gb_s": 1 / made.time_s_per_gb if made.time_s_per_gb else None,
        **_optimum(made),
        **{
            name: _changes(part, phase.k)
            for name, part, phase in zip(
                names,
                again.changes,
                made.phases if isinstance(made, Allreduce) else (made,),
                strict=True,
            )
        },
        "verified": True,
        "replanned_s": seconds,
        "file": output,
    }
    report(facts, json_)


def _optimum(made: Forest | Allreduce[Forest]) -> dict[str, Any]:
    """Return the optimal rate over all k; nothing for an allreduce, whose verdict has the bound."""
    from forestcoll.core.optimality import optimum
    from forestcoll.schedule import Allreduce

    if isinstance(made, Allreduce) or made.topology.num_compute < 2:
        return {}
    best = optimum(made.topology, weights=made.weights, reduction=made.reduction)
    return {"optimum_gb_s": best.algbw_gb_s, "optimum_k": best.k}


def _changes(part: TreeChanges, k: int) -> dict[str, Any]:
    return {
        "k": k,
        "trees": part.trees,
        "changed_trees": part.changed_trees,
        "data_on_the_same_trees": part.kept,
        "gpus_touched": len(part.touched),
    }
