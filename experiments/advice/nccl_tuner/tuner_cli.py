"""The command ``forestcoll nccl-tuner``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forestcoll.cli.changed import NewLinks, Scale, Without, changed_network
from forestcoll.cli.options import Json, Spec, sizes_of

if TYPE_CHECKING:
    from experiments.advice.nccl_tuner.tuner_table import Choice, Table
    from forestcoll.runtimes.scoring.threadblock_rates import MachineRate
    from forestcoll.topology.model import Topology

__all__ = ["write_tuner_file"]

_SIZES = "1KB..4GB"


def write_tuner_file(
    spec: Spec,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The file for the plugin, .csv.")
    ],
    collectives: Annotated[
        list[str] | None,
        typer.Option(
            "--collective", metavar="NAME", help="Repeatable; all that the tuner knows by default."
        ),
    ] = None,
    sizes: Annotated[
        str, typer.Option("--sizes", help="Data sizes: 1MB,64MB or 1KB..1GB; 1MB is 2^20 bytes.")
    ] = _SIZES,
    machine: Annotated[
        str | None,
        typer.Option("--machine", help="v100, a100, h100 or b200; of the topology if not given."),
    ] = None,
    protocols: Annotated[
        list[str] | None,
        typer.Option(
            "--protocol", metavar="NAME", help="ll, ll128 or simple; repeatable; all by default."
        ),
    ] = None,
    without: Without = None,
    scale: Scale = None,
    links: NewLinks = None,
    json_: Json = False,
) -> None:
    """Choose NCCL's algorithm, protocol and channels at each size, for its tuner plugin."""
    from experiments.advice.nccl_tuner.nccl_costs import COLLECTIVES
    from experiments.advice.nccl_tuner.tuner_file import tuner_text
    from experiments.advice.nccl_tuner.tuner_table import lines_of, table
    from forestcoll.atomic_write import write_text
    from forestcoll.cli.facts import as_json
    from forestcoll.cli.output import expect_writable, progress_bars

    expect_writable(output)
    asked = sizes_of(sizes, "--sizes")
    allowed = _protocols(protocols)
    topology = changed_network(spec, without, scale, links)
    rate = _machine(topology, machine)
    names = list(dict.fromkeys(collectives or COLLECTIVES))
    with progress_bars() as progress:
        found = [table(topology, name, asked, rate, allowed, progress) for name in names]
    lines = [line for one in found for line in lines_of(one, topology)]
    head = (
        "For NCCL's example tuner plugin, by forestcoll nccl-tuner from a simulation",
        f"{topology.name}, with the channels of {rate.machine}",
    )
    write_text(output, tuner_text(lines, head))
    facts = {
        "topology": topology.name,
        "machine": rate.machine,
        "file": output,
        "collectives": [_facts(one) for one in found],
    }
    typer.echo(as_json(facts) if json_ else "\n".join(_lines(topology, found, output)))


def _protocols(asked: list[str] | None) -> tuple[str, ...]:
    from experiments.advice.nccl_tuner.nccl_costs import PROTOCOLS
    from forestcoll.errors import InvalidParameterError

    for name in asked or ():
        if name not in PROTOCOLS:
            raise InvalidParameterError(
                f"--protocol is {name!r}; it must be one of {', '.join(PROTOCOLS)}"
            )
    return tuple(asked or PROTOCOLS)


def _machine(topology: Topology, name: str | None) -> MachineRate:
    from experiments.advice.nccl_tuner.built_in import MACHINES
    from forestcoll.errors import InvalidParameterError
    from forestcoll.runtimes.scoring.threadblock_rates import machine_of, machine_rate

    found = machine_of(topology) if name is None else machine_rate(name)
    if found is None:
        raise InvalidParameterError(
            f"the machine of {topology.name} is unknown, and with it the rate of a channel; give "
            f"--machine, one of {', '.join(MACHINES)}"
        )
    return found


def _facts(found: Table) -> dict[str, Any]:
    return {
        "collective": found.collective,
        "optimum_gb_s": None if found.bound is None else found.bound.algbw_gb_s,
        "sizes": [
            {
                "size_bytes": one.size_bytes,
                "algorithm": one.algorithm,
                "protocol": one.protocol,
                "channels": one.channels,
                "time_us": one.time_s * 1e6,
                "algbw_gb_s": one.algbw_gb_s,
                "share_of_optimum": one.share,
            }
            for one in found.choices
        ],
        "left_out": list(found.left_out),
    }


def _lines(topology: Topology, found: list[Table], output: Path) -> list[str]:
    lines = [f"{topology.name}, {topology.num_compute} GPUs: NCCL's algorithms in simulation"]
    for one in found:
        rate = "no rate is proved" if one.bound is None else f"at most {_rate(one)} GB/s"
        head = f"{'size':>10} {'us':>11} {'algbw':>9} {'of bound':>9} {'channels':>9}  fastest"
        lines += ["", f"{one.collective}, {rate}", head, *map(_row, one.choices)]
        lines += [f"  left out: {note}" for note in one.left_out]
    return [*lines, "", f"{output}: set NCCL_TUNER_CONFIG_FILE to it"]


def _rate(found: Table) -> str:
    from forestcoll.topology.describe import decimal

    assert found.bound is not None
    return str(decimal(found.bound.algbw_gb_s))


def _row(one: Choice) -> str:
    from forestcoll.problem.sizes import size_text

    share = "" if one.share is None else f"{100 * one.share:.1f} %"
    return (
        f"{size_text(one.size_bytes):>10} {one.time_s * 1e6:>11.6g} {one.algbw_gb_s:>9.4g} "
        f"{share:>9} {one.channels:>9}  {one.algorithm}/{one.protocol}"
    )
