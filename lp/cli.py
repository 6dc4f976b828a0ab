"""The command ``forestcoll allreduce-optimum``."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forestcoll.errors import ExportError

if TYPE_CHECKING:
    from forestcoll.schedule.collectives import Allreduce
    from forestcoll.schedule.forest import Forest
    from lp.allreduce_result import AllreduceOptimum, BindingCut

__all__ = ["allreduce_optimum"]

_SHOWN_CUTS = 6


def allreduce_optimum(
    spec: Annotated[str, typer.Argument(metavar="TOPOLOGY", help="A family or a topology file.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where to write the schedule."),
    ] = None,
    time_limit: Annotated[
        float, typer.Option("--time-limit", metavar="SECONDS", help="For the linear program.")
    ] = 300.0,
    solver: Annotated[
        str, typer.Option("--solver", help="highs, highs-ipm, glop, gurobi, ...")
    ] = "highs",
    symmetry: Annotated[
        bool, typer.Option(help="Look for symmetries, which make the program smaller.")
    ] = True,
    json_: Annotated[
        bool, typer.Option("--json", help="Write one JSON document to stdout.")
    ] = False,
) -> None:
    """Say whether reduce-scatter + allgather is the fastest allreduce; if not, build a faster one.

    The schedule is verified before its rate is shown or it is written.
    """
    from forestcoll.report import as_json, as_text
    from forestcoll.schedule import write_schedule
    from forestcoll.topology import load_topology
    from lp import allreduce_cuts
    from lp.automorphism import no_symmetry
    from lp.program import Settings

    if output is not None and not output.absolute().parent.is_dir():
        raise ExportError(f"{output}: there is no directory {output.parent}; create it first")
    topology = load_topology(spec)
    settings = Settings(time_limit_s=time_limit, method=solver)
    start = time.perf_counter()
    orbits = None if symmetry else no_symmetry(topology)
    found = allreduce_cuts.allreduce_optimum(topology, settings, orbits=orbits)
    facts, schedule = _judged(found, time.perf_counter() - start, build=output is not None)
    if schedule is not None and output is not None:
        write_schedule(schedule, output)
        facts["file"] = output
    typer.echo(as_json(facts) if json_ else as_text(_for_people(facts)))


def _judged(
    found: AllreduceOptimum, seconds: float, *, build: bool
) -> tuple[dict[str, Any], Allreduce[Forest] | None]:
    """Hold the program's value against the combination; build what is better, or asked for."""
    from forestcoll.generate import generate
    from forestcoll.schedule import verify
    from forestcoll.schedule.cost import cost
    from lp.allreduce_result import combination_algbw
    from lp.allreduce_rounding import allreduce_forest

    topology, combination = found.topology, combination_algbw(found.topology)
    optimal = found.is_attained_by(combination)
    facts: dict[str, Any] = {
        "topology": topology.name,
        "gpus": topology.num_compute,
        "allreduce_algbw_gb_s": found.algbw_gb_s,
        "at_most_gb_s": found.bound_gb_s,
        "reduce_scatter_and_allgather_gb_s": combination,
        "reduce_scatter_and_allgather_is_optimal": optimal,
        "parts_gb_s": {
            topology.nodes[gpu].name: float(part)
            for gpu, part in zip(topology.compute, found.parts_gb_s, strict=True)
        },
        "binding_cuts": [_cut(found, cut) for cut in found.binding],
        "solver": found.method,
        "tolerance": found.tolerance,
        "cuts": found.cuts,
        "rounds": found.rounds,
        "link_orbits": found.link_orbits,
        "time_s": seconds,
    }
    if optimal and not build:
        return facts, None
    schedule = generate(topology, collective="allreduce") if optimal else allreduce_forest(found)
    verify(schedule)
    facts["verified"] = True
    facts["schedule_algbw_gb_s"] = cost(schedule).algbw_gb_s
    facts["distinct_trees"] = sum(len(phase.root) for phase in schedule.phases)
    return facts, schedule


def _cut(found: AllreduceOptimum, cut: BindingCut) -> dict[str, Any]:
    """Name the smaller side of a cut and which way the data must cross it."""
    from forestcoll.describe import nodes_in_words

    topology = found.topology
    rest = set(range(len(topology.nodes))).difference(cut.nodes)
    larger = len(cut.nodes) > len(rest)
    into = larger == (cut.phase == "gather")
    where = nodes_in_words(topology, rest if larger else cut.nodes)
    return {
        "phase": cut.phase,
        "in_words": f"{cut.phase} {'into' if into else 'out of'} {where}",
        "price": cut.price,
        "nodes": [topology.nodes[v].name for v in cut.nodes],
    }


def _for_people(facts: dict[str, Any]) -> dict[str, Any]:
    """Leave out what fills the screen, and give rates the digits that they have."""
    cuts = [f"{cut['in_words']}, price {cut['price']:.4g}" for cut in facts["binding_cuts"]]
    hidden = len(cuts) - _SHOWN_CUTS
    if hidden > 0:
        cuts[_SHOWN_CUTS:] = [f"and {hidden} more"]
    parts = facts["parts_gb_s"].values()
    shown = {**facts, "binding_cuts": [[cut] for cut in cuts], "parts_gb_s": None}
    for key in ("allreduce_algbw_gb_s", "at_most_gb_s"):
        shown[key] = f"{facts[key]:.9g}"
    shown["roots"] = sum(part > facts["tolerance"] * facts["at_most_gb_s"] for part in parts)
    shown["tolerance"] = f"{facts['tolerance']:g}"
    return shown
