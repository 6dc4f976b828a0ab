"""``forestcoll topology import`` and ``rates``: networks from the files of real clusters."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from forestcoll.cli.facts import as_json
from forestcoll.cli.options import Json, Output, rate_of
from forestcoll.cli.output import expect_writable, report
from forestcoll.errors import InvalidParameterError
from forestcoll.topology.describe import decimal
from forestcoll.topology.numbers import exact_text

# The commands import what they work with: their help needs none of it.
if TYPE_CHECKING:
    from forestcoll.topology.importers.link_rates import LinkRate

__all__ = ["import_network", "show_rates"]

_NAMED = re.compile(r"([A-Za-z0-9][A-Za-z0-9_.-]{0,63})=(.+)")
_MOST_MACHINES = 10_000

_NO_USE = {
    "--gpu": "no file lacks the kind of its GPUs",
    "--nic-speed": "no file lacks the speeds of its NICs",
    "--nics": "there is no network between machines to choose NICs for",
    "--uplink": "no file has a tree of switches without bandwidths",
}
"""Why options are not used that files might have asked for."""

Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE...",
        help="Dumps of machines, in the order of their ranks, and files of the fabric; NAME=FILE "
        "names a machine.",
    ),
]
FabricFile = Annotated[
    Path | None,
    typer.Option("--network", metavar="FILE", help="A file of the fabric, or a description."),
]
FabricWords = Annotated[
    str | None,
    typer.Option(
        "--fabric", metavar="WORDS", help="The fabric in words: rails, leaf-spine:leaves=4,..."
    ),
]
Rates = Annotated[
    str | None,
    typer.Option(
        "--rates",
        metavar="TABLE",
        help="Bandwidth of counted links: nominal, runtime, or a file of rates; several with "
        "commas, of which each overrides those before: nominal,mine.yaml.",
    ),
]
Nics = Annotated[
    str, typer.Option("--nics", metavar="PATTERN", help="NICs to use, such as 'mlx5_[0-7]'.")
]
GpuKind = Annotated[
    str | None,
    typer.Option(
        "--gpu", metavar="KIND", help="Kind of all GPUs: sm_90, gfx942, or a model: H100."
    ),
]
Name = Annotated[
    str | None,
    typer.Option(
        "--name",
        help="Name of the network; that of the output file without its ending, or its own.",
    ),
]
NicSpeed = Annotated[
    str | None,
    typer.Option("--nic-speed", metavar="RATE", help="Bandwidth of each NIC, such as '400 Gb/s'."),
]
Uplink = Annotated[
    str | None,
    typer.Option(
        "--uplink",
        metavar="RATE",
        help="Bandwidth from each switch to the one above, for files without bandwidths.",
    ),
]
Machines = Annotated[
    int,
    typer.Option(
        "--machines",
        min=1,
        max=_MOST_MACHINES,
        help="Machines that the one dump stands for, if they are equal.",
    ),
]


def import_network(
    files: Files,
    output: Output,
    network: FabricFile = None,
    fabric: FabricWords = None,
    rates: Rates = None,
    nics: Nics = "*",
    gpu: GpuKind = None,
    nic_speed: NicSpeed = None,
    uplink: Uplink = None,
    machines: Machines = 1,
    name: Name = None,
    json_: Json = False,
) -> None:
    """Join dumps of machines and a fabric to a network, and write its file."""
    from forestcoll.topology import validate, write_topology
    from forestcoll.topology.importers.import_files import import_files
    from forestcoll.topology.importers.link_rates import rate_table
    from forestcoll.topology.importers.machines.gpu_models import gpu_kind
    from forestcoll.topology.importers.supplied import Supplied

    if network is not None and fabric is not None:
        raise InvalidParameterError("--network and --fabric both give the fabric; drop one")
    expect_writable(output)
    found = import_files(
        [_named(text) for text in files],
        network if network is not None else fabric,
        None if rates is None else rate_table(rates),
        nics,
        machines,
        Supplied(
            gpu=None if gpu is None else gpu_kind(gpu),
            nic_gb_s=rate_of("--nic-speed", nic_speed),
            uplink_gb_s=rate_of("--uplink", uplink),
        ),
        name or output.stem,
    )
    for option in found.unused:
        typer.echo(f"note: {option} has no effect: {_NO_USE[option]}", err=True)
    topology = found.topology
    if name is not None:  # a whole network has a name of its own
        topology = topology.of_columns(name, topology.nodes, topology.columns, topology.shared)
    validate(topology)
    write_topology(topology, output)
    facts = {
        "topology": topology.name,
        "gpus": topology.num_compute,
        "boxes": len({node.box for node in topology.nodes if node.box is not None}),
        "switches": len(topology.switches),
        "links": len(topology.links),
        "rates": rates,
        "notes": [*found.notes, *_units("--nic-speed", nic_speed), *_units("--uplink", uplink)],
        "file": output,
    }
    report(facts, json_)


def _units(option: str, text: str | None) -> list[str]:
    """Return a note on a number without a unit, since NICs are sold by their bits."""
    rate = rate_of(option, text)
    if rate is None or text is None or not text.strip()[-1].isdigit():
        return []
    return [
        f"{option} {text} counts as {decimal(rate)} GB/s, which are {decimal(8 * rate)} Gb/s; "
        f"write {text} Gb/s for bits."
    ]


def _named(text: str) -> tuple[str | None, Path]:
    """Split NAME=FILE; a path that exists is no name."""
    match = _NAMED.fullmatch(text)
    if match and not Path(text).exists():
        return match[1], Path(match[2])
    return None, Path(text)


def show_rates(json_: Json = False) -> None:
    """Print the rates of NVLinks, xGMI and PCIe in imports, and of threadblocks, with sources."""
    from forestcoll.topology.importers.link_rates import RATES

    rates = (*RATES.values(), *_threadblock_rates())
    if json_:
        typer.echo(
            as_json(
                [
                    {
                        "link": rate.link,
                        "per": rate.per,
                        "nominal_gb_s": _number(rate.nominal),
                        "nominal_source": rate.nominal_source,
                        "runtime_gb_s": _number(rate.runtime),
                        "runtime_source": rate.runtime_source,
                    }
                    for rate in rates
                ]
            )
        )
        return
    for rate in rates:
        typer.echo(f"{rate.link} (GB/s a {rate.per}, per direction)")
        for name, value, source in (
            ("nominal", rate.nominal, rate.nominal_source),
            ("runtime", rate.runtime, rate.runtime_source),
        ):
            typer.echo(f"  {name}  {_number(value) or 'none'}: {source}")


def _number(gb_s: Fraction | None) -> str | None:
    return None if gb_s is None else exact_text(gb_s)


def _threadblock_rates() -> list[LinkRate]:
    """Return the rates of threadblocks in the form of link rates; vendors print none."""
    from forestcoll.runtimes.scoring.threadblock_rates import THREADBLOCK_RATES
    from forestcoll.topology.importers.link_rates import LinkRate

    return [
        LinkRate(f"threadblock.{one.machine}", "threadblock", None, "no data sheet has one",
                 one.simple.value, f"{one.simple.source} ({one.simple.confidence})")
        for one in THREADBLOCK_RATES.values()
    ]  # fmt: skip
