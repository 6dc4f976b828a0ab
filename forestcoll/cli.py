"""The command line: parse, one library call, write.

Exit codes: 0 done, 1 a check failed, 2 bad input or an unwritable file, 3 a limit was reached or
the problem is infeasible, 130 interrupted. Other packages add commands through the entry-point
group ``forestcoll.commands``; each entry names a function that typer can register, or a
``typer.Typer`` with subcommands.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from enum import StrEnum
from functools import cache
from importlib.metadata import EntryPoint, PackageNotFoundError, entry_points, version
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text
from typer.core import TyperGroup

from forestcoll.best_k import best_k
from forestcoll.certificate import certify
from forestcoll.demand import Weights, read_weights, weights_for
from forestcoll.describe import link_classes
from forestcoll.errors import (
    ExportError,
    ForestCollError,
    InvalidParameterError,
    UnsupportedError,
)
from forestcoll.expansion import expand
from forestcoll.fixed_k import FixedK, fixed_k
from forestcoll.generate import Options, generate_factored_timed, generate_timed
from forestcoll.generate import Progress as StageProgress
from forestcoll.latency import latency
from forestcoll.multicast import Traffic, multicast, traffic
from forestcoll.optimality import optimum
from forestcoll.report import as_json, as_text
from forestcoll.schedule import (
    Allreduce,
    AllreduceVerdict,
    FactoredForest,
    Forest,
    MulticastForest,
    is_certificate,
    read_certificate,
    read_schedule,
    verify,
    verify_certificate,
    write_certificate,
    write_schedule,
)
from forestcoll.schedule.collectives import AnyForest, AnySchedule
from forestcoll.topology import (
    FAMILIES,
    Family,
    Topology,
    group,
    load_topology,
    members_from_text,
    validate,
    write_topology,
)
from forestcoll.topology.registry import Parameter
from forestcoll.topology.validate import COLLECTIVES

__all__ = ["app", "main"]

_EPILOG = "TOPOLOGY is a family, such as dgx_a100:boxes=4 or torus:dims=4x4, or a file."


class _Commands(TyperGroup):
    """The core commands and those of the entry points; errors become one line and a code.

    typer carries its own click or shares the installed one, depending on its version, so click's
    classes are not named here.
    """

    def list_commands(self, ctx: Any) -> list[str]:
        return [*super().list_commands(ctx), *_plugins()]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        command = super().get_command(ctx, cmd_name)
        if command is None and cmd_name in _plugins():
            command = _as_command(cmd_name, _plugins()[cmd_name].load())
        return command

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except ForestCollError as error:
            raise _failed(str(error), error.exit_code) from None
        except KeyboardInterrupt:
            raise _failed("interrupted", 130) from None
        except MemoryError:
            raise _failed(
                "out of memory; it takes a smaller network or a larger machine", 3
            ) from None
        except BrokenPipeError:
            _discard_output()
            raise typer.Exit(0) from None
        except OSError as error:
            if error.filename is None:
                _discard_output()
            where = f"{error.filename}: " if error.filename else ""
            raise _failed(f"{where}{error.strerror or error}", 2) from None


def _discard_output() -> None:
    """Send what stdout still buffers nowhere, lest Python complain at its exit."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError:
        return


@cache
def _plugins() -> dict[str, EntryPoint]:
    """Return the commands of other packages, loaded only when they are asked for."""
    return {entry.name: entry for entry in entry_points(group="forestcoll.commands")}


def _as_command(name: str, plugin: Any) -> Any:
    """Turn a function into a command, or a typer.Typer into a group of commands."""
    holder = typer.Typer(add_completion=False)
    if isinstance(plugin, typer.Typer):
        holder.add_typer(plugin, name=name)
        return typer.main.get_group(holder).commands[name]
    holder.command(name=name)(plugin)
    return typer.main.get_command(holder)


def _failed(message: str, exit_code: int) -> typer.Exit:
    typer.echo(f"error: {' '.join(message.split())}", err=True)
    return typer.Exit(exit_code)


app = typer.Typer(
    cls=_Commands,
    help="Provably throughput-optimal collective communication on any GPU network.",
    epilog=_EPILOG,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
topology_app = typer.Typer(
    help="List, show, export and draw networks.", epilog=_EPILOG, no_args_is_help=True
)
app.add_typer(topology_app, name="topology")

Spec = Annotated[str, typer.Argument(metavar="TOPOLOGY", help="A family or a topology file.")]
ScheduleFile = Annotated[Path, typer.Argument(metavar="FILE", help="A schedule file.")]
Json = Annotated[bool, typer.Option("--json", help="Write one JSON document to stdout.")]
Trees = Annotated[
    int | None,
    typer.Option("--k", help="Trees per GPU; as many as the optimum needs if not given."),
]
Output = Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Where to write.")]


CollectiveName = Annotated[
    str, typer.Option("--collective", help=f"One of {', '.join(COLLECTIVES)}.")
]
Root = Annotated[
    str | None,
    typer.Option("--root", metavar="GPU", help="Of a broadcast, reduce or allreduce; or its rank."),
]
WeightsFile = Annotated[
    Path | None,
    typer.Option(
        "--weights", metavar="FILE", help="How much data each GPU has: a list or GPU: number."
    ),
]
Group = Annotated[
    str | None,
    typer.Option(
        "--group",
        metavar="GPUS",
        help="Who takes part (the others forward): names, or BOXES/INDICES like 0-15/* or */0.",
    ),
]


class Phase(StrEnum):
    """Of an allreduce."""

    REDUCE = "reduce"
    GATHER = "gather"


def _print_version(wanted: bool) -> None:
    if wanted:
        try:
            typer.echo(f"forestcoll {version('forestcoll')}")
        except PackageNotFoundError:
            typer.echo("forestcoll, run from its sources without installation")
        raise typer.Exit


@app.callback()
def _options(
    _: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Provably throughput-optimal collective communication on any GPU network."""


@topology_app.command("list")
def list_families(json_: Json = False) -> None:
    """List the families of topologies and their parameters."""
    if json_:
        typer.echo(as_json([_family_document(family) for family in FAMILIES.values()]))
        return
    for family in FAMILIES.values():
        typer.echo(f"{family.usage}\n  {family.summary}")
        typer.echo(_as_columns(_parameter_row(parameter) for parameter in family.parameters))


@topology_app.command()
def show(spec: Spec, json_: Json = False) -> None:
    """Check a network and print what it is made of."""
    topology = load_topology(spec)
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
    }
    _report(facts, json_)


@topology_app.command()
def export(spec: Spec, output: Output, json_: Json = False) -> None:
    """Write a network to a file, .yaml or .json."""
    topology = load_topology(spec)
    write_topology(topology, output)
    _report({"topology": topology.name, "file": output}, json_)


@topology_app.command("draw")
def draw_network(
    spec: Spec,
    output: Output,
    cut: Annotated[bool, typer.Option("--cut", help="Colour the bottleneck cut.")] = False,
    json_: Json = False,
) -> None:
    """Draw a network, as .png, .pdf or .svg."""
    from forestcoll.draw import check_format, draw_topology, save_figure  # loads matplotlib

    check_format(output)
    _expect_writable(output)
    topology = load_topology(spec)
    bottleneck = optimum(topology).bottleneck if cut else None
    save_figure(draw_topology(topology, bottleneck), output)
    _report({"topology": topology.name, "cut": bottleneck, "file": output}, json_)


@app.command("optimum")
def show_optimum(
    spec: Spec,
    collective: CollectiveName = "allgather",
    root: Root = None,
    weights: WeightsFile = None,
    members: Group = None,
    k: Trees = None,
    json_: Json = False,
) -> None:
    """Find the throughput optimum of a network and the bottleneck cut that proves it."""
    topology = _network(spec, members)
    if collective == "allreduce":
        raise UnsupportedError(
            "an allreduce has two optima: ask for those of reduce-scatter and of allgather"
        )
    whole = weights_for(topology, collective, root=_root(topology, root), weights=_read(weights))
    reduction = collective in ("reduce-scatter", "reduce")
    if k is not None:
        _report(_best_with(fixed_k(topology, k, weights=whole, reduction=reduction)), json_)
        return
    best = optimum(topology, weights=whole, reduction=reduction)
    facts = {
        "topology": best.topology.name,
        "collective": best.collective,
        "gpus": best.topology.num_compute,
        "inverse_rate": best.inverse_rate,
        "algbw_gb_s": best.algbw_gb_s,
        "time_s_per_gb": best.time_s_per_gb,
        "k": best.k,
        "bottleneck_cut": best.bottleneck,
    }
    _report(facts, json_)


def _best_with(found: FixedK) -> dict[str, Any]:
    """Return what is known of the best with a fixed number of trees per GPU."""
    return {
        "topology": found.optimum.topology.name,
        "collective": found.optimum.collective,
        "gpus": found.optimum.topology.num_compute,
        "k": found.k,
        "congestion": found.congestion,
        "algbw_gb_s": found.algbw_gb_s,
        "time_s_per_gb": found.time_s_per_gb,
        "exact": found.exact,
        "greatest_possible_algbw_gb_s": None if found.exact else found.bound_algbw_gb_s,
        "any_k_algbw_gb_s": found.optimum.algbw_gb_s,
        "limiting_cut": found.witness,
        "trees_lacking_below": found.certificate(),
    }


@app.command("generate")
def generate_schedule(
    spec: Spec,
    output: Output,
    collective: CollectiveName = "allgather",
    root: Root = None,
    weights: WeightsFile = None,
    members: Group = None,
    k: Trees = None,
    max_k: Annotated[
        int | None,
        typer.Option(
            "--best-k", metavar="MAX", help="The fastest number of trees per GPU up to this one."
        ),
    ] = None,
    low: Annotated[
        bool, typer.Option("--low", help="With --best-k: of the fastest numbers the lowest trees.")
    ] = False,
    method: Annotated[
        str,
        typer.Option("--method", help="forestcoll, or paper: its own, slow algorithms."),
    ] = "forestcoll",
    check: Annotated[
        bool, typer.Option("--verify/--no-verify", help="Prove the schedule before writing it.")
    ] = True,
    factored: Annotated[
        bool, typer.Option("--factored", help="Do not write the trees out (.npz only).")
    ] = False,
    in_network: Annotated[
        bool, typer.Option("--multicast", help="Let switches marked multicast copy and add.")
    ] = False,
    json_: Json = False,
) -> None:
    """Generate an optimal schedule, verify it and write it to a file, .json or .npz."""
    _expect_writable(output)
    if factored and output.suffix.lower() != ".npz":
        raise ExportError(f"{output}: --factored needs a name that ends in .npz")
    if factored and in_network:
        raise InvalidParameterError("--multicast writes physical trees out; leave --factored away")
    if k is not None and max_k is not None:
        raise InvalidParameterError("--k and --best-k exclude each other; give one of them")
    if low and max_k is None:
        raise InvalidParameterError("--low chooses among numbers of trees; give --best-k too")
    topology = _network(spec, members)
    options: Options = {"root": _root(topology, root), "weights": _read(weights), "method": method}
    tried = None if max_k is None else best_k(topology, max_k, collective=collective, **options)
    if tried is not None:
        k = tried.lowest.k if low else tried.fastest.k
    options["k"] = k
    with _progress_bars() as progress:
        options["progress"] = progress
        made, seconds = (generate_factored_timed if factored else generate_timed)(
            topology, collective=collective, **options
        )
    schedule, saved = _in_network(made) if in_network else (made, {})
    verdict = verify(schedule) if check else None
    write_schedule(schedule, output)
    facts = {
        "topology": topology.name,
        "collective": schedule.collective,
        "tried": None if tried is None else [asdict(choice) for choice in tried.choices],
        **_tree_facts(schedule),
        "algbw_gb_s": schedule.algbw_gb_s if schedule.time_s_per_gb else None,
        "verified": verdict is not None,
        "optimal": None if verdict is None else verdict.optimal,
        **saved,
        "stages_s": seconds,
        "file": output,
    }
    _report(facts, json_)


def _in_network(schedule: AnySchedule) -> tuple[AnySchedule, dict[str, tuple[Traffic, ...]]]:
    """Let switches copy and add; return what comes of it, and the traffic that it saves."""
    if isinstance(schedule, Forest):
        single = multicast(schedule)
        return single, {"traffic": traffic(schedule, single)}
    assert isinstance(schedule, Allreduce)
    reduce, gather = schedule.phases
    assert isinstance(reduce, Forest)
    assert isinstance(gather, Forest)
    both = multicast(Allreduce(reduce, gather))
    return both, {
        "traffic_of_reduce": traffic(reduce, both.reduce),
        "traffic_of_gather": traffic(gather, both.gather),
    }


def _network(spec: str, members: str | None) -> Topology:
    topology = load_topology(spec)
    return topology if members is None else group(topology, members_from_text(topology, members))


def _root(topology: Topology, text: str | None) -> str | int | None:
    """Read a root: a name, or a rank where no node has that name."""
    if text is None or text in topology.position_of or not re.fullmatch(r"\d{1,9}", text):
        return text
    return int(text)


def _read(weights: Path | None) -> Weights | None:
    return None if weights is None else read_weights(weights)


def _tree_facts(schedule: AnySchedule) -> dict[str, Any]:
    """Return what there is to say of the trees, for each phase of an allreduce by itself."""
    if isinstance(schedule, Allreduce):
        phases = {"reduce": schedule.reduce, "gather": schedule.gather}
        return {name: {"by": part.collective, **_tree_facts(part)} for name, part in phases.items()}
    facts = {"k": schedule.k, "trees": schedule.num_trees}
    if isinstance(schedule, MulticastForest):
        tall = schedule.heights()
        return {**facts, "distinct_trees": len(tall), "height": int(tall.max(initial=0))}
    return {**facts, **asdict(latency(schedule, physical=isinstance(schedule, Forest)))}


@app.command("certificate")
def certify_optimum(
    spec: Spec,
    output: Output,
    collective: CollectiveName = "allgather",
    root: Root = None,
    weights: WeightsFile = None,
    members: Group = None,
    k: Trees = None,
    json_: Json = False,
) -> None:
    """Write what proves the optimum of a network, for anybody to add up, to a .json file."""
    _expect_writable(output)
    topology = _network(spec, members)
    with _progress_bars() as progress:
        certificate = certify(
            topology,
            collective=collective,
            root=_root(topology, root),
            weights=_read(weights),
            k=k,
            progress=progress,
        )
    verdict = verify_certificate(certificate)
    write_certificate(certificate, output)
    _report({**asdict(verdict), "file": output}, json_)


@app.command("verify")
def verify_schedule(file: ScheduleFile, json_: Json = False) -> None:
    """Prove that a schedule file, or a certificate, is right, or say what is wrong."""
    if is_certificate(file):
        certified = asdict(verify_certificate(read_certificate(file)))
        _report({"file": file, "verified": True, "certificate": True, **certified}, json_)
        return
    schedule = read_schedule(file)
    verdict = verify(schedule)
    if isinstance(verdict, AllreduceVerdict) and isinstance(schedule, Allreduce):
        facts = {
            "collective": verdict.collective,
            "reduce": _verdict_facts(verdict.reduce, schedule.reduce),
            "gather": _verdict_facts(verdict.gather, schedule.gather),
            "time_s_per_gb": verdict.time_s_per_gb,
            "algbw_gb_s": verdict.algbw_gb_s,
            "optimal": verdict.optimal,
        }
    else:
        facts = _verdict_facts(verdict, schedule)
    _report({"file": file, "verified": True, **facts}, json_)


def _verdict_facts(verdict: Any, schedule: object) -> dict[str, Any]:
    facts = asdict(verdict)
    if isinstance(schedule, FactoredForest):
        facts["greatest_possible_height"] = facts.pop("height")
    return facts


@app.command("draw")
def draw_one_tree(
    file: ScheduleFile,
    output: Output,
    tree: Annotated[int, typer.Option("--tree", min=0, help="Which tree, from 0.")] = 0,
    phase: Annotated[
        Phase, typer.Option("--phase", help="Which phase of an allreduce.")
    ] = Phase.REDUCE,
    json_: Json = False,
) -> None:
    """Verify a schedule file and draw one of its trees, as .png, .pdf or .svg."""
    from forestcoll.draw import check_format, draw_tree, save_figure  # loads matplotlib

    check_format(output)
    _expect_writable(output)
    schedule = read_schedule(file)
    verify(schedule)
    forest: AnyForest
    if isinstance(schedule, Allreduce):
        forest = schedule.reduce if phase == "reduce" else schedule.gather
    else:
        forest = schedule
    if isinstance(forest, MulticastForest):
        raise UnsupportedError(
            f"{file}: trees in which switches copy are not drawn; draw them as they are without "
            "--multicast"
        )
    explicit = expand(forest) if isinstance(forest, FactoredForest) else forest
    save_figure(draw_tree(explicit, tree), output)
    _report({"schedule": file, "tree": tree, "file": output}, json_)


def _report(facts: dict[str, Any], json_: bool) -> None:
    typer.echo(as_json(facts) if json_ else as_text(facts))


def _parameter_row(parameter: Parameter) -> tuple[str, str, str]:
    default = "" if parameter.required else f"={parameter.default_text}"
    return "   ", f"{parameter.name}{default}", f"{parameter.help}; {parameter.type}"


def _as_columns(rows: Iterable[Sequence[str]]) -> str:
    """Align columns within the width of the terminal, the last of them wrapped."""
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


def _expect_writable(output: Path) -> None:
    """Refuse a path that cannot be written to before the long work, not after it."""
    if output.is_dir():
        raise ExportError(f"{output}: is a directory; name a file in it")
    directory = Path(os.path.realpath(output)).parent
    if not directory.is_dir():
        raise ExportError(f"{output}: there is no directory {output.parent}; create it first")
    new_or_replaced = output.is_file() or not output.exists()  # a device is written in place
    if new_or_replaced and not os.access(directory, os.W_OK | os.X_OK):
        raise ExportError(f"{output}: no permission to write in {directory}; choose another")


@contextmanager
def _progress_bars() -> Iterator[StageProgress]:
    """Show a bar for each stage on stderr, if people look at it."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description:>15}"), BarColumn(), TimeElapsedColumn())
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as bars:
        tasks: dict[str, TaskID] = {}

        def advance(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage)
            bars.update(tasks[stage], completed=done, total=total)

        yield advance


def main() -> None:
    """Run the command line and exit with its code."""
    app(prog_name="forestcoll")
