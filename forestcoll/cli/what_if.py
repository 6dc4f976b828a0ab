"""``forestcoll whatif``: the cost of single failures and the gain from faster links."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer

from forestcoll.cli.changed import NewLinks, Scale, Without, changed_network
from forestcoll.cli.facts import as_json
from forestcoll.cli.options import (
    MOST,
    CollectiveName,
    Group,
    Idle,
    Json,
    Root,
    Spec,
    idle_fact,
    idle_of,
    idle_words,
    in_group,
    root_of,
)
from forestcoll.cli.output import expect_drawable, progress_bars
from forestcoll.topology.describe import counted, decimal
from forestcoll.topology.numbers import exact_text
from forestcoll.what_if.single_changes import Outcome, failures, upgrades
from forestcoll.what_if.symmetric_parts import PartKind, counted_parts
from forestcoll.what_if.tightest_cuts import TightCut, tightest_cuts

__all__ = ["what_if"]

_SHOWN = 3


def what_if(
    spec: Spec,
    collective: CollectiveName = "allgather",
    root: Root = None,
    members: Group = None,
    idle: Idle = None,
    without: Without = None,
    scale: Scale = None,
    links: NewLinks = None,
    factor: Annotated[
        str, typer.Option("--factor", help="Factor of the bandwidths in upgrades.")
    ] = "2",
    cuts: Annotated[
        int, typer.Option("--cuts", min=1, max=MOST, help="Number of cuts to list.")
    ] = 3,
    rows: Annotated[int, typer.Option("--rows", min=1, max=MOST, help="Lines of each list.")] = 12,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="A figure, .png, .pdf or .svg."),
    ] = None,
    json_: Json = False,
) -> None:
    """Rank single failures by their cost and faster links by their gain, exactly."""
    expect_drawable(output)
    network = changed_network(spec, without, scale, links)
    topology = in_group(network, members, idle)
    at = root_of(topology, root)
    with progress_bars() as bars:
        failing = failures(
            topology, collective, root=at, progress=lambda *done: bars("failures", *done)
        )
        better = upgrades(
            topology,
            collective,
            factor=factor,
            root=at,
            progress=lambda *done: bars("upgrades", *done),
        )
        tight = tightest_cuts(
            topology, collective, count=cuts, root=at, progress=lambda *done: bars("cuts", *done)
        )
    if output is not None:
        from forestcoll.draw import draw_outcomes, save_figure

        save_figure(draw_outcomes(failing, better), output)
    before = failing[0].before
    if json_:
        facts = {
            "topology": topology.name,
            **idle_fact(members, idle),
            "collective": before.collective,
            "algbw_gb_s": before.algbw_gb_s,
            "failures": list(map(_entry, failing)),
            "upgrades": list(map(_entry, better)),
            "tightest_cuts": [{"copies": one.copies, "cut": one.cut} for one in tight],
            "file": output,
        }
        typer.echo(as_json(facts))
        return
    words = idle_words(idle_of(members, idle))
    typer.echo(f"{topology.name}, {before.collective}{words}: {decimal(before.algbw_gb_s)} GB/s")
    for title, lines in _lists(failing, better, tight):
        typer.echo(f"\n{title}")
        for line in [*lines[:rows], *_more(lines, rows)]:
            typer.echo(f"  {line}")


def _lists(
    failing: Sequence[Outcome], better: Sequence[Outcome], tight: Sequence[TightCut]
) -> Iterator[tuple[str, list[str]]]:
    """Yield each list for people, with its title."""
    before = failing[0].before
    binding = before.what_binds() if before.prices else []
    if binding:
        yield "What binds", list(binding)
    yield "If one fails", _lines(failing)
    yield f"If one, or all alike, were {_times(better)} times as fast", _upgrades(better)
    # With prices the optimum is below every single cut, so the first one does not bind.
    first = "The tightest cuts" if binding else "The tightest cuts; the first binds"
    yield first, list(map(_cut, tight))


def _times(outcomes: Sequence[Outcome]) -> str:
    return exact_text(outcomes[0].factor) if outcomes else ""


def _more(lines: Sequence[str], rows: int) -> list[str]:
    return [f"and {counted(len(lines) - rows, 'line')} more: --rows"] if len(lines) > rows else []


def _lines(outcomes: Iterable[Outcome]) -> list[str]:
    """Return a line for each group of outcomes with the same effect."""

    def effect(one: Outcome) -> tuple[Fraction, bool, PartKind]:
        return one.gain, one.every, one.parts.kind

    return [f"{_numbers(group[0])}  {_in_words(group)}" for group in _gathered(outcomes, effect)]


def _upgrades(outcomes: Sequence[Outcome]) -> list[str]:
    """Return a line for each upgrade that raises the rate, and one for all others."""
    lines = _lines(one for one in outcomes if one.gain > 0)
    idle = [one for one in outcomes if one.gain <= 0]
    for every, what in ((False, "any one of"), (True, "all alike of")):
        parts = [one.parts for one in idle if one.every == every]
        kinds = ((kind, sum(len(p.names) for p in parts if p.kind is kind)) for kind in PartKind)
        counts = " or ".join(counted_parts(kind, number) for kind, number in kinds if number)
        if counts:
            lines.append(f"{'nothing':>9}  {'':8}  {what} {counts}")
    return lines


def _gathered(
    outcomes: Iterable[Outcome], key: Callable[[Outcome], Any]
) -> Iterator[list[Outcome]]:
    groups: dict[Any, list[Outcome]] = {}
    for one in outcomes:
        groups.setdefault(key(one), []).append(one)
    yield from groups.values()


def _in_words(group: Sequence[Outcome]) -> str:
    first, *others = group
    if not others:
        return first.parts.in_words(every=first.every)
    if first.every:
        return "; or ".join(one.parts.in_words(every=True) for one in group)
    number = counted_parts(first.parts.kind, sum(len(one.parts.names) for one in group))
    shown = ", ".join(one.parts.names[0] for one in group[:_SHOWN])
    return f"any of {number}, such as {shown}"


def _numbers(one: Outcome) -> str:
    after = one.algbw_gb_s
    if after is None:
        return f"{'stops':>9}  {'':8}"
    return f"{decimal(after):>9}  {float(100 * one.gain):+7.2f}%"


def _cut(one: TightCut) -> str:
    times = "many like" if one.copies is None else f"{one.copies} x"
    return f"{decimal(one.cut.algbw_gb_s):>9}  {times:>8}  {one.cut.in_words()}"


def _entry(one: Outcome) -> dict[str, Any]:
    best = one.optimum
    return {
        "kind": str(one.parts.kind),
        "in_words": one.parts.in_words(every=one.every),
        "parts": list(one.parts.names),
        "all_at_once": one.every,
        "factor": one.factor,
        "algbw_gb_s": one.algbw_gb_s,
        "gain": one.gain,
        "bottleneck_cut": None if best is None or best.prices else best.bottleneck,
        "what_binds": None if best is None or not best.prices else best.what_binds(),
        "reason": one.reason or None,
    }
