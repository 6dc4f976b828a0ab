"""``forestcoll topology``: commands that list, show, export and draw networks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forestcoll.cli.changed import NewLinks, Scale, Without, changed_network
from forestcoll.cli.facts import as_json
from forestcoll.cli.options import Json, Output, Spec
from forestcoll.cli.output import expect_drawable, expect_writable, report
from forestcoll.cli.shell import EPILOG
from forestcoll.errors import InvalidTopologyError, did_you_mean
from forestcoll.topology import FAMILIES, Family, validate
from forestcoll.topology.describe import link_classes, shared_in_words

if TYPE_CHECKING:
    from forestcoll.topology.families.family import Parameter

__all__ = ["app"]

app = typer.Typer(help="List, show, export and draw networks.", epilog=EPILOG, no_args_is_help=True)


@app.command("list")
def list_families(
    name: Annotated[
        str | None, typer.Argument(metavar="FAMILY", help="List only this family.")
    ] = None,
    json_: Json = False,
) -> None:
    """List the families of topologies and their parameters, or those of one."""
    shown = list(FAMILIES.values()) if name is None else [_family(name)]
    if json_:
        typer.echo(as_json([_family_document(family) for family in shown]))
        return
    for family in shown:
        typer.echo(f"{family.usage}\n  {family.summary}")
        typer.echo(_as_columns(_parameter_row(parameter) for parameter in family.parameters))


def _family(name: str) -> Family:
    """Find a family by its name, or by a specification of it."""
    word = name.partition(":")[0]
    if word in FAMILIES:
        return FAMILIES[word]
    hint = did_you_mean(word, FAMILIES, f"they are {', '.join(FAMILIES)}")
    raise InvalidTopologyError(f"{word!r} is not a family of topologies; {hint}")


@app.command()
def show(
    spec: Spec,
    without: Without = None,
    scale: Scale = None,
    links: NewLinks = None,
    json_: Json = False,
) -> None:
    """Check a network and print its nodes, links and limits in brief."""
    topology = changed_network(spec, without, scale, links)
    validate(topology)
    into_gpus = [topology.ingress_gb_s[v] for v in topology.compute]
    facts = {
        "topology": topology.name,
        "gpus": topology.num_compute,
        "boxes": len({node.box for node in topology.nodes if node.box is not None}),
        "switches": len(topology.switches),
        "links": len(topology.links),
        "least_gpu_ingress_gb_s": min(into_gpus),
        "greatest_gpu_ingress_gb_s": max(into_gpus),
        "link_classes": link_classes(topology, topology.links),
        "shared_capacities": shared_in_words(topology),
    }
    report(facts, json_)


@app.command()
def export(
    spec: Spec,
    output: Output,
    without: Without = None,
    scale: Scale = None,
    links: NewLinks = None,
    format_: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="NAME",
            help="yaml, json, graphml, dot, nccl, astra-sim, rankfile or env; by default that of "
            "the file's ending.",
        ),
    ] = None,
    gpu: Annotated[
        str | None, typer.Option("--gpu", metavar="KIND", help="Kind of GPUs, for nccl: sm_90.")
    ] = None,
    rates: Annotated[
        str | None,
        typer.Option("--rates", metavar="TABLE", help="Rates of counted links, for nccl."),
    ] = None,
    json_: Json = False,
) -> None:
    """Write a network to a file: .yaml, .json, .graphml, .dot, .xml (NCCL) and others."""
    from forestcoll.topology.exporters.file_exports import (  # loads all formats
        export_format,
        export_topology,
    )
    from forestcoll.topology.importers.link_rates import rate_table
    from forestcoll.topology.importers.machines.gpu_models import gpu_kind
    from forestcoll.topology.importers.supplied import Supplied

    named = export_format(output, format_)
    expect_writable(output)
    supplied = Supplied(
        rates=None if rates is None else rate_table(rates),
        gpu=None if gpu is None else gpu_kind(gpu),
    )
    topology = changed_network(spec, without, scale, links)
    export_topology(topology, output, named, supplied)
    report({"topology": topology.name, "file": output}, json_)


@app.command("draw")
def draw_network(
    spec: Spec,
    output: Output,
    cut: Annotated[bool, typer.Option("--cut", help="Colour the bottleneck cut.")] = False,
    without: Without = None,
    scale: Scale = None,
    links: NewLinks = None,
    json_: Json = False,
) -> None:
    """Draw a network, as .png, .pdf or .svg."""
    from forestcoll.core.optimality import optimum
    from forestcoll.draw import draw_topology, save_figure  # loads matplotlib

    expect_drawable(output)
    topology = changed_network(spec, without, scale, links)
    best = optimum(topology) if cut else None
    bottleneck = None if best is None else best.bottleneck
    save_figure(draw_topology(topology, bottleneck), output)
    several = None if best is None or best.prices is None else best.what_binds()
    facts = {"cut": bottleneck, "of_what_binds_together": several, "file": output}
    report({"topology": topology.name, **facts}, json_)


def _parameter_row(parameter: Parameter) -> tuple[str, str, str]:
    default = "" if parameter.required else f"={parameter.default_text}"
    return "   ", f"{parameter.name}{default}", f"{parameter.help}; {parameter.type}"


def _as_columns(rows: Iterable[Sequence[str]]) -> str:
    """Align columns within the width of the terminal and wrap the last one."""
    from rich.console import Console  # takes as long to load as a network to show
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 1))
    for row in rows:
        table.add_row(*map(Text, row))
    console = Console()
    with console.capture() as lines:  # written by typer, which knows how a pipe breaks
        console.print(table)
    return "\n".join(line.rstrip() for line in lines.get().splitlines())


def _family_document(family: Family) -> dict[str, Any]:
    parameters = [
        {
            "name": parameter.name,
            "help": parameter.help,
            "type": parameter.type,
            "required": parameter.required,
            "default": None if parameter.required else parameter.default_text,
        }
        for parameter in family.parameters
    ]
    return {"name": family.name, "summary": family.summary, "parameters": parameters}
