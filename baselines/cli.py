"""The commands ``forestcoll baselines list``, ``run``, ``tenants`` and ``allreduce``."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from baselines.allreduce_cli import compare_allreduces
from baselines.interface.forwarding_gpus import forwarding_gpus
from baselines.interface.method import Method, Schedule
from baselines.interface.own_function import is_reference, own_method
from baselines.interface.parameters import setting
from baselines.interface.schedule_asked_for import check_asked_for
from baselines.interface.search import Search
from baselines.registry import METHODS
from baselines.tenants_cli import share_network
from forestcoll.cli.changed import NewLinks, Scale, Without, changed_network
from forestcoll.cli.demands import DemandText
from forestcoll.cli.facts import as_json, as_text, bound_facts
from forestcoll.cli.options import Json, Spec
from forestcoll.cli.output import SCHEDULES, expect_writable
from forestcoll.errors import UnknownMethodError, did_you_mean
from forestcoll.problem.limits import MOST_SECONDS, MOST_THREADS, Limits
from forestcoll.runtimes.scoring.file_bounds import bound_of_schedule
from forestcoll.schedule import (
    Allreduce,
    FlowSchedule,
    StepSchedule,
    cost,
    makespan_s_per_gb,
    synchronous,
    verify,
    write_schedule,
)

__all__ = ["app"]

app = typer.Typer(help="List the baselines and run one.", no_args_is_help=True)
app.command("tenants")(share_network)
app.command("allreduce")(compare_allreduces)


@app.command("list")
def list_methods(json_: Json = False) -> None:
    """List the baselines: collectives, sources, and differences from the source."""
    if json_:
        fields = ("name", "summary", "source", "collectives", "parameters", "notes")
        typer.echo(as_json([{f: getattr(m, f) for f in fields} for m in METHODS.values()]))
        return
    for method in METHODS.values():
        typer.echo(f"{method.name}: {method.summary}")
        for label, text in (
            ("collectives", ", ".join(method.collectives)),
            ("parameters", ", ".join(method.parameters)),
            ("source", method.source),
            ("differences", method.notes),
        ):
            if text:
                typer.echo(f"  {label:12} {text}")


@app.command("run")
def run_method(
    name: Annotated[
        str,
        typer.Argument(
            metavar="METHOD", help="A name from `baselines list`, or your own module:function."
        ),
    ],
    spec: Spec,
    collective: Annotated[
        str | None, typer.Option("--collective", help="Default: the method's first.")
    ] = None,
    demand: DemandText = None,
    without: Without = None,
    scale: Scale = None,
    links: NewLinks = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A parameter of the method; repeatable."),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(min=0, max=MOST_SECONDS, help="Seconds for a method that searches."),
    ] = None,
    threads: Annotated[
        int, typer.Option(min=1, max=MOST_THREADS, help="Threads of a method that searches.")
    ] = 1,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write it as .json or .npz."),
    ] = None,
    json_: Json = False,
) -> None:
    """Generate a baseline's schedule, verify it, and print its costs."""
    method = _method(name)
    if output is not None:
        expect_writable(output, SCHEDULES)
    parameters = dict(map(setting, settings or ()))
    if demand is not None:
        parameters["demand"] = demand
    topology = changed_network(spec, without, scale, links)
    began = time.perf_counter()
    limits = Limits(seconds=seconds, threads=threads)
    searches: dict[str, Search] = {}
    schedule = method.run(
        topology, collective, parameters, limits, lambda one: searches.update({one.stage: one})
    )
    elapsed = time.perf_counter() - began
    check_asked_for(schedule, topology, collective)
    verdict = verify(schedule)
    if output is not None:
        write_schedule(schedule, output)
    found, finish = cost(schedule), makespan_s_per_gb(schedule)
    facts = {
        "topology": topology.name,
        "method": name,
        "collective": schedule.collective,
        **_size(schedule),
        **_demand(schedule),
        "time_s_per_gb": found.time_s_per_gb,
        "algbw_gb_s": found.algbw_gb_s,
        "algbw_synchronous_gb_s": synchronous(schedule).algbw_gb_s,
        "algbw_makespan_gb_s": None if finish is None else 1 / finish,
        "busiest_link": " -> ".join(found.busiest_link),
        "verified": True,
        **_compared(schedule, verdict),
        "differences": method.notes or None,
        "searches": searches or None,
        "generation_s": elapsed,
        "file": output,
    }
    typer.echo(as_json(facts) if json_ else as_text(facts))


def _method(name: str) -> Method:
    if is_reference(name):
        return own_method(name)
    if name not in METHODS:
        hint = did_you_mean(name, METHODS, f"known: {', '.join(METHODS)}")
        raise UnknownMethodError(f"there is no method {name!r}; {hint}, or a module:function")
    return METHODS[name]


def _demand(schedule: Schedule) -> dict[str, object]:
    """Return the facts of a demand: its bytes, and the GPUs outside of it that forward."""
    if not isinstance(schedule, StepSchedule) or schedule.demand is None:
        return {}
    forward = forwarding_gpus(schedule)
    return {
        "demand": schedule.demand.name,
        "bytes": schedule.demand.bytes,
        "makespan_us": None if schedule.clock is None else schedule.clock.finish_us,
        "forwarding_outside": ", ".join(forward) or "no GPU",
    }


def _compared(schedule: Schedule, verdict: Any) -> dict[str, Any]:
    """Return the proved bound of the schedule itself, or else one of its network."""
    if getattr(verdict, "model", None) is None:
        return bound_facts(bound_of_schedule(schedule), verdict.algbw_gb_s)
    return {"model": verdict.model, "optimal": verdict.optimal}


def _size(schedule: Schedule) -> dict[str, int]:
    if isinstance(schedule, StepSchedule):
        return {"chunks": len(schedule.chunks), "steps": schedule.num_steps}
    if isinstance(schedule, FlowSchedule):
        return {"paths": len(schedule.routes.multiplicity)}
    phases = schedule.phases if isinstance(schedule, Allreduce) else (schedule,)
    return {"trees": sum(phase.num_trees for phase in phases)}
