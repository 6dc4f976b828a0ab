"""The command ``forestcoll allreduce-optimum``."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from forestcoll.cli.changed import NewLinks, Scale, Without, changed_network
from forestcoll.cli.options import Json, Spec
from lp.groups.cli import Solver, TimeLimit

if TYPE_CHECKING:
    from forestcoll.allreduce.result import AllreduceOptimum, BindingCut
    from forestcoll.schedule.allreduce import Allreduce
    from forestcoll.schedule.forest import Forest

__all__ = ["allreduce_optimum"]

_SHOWN_CUTS = 6


def allreduce_optimum(
    spec: Spec,
    without: Without = None,
    scale: Scale = None,
    links: NewLinks = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where to write the schedule."),
    ] = None,
    time_limit: TimeLimit = 300.0,
    solver: Solver = "highs",
    symmetry: Annotated[
        bool, typer.Option(help="Look for symmetries, which make the program smaller.")
    ] = True,
    json_: Json = False,
) -> None:
    """Find the fastest allreduce with forwarding switches; compare reduce-scatter + allgather.

    The schedule is verified, with the bound that it attains or not, before it is written.
    """
    from forestcoll.allreduce import cutting_planes as allreduce_cuts
    from forestcoll.cli.facts import as_json, as_text
    from forestcoll.cli.output import SCHEDULES, expect_writable
    from forestcoll.generation import Options, generate
    from forestcoll.schedule import verify, write_schedule
    from forestcoll.solver.linear_program import Settings
    from forestcoll.topology.symmetry.automorphism import no_symmetry

    if output is not None:
        expect_writable(output, SCHEDULES)
    topology = changed_network(spec, without, scale, links)
    settings = Settings(seconds=time_limit, method=solver)
    start = time.perf_counter()
    orbits = None if symmetry else no_symmetry(topology)
    found = allreduce_cuts.allreduce_optimum(topology, settings, orbits=orbits)
    made = generate(topology, Options(collective="allreduce", lp_time_limit_s=0))
    combination = cast("Allreduce[Forest]", made.schedule)
    schedule = _best(found, combination)
    verdict = verify(schedule)
    facts = {
        **_facts(found, combination),
        "time_s": time.perf_counter() - start,
        "verified": True,
        "schedule": schedule.gather.method,
        "schedule_algbw_gb_s": verdict.algbw_gb_s,
        "model": verdict.model,
        "optimal": verdict.optimal,
        "distinct_trees": sum(len(phase.root) for phase in schedule.phases),
    }
    if output is not None:
        write_schedule(schedule, output)
        facts["file"] = output
    typer.echo(as_json(facts) if json_ else as_text(_for_people(facts)))


def _best(found: AllreduceOptimum, combination: Allreduce[Forest]) -> Allreduce[Forest]:
    """Return reduce-scatter + allgather if it attains the program's bound, else a better schedule.

    The lower of both bounds goes with it.
    """
    from forestcoll.allreduce.rounding import allreduce_forest

    made = [combination]
    if found.exact is None or combination.algbw_gb_s < found.exact.algbw_gb_s:
        made.append(allreduce_forest(found))
    best = min(made, key=lambda schedule: schedule.time_s_per_gb)
    bounds = [bound for bound in (found.exact, combination.bound) if bound is not None]
    return replace(best, bound=min(bounds, key=lambda bound: bound.algbw_gb_s))


def _facts(found: AllreduceOptimum, combination: Allreduce[Forest]) -> dict[str, Any]:
    """Compare the program's value with the combination."""
    topology = found.topology
    return {
        "topology": topology.name,
        "gpus": topology.num_compute,
        "allreduce_algbw_gb_s": found.algbw_gb_s,
        "at_most_gb_s": found.bound_gb_s if found.exact is None else found.exact.algbw_gb_s,
        "reduce_scatter_and_allgather_gb_s": combination.algbw_gb_s,
        "reduce_scatter_and_allgather_is_optimal": found.is_attained_by(combination.algbw_gb_s),
        "one_after_the_other_gb_s": 1 / combination.sequential_s_per_gb,
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
    }


def _cut(found: AllreduceOptimum, cut: BindingCut) -> dict[str, Any]:
    """Name the smaller side of a cut and which way the data must cross it."""
    from forestcoll.topology.describe import nodes_in_words

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
    """Omit long fields, and print rates with their significant digits."""
    cuts = [f"{cut['in_words']}, price {cut['price']:.4g}" for cut in facts["binding_cuts"]]
    hidden = len(cuts) - _SHOWN_CUTS
    if hidden > 0:
        cuts[_SHOWN_CUTS:] = [f"and {hidden} more"]
    parts = facts["parts_gb_s"].values()
    shown = {**facts, "binding_cuts": [[cut] for cut in cuts], "parts_gb_s": None}
    for key in ("allreduce_algbw_gb_s", "at_most_gb_s"):
        if isinstance(facts[key], float):
            shown[key] = f"{facts[key]:.9g}"
    shown["roots"] = sum(part > facts["tolerance"] * facts["at_most_gb_s"] for part in parts)
    shown["tolerance"] = f"{facts['tolerance']:g}"
    return shown
