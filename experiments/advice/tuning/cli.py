"""The command ``forestcoll tune``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from forestcoll.cli.changed import NewLinks, Scale, Without, changed_network
from forestcoll.cli.demands import ALL_TO_ALL, DemandText, check_all_to_all
from forestcoll.cli.options import (
    MOST,
    Alpha,
    ChunkCost,
    Gamma,
    Group,
    Idle,
    Json,
    MessageCost,
    Root,
    Spec,
    Window,
    idle_fact,
    idle_of,
    idle_words,
    in_group,
    root_of,
    sizes_of,
    window_of,
)
from forestcoll.problem.limits import MOST_SECONDS
from forestcoll.problem.over_time.timed_links import read_alpha
from forestcoll.topology.describe import counted, decimal

if TYPE_CHECKING:
    from experiments.advice.tuning.records import Folder
    from experiments.advice.tuning.switching import Range
    from experiments.advice.tuning.tuning import Tuning
    from forestcoll.schedule.simulate import AlphaBeta

__all__ = ["tune_sizes"]

_SHOWN = 5e-4  # shares below are 0.0 % in print
_SHARING = {"fair": "links shared by size", "fifo": "links with one transfer at a time"}


def tune_sizes(
    spec: Spec,
    collective: Annotated[
        str, typer.Option("--collective", help="allgather, allreduce, ..., or all-to-all.")
    ] = "allgather",
    sizes: Annotated[
        str | None,
        typer.Option(
            "--sizes",
            help="Data sizes: 1KB..1GB (the default) or 1MB,64MB; 1MB is 2^20 bytes. Of a demand: "
            "all its bytes; what it has if not given.",
        ),
    ] = None,
    demand: DemandText = None,
    root: Root = None,
    members: Group = None,
    idle: Idle = None,
    without: Without = None,
    scale: Scale = None,
    links: NewLinks = None,
    alpha: Alpha = "10",
    gamma: Gamma = "0",
    window: Window = "1",
    chunk_cost: ChunkCost = "0",
    message_cost: MessageCost = "0",
    no_plans: Annotated[
        bool,
        typer.Option("--no-plans", help="Share links by size even if a schedule has a time plan."),
    ] = False,
    sharing: Annotated[
        str,
        typer.Option("--sharing", help="Link sharing: fair, or fifo (first come, first served)."),
    ] = "fair",
    methods: Annotated[
        list[str] | None,
        typer.Option(
            "--method",
            metavar="METHOD",
            help="forestcoll or a name from `baselines list`; repeatable. Default: the quick ones.",
        ),
    ] = None,
    seconds: Annotated[
        float,
        typer.Option(
            max=MOST_SECONDS,
            help="Seconds for each method to make its schedule, and again to simulate it. Slower "
            "methods are left out, but not interrupted while they make a schedule.",
        ),
    ] = 30.0,
    within: Annotated[
        float,
        typer.Option(
            metavar="PERCENT",
            max=MOST,
            help="Share by which ranges may be slower than the best; more gives fewer ranges.",
        ),
    ] = 0.0,
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="FOLDER", help="Folder for schedules and index.json."
        ),
    ] = None,
    ending: Annotated[
        str | None,
        typer.Option(
            "--format", help="Format of the schedule files in --output: npz (default) or json."
        ),
    ] = None,
    json_: Json = False,
) -> None:
    """Find the best schedule at each size by simulation, and the sizes at which it changes."""
    from experiments.advice.tuning.records import document
    from experiments.advice.tuning.tuning import tune
    from forestcoll.cli.facts import as_json
    from forestcoll.cli.output import progress_bars
    from forestcoll.problem.demand_files import demand_in

    asked = sizes_of(sizes)
    exchange = check_all_to_all(collective, demand, {"root": root})
    model = _model(alpha, gamma, sharing, window, chunk_cost, message_cost)
    network = changed_network(spec, without, scale, links)
    topology = in_group(network, members, idle)
    at = root_of(topology, root)
    stated = None if demand is None else demand_in(demand, topology)
    folder = _folder(output, ending)
    with _kept(folder) as keep, progress_bars() as progress:
        found = tune(
            topology,
            ALL_TO_ALL if exchange else collective,
            asked or None,
            demand=stated,
            root=at,
            model=model,
            methods=methods,
            seconds=seconds,
            within=within / 100,
            plans=not no_plans,
            progress=progress,
            keep=keep,
        )
    files = {} if folder is None else folder.files
    facts = {**document(found, files, trials=True), **idle_fact(members, idle)}
    words = idle_words(idle_of(members, idle)).removeprefix(", ")
    lines = [*([words] if words else []), *_lines(found, folder)]
    typer.echo(as_json(facts) if json_ else "\n".join(lines))


def _model(
    alpha: str, gamma: str, sharing: str, window: str, chunk_cost: str, message_cost: str
) -> AlphaBeta:
    from forestcoll.errors import InvalidParameterError
    from forestcoll.schedule.simulate import AlphaBeta, Sharing

    if sharing not in tuple(Sharing):
        known = " or ".join(Sharing)
        raise InvalidParameterError(f"--sharing is {sharing!r}; it must be {known}")
    return AlphaBeta(
        alpha_us=read_alpha(alpha),
        gamma_s_per_gb=gamma,
        sharing=Sharing(sharing),
        window=window_of(window),
        chunk_cost_us=chunk_cost,
        message_cost_us=message_cost,
    )


def _folder(output: str | None, ending: str | None) -> Folder | None:
    """Refuse an unusable folder before the search starts."""
    from experiments.advice.tuning.records import Folder
    from forestcoll.errors import InvalidParameterError

    if output is None:
        if ending is not None:
            raise InvalidParameterError("--format is of the files in --output; name a folder, too")
        return None
    if not output:
        raise InvalidParameterError("--output is empty; name a folder")
    return Folder(Path(output), f".{ending or 'npz'}")


@contextmanager
def _kept(folder: Folder | None) -> Iterator[Callable[[Tuning], None] | None]:
    """Store interim results; report what is stored if the search ends early."""
    if folder is None:
        yield None
        return
    sizes: list[int] = []

    def keep(found: Tuning) -> None:
        folder.keep(found)
        sizes[:] = [at.size_bytes for at in found.sizes]

    try:
        yield keep
    except BaseException:
        if sizes:
            typer.echo(f"note: {folder.path} has the best of {len(sizes)} sizes", err=True)
        raise


def _lines(found: Tuning, folder: Folder | None) -> list[str]:
    lines = [*_head(found), "", *_ranges(found, folder), "", *_sizes(found)]
    for text, more in (("not tried", _not_tried(found)), ("tried, nowhere best", _others(found))):
        lines += ["", text, *(f"  {one}" for one in more)] if more else []
    if folder is not None:
        count = counted(len(folder.files), "schedule")
        lines += ["", f"{folder.path}: index.json and {count}"]
    return lines


def _head(found: Tuning) -> list[str]:
    model, rate = found.model, found.bounds.rate
    adding = f", gamma {decimal(model.gamma)} s/GB" if model.gamma else ""
    root = "" if found.root is None else f", root rank {found.root}"
    tried = sum(one.schedule is not None for one in found.candidates)
    by_rate = "no rate is proved"
    others = "".join(f", {words}" for words in model.options())
    if rate is not None:
        by_rate = f"{decimal(rate.algbw_gb_s)} GB/s by {rate.by}"
    both = "" if found.demand is not None else "; each size by both together"
    return [
        f"{found.topology.name}, {_what(found)} of {found.topology.num_compute} GPUs{root}",
        f"simulated: alpha {decimal(model.alpha)} us a hop{adding}, {_SHARING[model.sharing]}"
        f"{others}; "
        f"the best of {tried} verified schedules",
        f"bound: {found.bounds.latency_s * 1e6:.6g} us by latency, {by_rate}{both}",
    ]


def _what(found: Tuning) -> str:
    if found.demand is None:
        return found.collective
    return f"{found.demand.name}: {found.demand.bytes} bytes in all,"


def _ranges(found: Tuning, folder: Folder | None) -> list[str]:
    from forestcoll.problem.sizes import size_text

    lossy = any(one.slower for one in found.ranges)
    rows = [("from", "to", "chunks", "of bound", "use" if lossy else "best")]
    for one in found.ranges:
        ends = (size_text(one.first_bytes), size_text(one.last_bytes))
        file = "" if folder is None else f"  {folder.files[one.name]}"
        lost = (
            f", up to {100 * one.slower:.1f} % slower than the best" if one.slower > _SHOWN else ""
        )
        rows.append(
            (*ends, _chunks(one), f"{100 * one.least_share:.1f} %", f"{one.name}{lost}{file}")
        )
    return ["{:>10} {:>10} {:>9} {:>9}  {}".format(*row) for row in rows]


def _chunks(one: Range) -> str:
    """Return the numbers of pipeline chunks; "plan" where there are none."""
    if one.pipeline_chunks is None:
        return "plan"
    low, high = one.pipeline_chunks
    numbers = str(low) if low == high else f"{low}-{high}"
    return f"plan, {numbers}" if one.by_plan else numbers


def _sizes(found: Tuning) -> list[str]:
    from forestcoll.problem.sizes import size_text

    lines = [f"{'size':>10} {'us':>10} {'algbw':>9} {'of bound':>9}  best"]
    lines += [
        f"{size_text(at.size_bytes):>10} {_us(at.time_s):>10} {at.algbw_gb_s:>9.4g} "
        f"{100 * at.share:>7.1f} %  {at.best.name}"
        f"{', by plan' if at.by_plan else ''}"
        for at in found.sizes
        if at.asked
    ]
    return lines


def _us(time_s: float) -> str:
    us = time_s * 1e6
    return f"{us:.6g}" if us < 1e6 else f"{us:.0f}"


def _not_tried(found: Tuning) -> list[str]:
    return [f"{one.name}: {one.note}" for one in found.candidates if one.schedule is None]


def _others(found: Tuning) -> list[str]:
    """Return candidates that are best nowhere, with the size at which they hit a limit."""
    from experiments.advice.tuning.schedule_search import BEATEN
    from forestcoll.problem.sizes import size_text

    winners = {one.name for one in found.ranges}
    lines = []
    for one in found.candidates:
        if one.schedule is None or one.name in winners:
            continue
        notes: dict[str, list[int]] = {}
        for at in found.sizes:
            for trial in at.trials:
                if trial.name == one.name and trial.note not in ("", BEATEN):
                    notes.setdefault(trial.note, []).append(at.size_bytes)
        limits = (f"{note} from {size_text(min(where))} on" for note, where in notes.items())
        lines.append("; ".join([one.name, *limits]))
    return lines
