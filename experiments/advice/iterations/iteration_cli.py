"""The command ``forestcoll iteration``."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forestcoll.cli.changed import NewLinks, Scale, Without, changed_network
from forestcoll.cli.facts import as_json
from forestcoll.cli.options import Alpha, Json, Spec
from forestcoll.cli.output import expect_drawable
from forestcoll.errors import InvalidParameterError
from forestcoll.problem.over_time.timed_links import read_alpha

if TYPE_CHECKING:
    from experiments.training.iteration import Iteration
    from experiments.training.known_models import Compute
    from experiments.training.parallelism import Layer
    from forestcoll.topology.model import Topology

__all__ = ["show_iteration"]


def show_iteration(
    model: Annotated[
        str, typer.Argument(metavar="MODEL", help="A known model, or a CSV file of layers.")
    ],
    spec: Spec,
    parallel: Annotated[
        str, typer.Option("--parallel", help="data, expert or sharded (FSDP).")
    ] = "sharded",
    tokens: Annotated[
        int, typer.Option("--tokens", min=1, max=10**9, help="Tokens of one GPU in an iteration.")
    ] = 8192,
    context: Annotated[
        int, typer.Option("--context", min=1, max=10**9, help="Tokens of a sequence.")
    ] = 2048,
    flops: Annotated[
        float,
        typer.Option("--flops", max=1e18, help="Peak of a GPU per second; an A100's by default."),
    ] = 312e12,
    utilisation: Annotated[
        float, typer.Option("--utilisation", max=1, help="Share of the peak that is reached.")
    ] = 0.5,
    bytes_each: Annotated[
        int, typer.Option("--bytes-each", min=1, max=8, help="Bytes of a parameter as sent.")
    ] = 2,
    recompute: Annotated[
        bool, typer.Option("--recompute", help="The backward pass computes the forward pass again.")
    ] = False,
    bucket: Annotated[
        str | None,
        typer.Option("--bucket", help="Bytes of a bucket; the best of four if not given."),
    ] = None,
    method: Annotated[
        str, typer.Option("--method", help="forestcoll, or a baseline.")
    ] = "forestcoll",
    other: Annotated[
        list[str] | None, typer.Option("--other", help="Another method to compare with.")
    ] = None,
    faster: Annotated[
        str, typer.Option("--faster", help="Also with links so many times as fast.")
    ] = "2",
    alpha: Alpha = "10",
    without: Without = None,
    scale: Scale = None,
    links: NewLinks = None,
    picture: Annotated[
        Path | None, typer.Option("--picture", help="Draw the timelines: .png, .pdf or .svg.")
    ] = None,
    json_: Json = False,
) -> None:
    """Show what a training iteration costs, and how much of it is visible communication."""
    from experiments.training.communication import OnNetwork
    from experiments.training.iteration import iteration
    from experiments.training.known_models import Compute
    from forestcoll.schedule.simulate import AlphaBeta

    expect_drawable(picture)
    network = changed_network(spec, without, scale, links)
    compute = Compute(tokens, context, flops, utilisation, bytes_each, recompute)
    layers, modelled = _layers(model, compute)
    latencies = AlphaBeta(alpha_us=read_alpha(alpha))
    size = None if bucket is None else _bytes(bucket)
    times = _factor(faster)
    methods = (method, *(one for one in other or [] if one != method))
    on = {name: OnNetwork(network, name, latencies) for name in methods}
    quick = OnNetwork(_faster(network, times), method, latencies)
    on[f"{method}, links {faster} times as fast"] = quick
    runs = {
        name: iteration(layers, parallel, seconds_of, bucket_bytes=size)
        for name, seconds_of in on.items()
    }
    facts = _facts(model, network, compute if modelled else None, layers, runs)
    gaps = [one.all_to_all_gap for one in on.values() if one.all_to_all_gap is not None]
    facts["all_to_all_gap"] = max(gaps, default=None)
    typer.echo(as_json(facts) if json_ else "\n".join(_lines(facts)))
    if picture is not None:
        from experiments.advice.iterations.timeline_figure import timeline_figure
        from experiments.figures.matplotlib_renderer import save

        save(timeline_figure({name: one.timeline for name, one in runs.items()}), picture)


def _layers(model: str, compute: Compute) -> tuple[list[Layer], bool]:
    """Return the layers, and whether their times are modelled."""
    from experiments.training.known_models import MODELS, layers_of, model_named
    from experiments.training.layer_file import read_layers

    if model not in MODELS and (model.endswith(".csv") or Path(model).exists()):
        return read_layers(Path(model)), False
    return layers_of(model_named(model), compute), True


def _bytes(text: str) -> int:
    from forestcoll.problem.sizes import read_size

    try:
        return read_size(text)
    except ValueError as error:
        raise InvalidParameterError(f"--bucket {error}") from None


def _factor(text: str) -> Fraction:
    try:
        found = Fraction(text)
    except (ValueError, ZeroDivisionError):
        found = Fraction(0)
    if not 0 < found <= 10**6:
        raise InvalidParameterError(f"--faster is {text!r}; it must be above 0, at most 1000000")
    return found


def _faster(network: Topology, times: Fraction) -> Topology:
    from dataclasses import replace

    links = tuple(
        replace(link, bandwidth_gb_s=link.bandwidth_gb_s * times) for link in network.links
    )
    shared = tuple(
        replace(group, bandwidth_gb_s=group.bandwidth_gb_s * times) for group in network.shared
    )
    return replace(network, links=links, shared=shared)


def _facts(
    model: str,
    network: Topology,
    compute: Compute | None,
    layers: list[Layer],
    runs: dict[str, Iteration],
) -> dict[str, Any]:
    first = next(iter(runs.values()))
    return {
        "model": model,
        "topology": network.name,
        "gpus": network.num_compute,
        "parallel": first.parallel,
        "layers": len(layers),
        "computing_is": "measured, from the file"
        if compute is None
        else f"modelled: {compute.tokens} tokens a GPU, context {compute.context}, "
        f"{compute.flops / 1e12:g} TFLOP/s at {compute.utilisation:.0%}"
        + (", forward pass recomputed" if compute.recompute else ""),
        "communication_is": "simulated, one collective at a time",
        "runs": [
            {
                "with": name,
                "iteration_ms": one.timeline.seconds * 1e3,
                "computing_ms": one.timeline.computing * 1e3,
                "communication_ms": one.timeline.communicating * 1e3,
                "visible_ms": one.timeline.visible * 1e3,
                "visible_share": one.visible_share,
                "bucket_bytes": one.bucket_bytes,
                "saved_ms": (first.timeline.seconds - one.timeline.seconds) * 1e3,
            }
            for name, one in runs.items()
        ],
    }


def _lines(facts: dict[str, Any]) -> list[str]:
    width = max(len(run["with"]) for run in facts["runs"])
    gap = facts["all_to_all_gap"]
    lines = [
        f"{facts['model']}, {facts['parallel']} parallel on {facts['gpus']} GPUs of "
        f"{facts['topology']}",
        f"computing: {facts['computing_is']}",
        f"communication: {facts['communication_is']}",
        *([] if gap is None else [f"all-to-alls: their rate is within {gap:.1%} of its bound"]),
        "",
        f"{'':{width}} {'iteration':>10} {'computing':>10} {'sent':>9} {'visible':>9} {'share':>7} "
        f"{'saved':>9}  ms",
    ]
    for run in facts["runs"]:
        lines.append(
            f"{run['with']:{width}} {run['iteration_ms']:>10.2f} {run['computing_ms']:>10.2f} "
            f"{run['communication_ms']:>9.2f} {run['visible_ms']:>9.2f} "
            f"{run['visible_share']:>7.1%} {run['saved_ms']:>9.2f}"
        )
    return lines
