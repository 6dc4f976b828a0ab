"""The command ``forestcoll expected``."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from forestcoll.cli.changed import NewLinks, Scale, Without, changed_network
from forestcoll.cli.demands import DemandText
from forestcoll.cli.options import (
    Group,
    Idle,
    Json,
    Root,
    Spec,
    idle_of,
    idle_words,
    in_group,
    root_of,
    sizes_of,
)
from forestcoll.cli.output import expect_drawable
from forestcoll.errors import InvalidParameterError, UnsupportedError
from forestcoll.problem.limits import MOST_SECONDS, check_seconds
from forestcoll.problem.over_time.timed_links import read_alpha
from forestcoll.problem.rate_bound import RateBound
from forestcoll.topology import Topology, group, members_from_text

if TYPE_CHECKING:
    from experiments.advice.expected import Expected, Rate
    from experiments.advice.measured.channel_rates import ChannelRate

__all__ = ["expected_rates"]


NCCL_TESTS = "nccl-tests"

Collective = Annotated[
    str,
    typer.Option(
        "--collective",
        help="allreduce, ..., all-to-all; or nccl-tests, for a row of each of its programs.",
    ),
]
Sizes = Annotated[
    str | None,
    typer.Option("--sizes", help="Data sizes: 1MB,64MB or 1MB..1GB; 1MB is 2^20 bytes."),
]
TimeLimit = Annotated[
    float, typer.Option("--time-limit", max=MOST_SECONDS, help="Seconds for all rows together.")
]
RunFile = Annotated[
    Path | None,
    typer.Option(
        "--measured",
        metavar="FILE",
        help="Output of nccl-tests or rccl-tests: what share of it all the run reaches.",
    ),
]
Alpha = Annotated[
    str | None,
    typer.Option(
        "--alpha",
        help="Microseconds a hop (or 800ns), with --sizes (0 if not given) or --measured.",
    ),
]
Picture = Annotated[Path | None, typer.Option("--picture", help="Draw the run, with --measured.")]
ChannelsFile = Annotated[
    Path | None,
    typer.Option(
        "--channels", metavar="FILE", help="A log or graph file of NCCL: rate its channels."
    ),
]


def expected_rates(
    spec: Spec,
    collective: Collective = "allreduce",
    sizes: Sizes = None,
    root: Root = None,
    members: Group = None,
    idle: Idle = None,
    without: Without = None,
    scale: Scale = None,
    links: NewLinks = None,
    time_limit: TimeLimit = 60.0,
    demand: DemandText = None,
    measured: RunFile = None,
    alpha: Alpha = None,
    picture: Picture = None,
    channels: ChannelsFile = None,
    json_: Json = False,
) -> None:
    """Print the best algbw and busbw that nccl-tests can show, and the bottleneck."""
    asked = sizes_of(sizes)
    network = changed_network(spec, without, scale, links)
    plain = root is None and not asked
    _expect_one_question(collective, demand, measured, channels, plain=plain, sized=bool(asked))
    if measured is None and picture is not None:
        raise InvalidParameterError("--picture is of --measured; add it, or drop it")
    if measured is None and alpha is not None and not asked:
        raise InvalidParameterError("--alpha is of --sizes or --measured; add one, or drop it")
    if measured is None and demand is None and collective != NCCL_TESTS:
        chosen = None if members is None else members_from_text(network, members)
        role = idle_of(members, idle, "absent") or "absent"
        at = root_of(network, root)
        sized = _Sizes(asked, read_alpha(alpha or "0"))
        _print_rates(network, collective, at, chosen, role, time_limit, channels, sized, json_)
        return
    of_group = network if members is None else in_group(network, members, idle or "absent")
    if measured is not None:
        at = root_of(network, root)
        _print_measured(measured, of_group, collective, at, alpha, time_limit, picture, json_)
    elif demand is not None:
        _print_demand(of_group, demand, time_limit, json_)
    else:
        _print_programs(of_group, time_limit, json_)


def _expect_one_question(
    collective: str,
    demand: str | None,
    measured: Path | None,
    channels: Path | None,
    *,
    plain: bool,
    sized: bool,
) -> None:
    """Refuse options that ask different things; ``plain`` if neither a root nor sizes are given."""
    from experiments.measures.bounds import ALL

    if collective not in (*ALL, NCCL_TESTS):
        raise UnsupportedError(
            f"--collective is {collective!r}; it must be one of {', '.join(ALL)}, or nccl-tests "
            f"for a row of each of its programs"
        )
    if channels is not None and (measured or demand or collective == NCCL_TESTS):
        raise InvalidParameterError(
            "--channels is for one collective; leave --measured and --demand away"
        )
    if measured is not None and (demand or collective == NCCL_TESTS or sized):
        raise InvalidParameterError(
            "--measured has sizes of one collective; leave --demand and --sizes away, and name "
            "the collective"
        )
    if demand is not None and not (plain and collective == "allreduce"):
        raise InvalidParameterError(
            "--demand states all data; leave --collective, --root and --sizes away"
        )
    if collective == NCCL_TESTS and not plain:
        raise InvalidParameterError(
            "--collective nccl-tests prints all rates; leave --root and --sizes away"
        )


def _print_rates(
    network: Topology,
    collective: str,
    root: str | int | None,
    members: Iterable[str] | None,
    idle: Literal["forward", "absent"],
    seconds: float,
    channels: Path | None,
    sizes: _Sizes,
    json_: bool,
) -> None:
    """Print bounds, rates and what binds, with those of NCCL's channels if there is a file."""
    from experiments.advice.expected import expected
    from experiments.advice.time_limit import time_limit
    from forestcoll.cli.facts import as_json

    check_seconds(seconds)
    began = time.monotonic()
    rated: list[ChannelRate] = []
    if channels is not None:
        from experiments.advice.measured.channel_rates import channel_rates

        of_group = network if members is None else group(network, members, idle=idle)
        with time_limit(seconds):
            rated = channel_rates(channels, of_group, collective)
        seconds = max(0.0, round(seconds - (time.monotonic() - began), 1))
    found = expected(network, collective, root=root, members=members, idle=idle, seconds=seconds)
    found = _with_channels(found, rated)
    typer.echo(as_json(_document(found, sizes)) if json_ else "\n".join(_lines(found, sizes)))


def _print_measured(
    file: Path,
    network: Topology,
    collective: str,
    root: str | int | None,
    alpha: str | None,
    seconds: float,
    picture: Path | None,
    json_: bool,
) -> None:
    """Print a measured run beside what its network can give, and draw it."""
    from experiments.advice.measured.measured_report import compare, document, figure, lines
    from forestcoll.cli.facts import as_json
    from forestcoll.schedule.simulate import AlphaBeta

    expect_drawable(picture)
    model = AlphaBeta() if alpha is None else AlphaBeta(alpha_us=read_alpha(alpha))
    report = compare(file, network, collective, root, model, seconds)
    typer.echo(as_json(document(report)) if json_ else "\n".join(lines(report)))
    if picture is not None:
        from experiments.figures.matplotlib_renderer import save

        save(figure(report), picture)


def _with_channels(found: Expected, channels: Sequence[ChannelRate]) -> Expected:
    """Add a row for the rings, and for the trees, of a file of NCCL's."""
    from experiments.advice.expected import Rate, busbw_factor

    factor = busbw_factor(found.collective, found.topology.num_compute)
    bound = max((one.algbw_gb_s for one in found.bounds if one.algbw_gb_s), default=None)
    rows = [
        Rate(
            f"{one.what} of the file ({one.channels})",
            one.algbw_gb_s,
            one.algbw_gb_s * factor,
            None if bound is None else one.algbw_gb_s / bound,
            "",
        )
        for one in channels
    ]
    return replace(found, rates=(*found.rates, *rows))


def _print_demand(network: Topology, text: str, seconds: float, json_: bool) -> None:
    """Print what a demand takes at best, and with baselines."""
    from experiments.advice.demand_rates import demand_rates
    from forestcoll.cli.facts import as_json
    from forestcoll.problem.demand_files import demand_in

    found = demand_rates(network, demand_in(text, network), seconds=seconds)
    demand, binding = found.demand, found.binding.in_words()
    if json_:
        rows = [asdict(row) for row in found.times]
        facts = {"topology": network.name, "demand": demand.name, "bytes": demand.bytes}
        typer.echo(as_json({**facts, "times": rows, "what_binds": binding}))
        return
    typer.echo(
        f"{network.name}, {demand.name}: {demand.bytes} bytes in all, on "
        f"{network.num_compute} GPUs; pipelined, without latencies\n\n"
        f"{'':26} {'us':>10} {'GB/s':>10}  of bound"
    )
    for row in found.times:
        if row.time_us is None:
            typer.echo(f"{row.what:26} {'-':>10} {'-':>10}  {row.note}")
            continue
        share = row.note if row.share is None else f"{float(100 * row.share):.1f} %"
        rate = _short(demand.bytes / row.time_us / 1000)
        typer.echo(f"{row.what:26} {_short(row.time_us):>10} {rate:>10}  {share}")
    typer.echo("\nWhat binds\n" + "\n".join(f"  {line}" for line in binding))


def _print_programs(network: Topology, seconds: float, json_: bool) -> None:
    """Print a row for each program of nccl-tests."""
    from experiments.advice.nccl_tests import nccl_tests_rates
    from forestcoll.cli.facts import as_json

    rows = nccl_tests_rates(network, seconds=seconds)
    if json_:
        typer.echo(as_json({"topology": network.name, "programs": [asdict(row) for row in rows]}))
        return
    typer.echo(
        f"{network.name}, {network.num_compute} GPUs; busbw in GB/s (1e9 bytes/s) as nccl-tests "
        f"prints it\n\n{'':20} {'at most':>9} {'best':>9} {'NCCL':>9}"
    )
    for row in rows:
        rates = (
            "-" if rate is None else _short(rate * row.factor)
            for rate in (row.bound_gb_s, row.best_gb_s, row.nccl_gb_s)
        )
        typer.echo(
            "{:20} {:>9} {:>9} {:>9}  ".format(row.program, *rates).rstrip()
            + f"  {row.note}".rstrip()
        )


@dataclass(frozen=True, slots=True)
class _Sizes:
    """Sizes whose least times are asked for, and the latency of a hop."""

    bytes: Sequence[int]
    alpha_us: Fraction

    def least_us(self, found: Expected) -> list[tuple[int, Fraction]]:
        """Return each size with its least time."""
        if not self.bytes:
            return []
        return list(zip(self.bytes, found.least_times_us(self.bytes, self.alpha_us), strict=True))


def _document(found: Expected, sizes: _Sizes) -> dict[str, Any]:
    def rate(one: Rate) -> dict[str, Any]:
        return {
            "what": one.what,
            "algbw_gb_s": one.algbw_gb_s,
            "busbw_gb_s": one.busbw_gb_s,
            "share_of_the_bound": one.share,
            "note": one.note or None,
            "differences": one.differences or None,
        }

    binding = found.binding
    cuts = [one.widest for one in binding or () if isinstance(one, RateBound)]
    return {
        "topology": found.topology.name,
        "collective": found.collective,
        "gpus": found.topology.num_compute,
        **({} if found.idle is None else {"idle": found.idle}),
        "bounds": list(map(rate, found.bounds)),
        "rates": list(map(rate, found.rates)),
        "binding_cuts": None if binding is None else cuts,
        "what_binds": None if binding is None else [one.in_words() for one in binding],
        "latency_us": found.latency_us,
        "alpha_us": sizes.alpha_us if sizes.bytes else None,
        "least_us": [
            {"size_bytes": size, "time_us": least} for size, least in sizes.least_us(found)
        ],
    }


def _lines(found: Expected, sizes: _Sizes) -> list[str]:
    from experiments.advice.expected import busbw_factor
    from forestcoll.problem.sizes import size_text

    lines = [
        f"{found.topology.name}, {found.collective} of {found.topology.num_compute} GPUs"
        f"{idle_words(found.idle)}; GB/s are 1e9 bytes/s, in each direction",
        "",
        f"{'':30} {'algbw':>9} {'busbw':>9}  of bound",
    ]
    lines += [_line(one) for one in (*found.bounds, *found.rates)]
    different = [one for one in found.rates if one.differences]
    lines += ["", "Differences from their source"] if different else []
    lines += [f"  {one.what}: {one.differences}" for one in different]
    two = found.collective == "allreduce"
    lines += ["", "The bottleneck cuts of its two phases" if two else "What binds"]
    for one in found.binding or ():
        lines += [f"  {words}" for words in one.in_words()]
        if isinstance(one, RateBound) and one.is_single_cut:
            lines += [f"    {links}" for links in one.widest.exit_classes()]
    if found.binding is None:
        lines.append("  not finished in time; allow more")
    if sizes.bytes:
        factor = busbw_factor(found.collective, found.topology.num_compute)
        lines += ["", f"{'size':>10} {'us':>12} {'algbw':>9} {'busbw':>9}  at best"]
    for size, least in sizes.least_us(found):
        algbw = size / (least * 1000) if least else Fraction(0)
        rates = (_short(rate) for rate in (least, algbw, algbw * factor))
        lines.append("{:>10} {:>12} {:>9} {:>9}".format(size_text(size), *rates))
    if sizes.bytes and not found.latency_us and not sizes.alpha_us:
        lines.append(
            "  (the links of this network have no latencies: small data takes longer; see --alpha)"
        )
    return lines


def _line(one: Rate) -> str:
    if one.algbw_gb_s is None or one.busbw_gb_s is None:
        return f"{one.what:30} {'-':>9} {'-':>9}  {one.note}"
    share = f"{float(100 * one.share):.1f} %" if one.share is not None else one.note
    return f"{one.what:30} {_short(one.algbw_gb_s):>9} {_short(one.busbw_gb_s):>9}  {share}"


def _short(number: Fraction) -> str:
    from forestcoll.topology.describe import decimal

    return decimal(number)
