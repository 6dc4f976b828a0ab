"""The command ``forestcoll topology find``."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forestcoll.cli.facts import as_json
from forestcoll.cli.options import MOST, Json
from forestcoll.cli.output import SCHEDULES, expect_drawable, expect_writable
from forestcoll.errors import InvalidParameterError, InvalidTopologyError, TimeLimitError
from forestcoll.problem.limits import MOST_SECONDS

if TYPE_CHECKING:
    from baselines.topology_finder.workload import Fabric
    from experiments.advice.finding.front_entries import Answer, Demand, Entry

__all__ = ["find_topology"]


def find_topology(
    nodes: Annotated[int, typer.Option("--nodes", max=MOST, help="Number of GPUs.")],
    degree: Annotated[
        str, typer.Option("--degree", help="Links out of each GPU: 4, or several as 2,4,8 or 2..8.")
    ],
    alpha: Annotated[
        str, typer.Option("--alpha", help="Latency of a hop, such as 10us; us if no unit is given.")
    ] = "10us",
    bandwidth: Annotated[
        str | None,
        typer.Option("--bandwidth", help="Of one GPU, over all links: 100Gb/s (the default)."),
    ] = None,
    port_bandwidth: Annotated[
        str | None, typer.Option("--port-bandwidth", help="Of one link, instead of --bandwidth.")
    ] = None,
    size: Annotated[
        list[str] | None,
        typer.Option(
            "--size", help="Data: 1MB; 25MB:40 is forty times; all-to-all=1MB names a collective."
        ),
    ] = None,
    collective: Annotated[
        str,
        typer.Option("--collective", help="allreduce, allgather, reduce-scatter, all-to-all, mix."),
    ] = "allreduce",
    bidirectional: Annotated[
        bool, typer.Option("--bidirectional", help="Every link must have a link back.")
    ] = False,
    ports: Annotated[
        int | None,
        typer.Option(
            "--ports", min=1, max=MOST, help="Ports of all GPUs, as of one optical switch."
        ),
    ] = None,
    money: Annotated[
        str | None, typer.Option("--money", help="Most that all ports together may cost.")
    ] = None,
    port_price: Annotated[
        str | None, typer.Option("--port-price", help="Price of a port with its cable.")
    ] = None,
    choose: Annotated[
        int, typer.Option("--choose", min=1, max=MOST, help="Row of the table that -o writes.")
    ] = 1,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the network, .yaml or .json.")
    ] = None,
    schedule: Annotated[
        Path | None,
        typer.Option("--schedule", help="Write its verified schedule, .json or .npz."),
    ] = None,
    picture: Annotated[
        Path | None, typer.Option("--picture", help="Draw the front, as .png, .pdf or .svg.")
    ] = None,
    degraded: Annotated[
        bool, typer.Option("--degraded", help="Also show the worst single dead link.")
    ] = False,
    rate_time: Annotated[
        float,
        typer.Option(
            "--rate-time",
            min=0,
            max=MOST_SECONDS,
            help="Seconds a network to bring the bounds of its all-to-all rate together.",
        ),
    ] = 0.0,
    swaps: Annotated[
        int,
        typer.Option(
            "--swaps", min=0, max=MOST, help="Edge swaps to try on each network of the front."
        ),
    ] = 0,
    json_: Json = False,
) -> None:
    """Find direct-connect networks of a size and degree, and the best one for a workload."""
    from baselines.topology_finder.workload import read_workload
    from experiments.advice.finding.front_entries import answer, demand_of

    fabric_of = _fabrics(alpha, bandwidth, port_bandwidth)
    demand = demand_of(size or ["1MB"], collective, read_workload)
    _check_files(output, schedule, picture, demand)
    found = answer(
        nodes,
        _degrees(degree),
        demand,
        fabric_of,
        bidirectional=bidirectional,
        budget=_budget(ports, money, port_price),
        rate_seconds=rate_time,
        swaps=swaps,
        progress=lambda name: typer.echo(f"computing {name}", err=True),
    )
    if choose > len(found.entries):
        raise InvalidParameterError(
            f"--choose is {choose}; the table has {len(found.entries)} rows"
        )
    chosen = found.entries[choose - 1]
    failures = [_failure(entry) for entry in found.entries] if degraded else None
    prices = None if port_price is None else _price("--port-price", port_price)
    typer.echo(
        as_json(_document(found, failures, prices))
        if json_
        else "\n".join(_lines(found, failures, prices))
    )
    _write(chosen, found, output, schedule, picture)


def _fabrics(
    alpha: str, bandwidth: str | None, port_bandwidth: str | None
) -> Callable[[int], Fabric]:
    """Return the fabric by degree: one bandwidth of a GPU for all, or one of each port."""
    from baselines.topology_finder.workload import Fabric

    if bandwidth is not None and port_bandwidth is not None:
        raise InvalidParameterError("give --bandwidth or --port-bandwidth, not both")
    alpha_s = _latency_us(alpha) / 10**6
    if port_bandwidth is not None:
        port = _bytes_s("--port-bandwidth", port_bandwidth)
        return lambda degree: Fabric(alpha_s, port * degree)
    gpu = Fabric(alpha_s, _bytes_s("--bandwidth", bandwidth or "100Gb/s"))
    return lambda _: gpu


def _check_files(
    output: Path | None, schedule: Path | None, picture: Path | None, demand: Demand
) -> None:
    """Refuse files that could not be written, before the search."""
    from baselines.topology_finder.workload import GATHERINGS

    for path, endings in ((output, (".yaml", ".json")), (schedule, SCHEDULES)):
        if path is not None:
            expect_writable(path, endings)
    if schedule is not None and not demand.keys() & set(GATHERINGS):
        raise InvalidParameterError(
            f"--schedule needs a size of {', '.join(GATHERINGS)}: the finder makes no schedules of "
            f"all-to-alls"
        )
    expect_drawable(picture)


def _degrees(text: str) -> list[int]:
    first, dots, last = text.partition("..")
    try:
        if dots:
            chosen = list(range(int(first), min(int(last), 10**4) + 1))
        else:
            chosen = [int(part) for part in text.split(",")]
    except ValueError:
        chosen = []
    if not chosen:
        raise InvalidParameterError(
            f"--degree is {text!r}; it must be a number, or several as 2,4,8 or 2..8"
        )
    return chosen


def _latency_us(text: str) -> Fraction:
    from forestcoll.topology.reading.units import latency_us

    try:
        found = latency_us(text)
    except InvalidTopologyError as error:
        raise InvalidParameterError(f"--alpha {error}") from None
    if found < 0:
        raise InvalidParameterError(f"--alpha is {text!r}; it must be 0 or more")
    return found


def _bytes_s(option: str, text: str) -> Fraction:
    from forestcoll.topology.reading.units import bandwidth_gb_s

    try:
        found = bandwidth_gb_s(text)
    except InvalidTopologyError as error:
        raise InvalidParameterError(f"{option} {error}") from None
    if found <= 0:
        raise InvalidParameterError(f"{option} is {text!r}; it must be positive")
    return found * 10**9


def _price(option: str, text: str) -> Fraction:
    try:
        found = Fraction(text)
    except (ValueError, ZeroDivisionError):
        found = Fraction(-1)
    if not 0 <= found <= 10**15:
        raise InvalidParameterError(f"{option} is {text!r}; it must be an amount from 0 to 1e15")
    return found


def _budget(ports: int | None, money: str | None, port_price: str | None) -> Any:
    from experiments.advice.finding.front_entries import Budget

    if money is not None and port_price is None:
        raise InvalidParameterError("--money needs the price of a port: give --port-price")
    return Budget(
        ports,
        None if money is None else _price("--money", money),
        Fraction(0) if port_price is None else _price("--port-price", port_price),
    )


def _failure(entry: Entry) -> dict[str, Any]:
    from baselines.topology_finder.building import network_of
    from baselines.topology_finder.degraded import worst_failure

    try:
        worst = worst_failure(network_of(entry.one), entry.one.degree)
    except TimeLimitError as late:
        return {"not_known": str(late)}  # the rest of the table stands
    return {
        "link": worst.link,
        "connected": worst.connected,
        "hops": worst.hops,
        "t_b": worst.time,
        "optimal_t_b": worst.optimal_time,
    }


def _document(
    found: Answer, failures: list[dict[str, Any]] | None, price: Fraction | None
) -> dict[str, Any]:
    return {
        "model": "T_L alpha + T_B M / B; all-to-alls without latency",
        "bounds": [
            {
                "degree": degree,
                "hops": bounds.hops,
                "t_b": bounds.time,
                "all_to_all_rate_links": bounds.all_to_all,
            }
            for degree, bounds in found.bounds.items()
        ],
        "networks": [
            {
                "name": entry.one.name,
                "topology": entry.one.spec,
                "edge_swaps": entry.one.swaps,
                "nodes": entry.one.nodes,
                "degree": entry.one.degree,
                "hops": entry.one.hops,
                "t_b": entry.one.time,
                "reduce_scatter_hops": entry.one.reverse_hops,
                "reduce_scatter_t_b": entry.one.reverse_time,
                "time_us": entry.seconds * 10**6,
                "least_us": entry.least_seconds * 10**6,
                "all_to_all_rate_links_at_least": entry.rate and entry.rate.attained,
                "all_to_all_rate_links_at_most": entry.rate_bound,
                "price": None if price is None else price * entry.one.nodes * entry.one.degree,
                "worst_dead_link": None if failures is None else failures[number],
            }
            for number, entry in enumerate(found.entries)
        ],
    }


def _lines(
    found: Answer, failures: list[dict[str, Any]] | None, price: Fraction | None
) -> list[str]:
    first = found.entries[0]
    width = max(24, *(len(entry.one.name) for entry in found.entries))
    lines = [
        f"{first.one.nodes} GPUs; {_in_words(found.demand)}; {_us(first.fabric.alpha_s)} us a hop",
        "T_L in hops and T_B in M / B (data over a GPU's bandwidth) are of an allgather",
        "f is a bound on the rate of a pair of GPUs in an all-to-all, in links",
        "",
        f"{'':>3} {'network':{width}} {'d':>3} {'T_L':>4} {'T_B':>7} {'f':>8} {'us':>11} "
        f"{'of bound':>9}" + (f" {'price':>12}" if price is not None else ""),
    ]
    for number, entry in enumerate(found.entries, 1):
        one = entry.one
        cost = f" {float(price * one.nodes * one.degree):>12.6g}" if price is not None else ""
        lines.append(
            f"{number:>3} {one.name:{width}} {one.degree:>3} {one.hops:>4} {float(one.time):>7.4f} "
            f"{_rate(entry.rate_bound):>8} {_us(entry.seconds):>11} {float(entry.over):>9.3f}{cost}"
        )
        lines += _notes(entry)
        if failures is not None:
            lines.append(f"      {_failure_in_words(failures[number - 1])}")
    for degree, bounds in found.bounds.items():
        least = next(e.least_seconds for e in found.entries if e.one.degree == degree)
        lines.append(
            f"{'':>3} {'bounds':{width}} {degree:>3} {bounds.hops:>4} {float(bounds.time):>7.4f} "
            f"{_rate(bounds.all_to_all):>8} {_us(least):>11}"
        )
    return lines


def _rate(bound: Fraction | None) -> str:
    return "-" if bound is None else f"{float(bound):.4g}"


def _notes(entry: Entry) -> list[str]:
    one, notes = entry.one, []
    if (one.hops, one.time) != (one.reverse_hops, one.reverse_time):
        notes.append(
            f"      its reduce-scatter: T_L {one.reverse_hops}, T_B {float(one.reverse_time):.4f}"
        )
    if entry.rate is not None:
        low, high = entry.rate.attained, float(entry.rate.bound)
        rate = f"{low:.4g}" if high - low < 1e-9 * high else f"{low:.4g} to {high:.4g}"
        notes.append(f"      all-to-all: {rate} of a link for each pair of GPUs")
    return notes


def _failure_in_words(failure: dict[str, Any]) -> str:
    if "not_known" in failure:
        return f"worst dead link not known: {failure['not_known']}"
    if not failure["connected"]:
        return f"without {failure['link']} some GPU cannot be reached"
    return (
        f"worst dead link {failure['link']}: T_L {failure['hops']}, T_B "
        f"{float(failure['t_b']):.4f}; at least {float(failure['optimal_t_b']):.4f} with any "
        f"schedule"
    )


def _in_words(demand: Demand) -> str:
    from forestcoll.problem.sizes import size_text

    parts = []
    for collective, workload in demand.items():
        sizes = ", ".join(
            size_text(size) + ("" if count == 1 else f" {float(count):g} times")
            for size, count in workload.sizes
        )
        parts.append(f"{collective} of {sizes}")
    return " and ".join(parts)


def _us(seconds: Fraction) -> str:
    return f"{float(seconds * 10**6):.1f}"


def _write(
    chosen: Entry, found: Answer, output: Path | None, schedule: Path | None, picture: Path | None
) -> None:
    from baselines.topology_finder.building import built, network_of
    from baselines.topology_finder.workload import GATHERINGS
    from forestcoll.schedule import write_schedule
    from forestcoll.topology import write_topology

    if output is not None:
        write_topology(network_of(chosen.one, chosen.fabric), output)
    if schedule is not None:
        collective = next(name for name in found.demand if name in GATHERINGS)
        write_schedule(built(chosen.one, collective, chosen.fabric), schedule)
    if picture is not None:
        from experiments.advice.finding.front_figure import front_figure
        from experiments.figures.matplotlib_renderer import save

        save(front_figure(found), picture)
