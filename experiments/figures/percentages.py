"""Percentages by which choices differ from one of them, and searches by the number of chunks.

Both are how the TE-CCL paper shows its results: 100 (A - B) / B of a rate, 100 (B - A) / B of a
time, so that more is better.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from experiments.config.points import Value
from experiments.figures import hover
from experiments.figures.failures import legend
from experiments.figures.figure import Axis, Figure, Panel, Point, Series, Style
from experiments.figures.lines import abscissa
from experiments.figures.panels import Placed, methods, ordinate
from experiments.figures.styles import LIMIT, STYLES, Palette, palette_of
from experiments.measures.declared import DRAWN
from experiments.published import printed
from experiments.results.row_groups import medians_along, quantity, swept
from experiments.results.rows import Row

__all__ = ["differences", "lines_by_chunks"]

_FAR = 200.0
"""Percent from which an axis is logarithmic beyond 10 percent."""

_LITTLE = 10.0
"""Percent up to which an axis goes at least."""

_Values = Mapping[float, float]

_TRANSFER = "algbw_makespan_gb_s"

_FOLLOWING = ("size_bytes", "steps", "rounds")
"""Parameters that grow with the chunks."""


def differences(rows: Sequence[Row], x: str, y: str, of: str, base: str) -> Figure:
    """Describe the percentage by which choices are better than one of them, against a parameter.

    Parameters
    ----------
    of : str
        "method", or a parameter of methods. The best choice of the other parameters counts for a
        method; each has a line for a parameter.
    base : str
        The method, or the value of the parameter, from which the others differ.
    """
    placed = [(row, float(value)) for row, value in _swept(rows, x)]
    palette = palette_of(_less(row, of) if of != "method" else row for row, _ in placed)
    found = []
    for topology in dict.fromkeys(row.topology for row in [row for row, _ in placed] or rows):
        here = [(row, place) for row, place in placed if row.topology == topology]
        series = tuple(_lines(here, (y, of, base), palette))
        most = max((abs(point.y) for one in series for point in one.points), default=0.0)
        up = _ordinate(y, _named(of, base), most)
        places = [place for _, place in here]
        zero = tuple(Point(place, 0.0, base) for place in sorted({*places}))
        level = Series(f"{_named(of, base)}: 0 %", LIMIT, zero, width=0.8)
        found.append(Panel(topology, abscissa(x, here), up, (level, *series)))
    return Figure(tuple(found), size=(3.1, 2.2))


def _ordinate(y: str, base: str, most: float) -> Axis:
    more = DRAWN[y].better == "more"
    label = f"{DRAWN[y].label}, {'above' if more else 'below'} {base} (%)"
    ends = (-_LITTLE, _LITTLE) if most < _LITTLE / 2 else None
    return Axis(label, "signed" if most > _FAR else "even", better="more", ends=ends)


def _swept(rows: Sequence[Row], x: str) -> Iterator[tuple[Row, Value]]:
    for row in rows:
        other, value = swept(row, x)
        if value is not None and not isinstance(value, str):
            yield other, value


def _choice(row: Row, of: str) -> str:
    return row.method if of == "method" else str(row.parameters.get(of, ""))


def _less(row: Row, of: str) -> Row:
    return replace(row, parameters={k: v for k, v in row.parameters.items() if k != of})


def _named(of: str, value: str) -> str:
    return value if of == "method" else f"{of}={value}"


def _lines(
    rows: Sequence[Placed], what: tuple[str, str, str], palette: Palette
) -> Iterator[Series]:
    """Yield a line for each choice other than the base, and each kind of the other parameters."""
    y, of, base = what
    kinds: dict[str, dict[str, list[Placed]]] = {}
    for row, place in rows:
        kind = "" if of == "method" else _less(row, of).series
        kinds.setdefault(kind, {}).setdefault(_choice(row, of), []).append((row, place))
    bases = {kind: choices.pop(base) for kind, choices in kinds.items() if base in choices}
    names = dict(zip(kinds, _telling(list(kinds)), strict=True))
    for kind, choices in kinds.items():
        known = _best(bases.get(kind) or next(iter(bases.values()), []), y)
        for number, (choice, its) in enumerate(choices.items()):
            points = tuple(_percentages(_best(its, y), known, y))
            style = STYLES[choice] if of == "method" else _of_choice(palette[kind], number)
            name = choice if of == "method" else f"{_named(of, choice)}{names[kind]}"
            if points:
                yield Series(name, replace(style, size=4.5), points)


def _telling(kinds: Sequence[str]) -> list[str]:
    """Return the parameters of each kind that not all have."""
    given = [kind.partition(" (")[2].rstrip(")").split(", ") for kind in kinds]
    common = set.intersection(*map(set, given)) if given else set()
    return ["".join(f", {one}" for one in its if one and one not in common) for its in given]


def _of_choice(style: Style, number: int) -> Style:
    markers = "os^Dv"
    return replace(style, marker=markers[number % len(markers)])


def _best(rows: Sequence[Placed], y: str) -> _Values:
    """Return the best value at each place, over the choices of parameters."""
    choose = max if DRAWN[y].better == "more" else min
    found: dict[float, float] = {}
    series: dict[str, list[Placed]] = {}
    for row, place in rows:
        series.setdefault(row.series, []).append((row, place))
    for its in series.values():
        for place, value in medians_along(its, y).items():
            found[place] = choose(found.get(place, value), value)
    return found


def _percentages(values: _Values, base: _Values, y: str) -> Iterator[Point]:
    sign = 1.0 if DRAWN[y].better == "more" else -1.0
    for place in sorted(values.keys() & base.keys()):
        percent = sign * 100 * (values[place] - base[place]) / base[place]
        yield Point(place, percent, f"{hover.number(percent)} %")


def lines_by_chunks(rows: Sequence[Row], y: str) -> Figure:
    """Describe transfer or generation time against the number of chunks, with printed values.

    Parameters
    ----------
    y : str
        "algbw_makespan_gb_s" for transfer times, in microseconds, or "generation_s".
    """
    sizes = {row.parameters["chunks"]: row.parameters["size_bytes"] for row in rows
             if {"chunks", "size_bytes"} <= row.parameters.keys()}  # fmt: skip
    placed = []
    for row in rows:
        chunks = quantity(row, "chunks")
        if isinstance(chunks, int):
            size = sizes.get(chunks, next(iter(sizes.values()), 0))
            placed.append((_by_chunks(row, float(size or 0)), float(chunks)))
    palette = palette_of(row for row, _ in placed)
    column = "time_pipelined_s" if y == _TRANSFER else y
    up = ordinate(column, "transfer time (us)" if y == _TRANSFER else "")
    if y == _TRANSFER:
        up = replace(up, scale="even", from_zero=True, better="less")
    found = []
    for topology in dict.fromkeys(row.topology for row in [row for row, _ in placed] or rows):
        here = [(row, place) for row, place in placed if row.topology == topology]
        series = (*methods(here, column, palette), *_printed(here, y))
        found.append(Panel(topology, Axis("chunks", "whole"), up, series))
    return Figure(tuple(found), legend([row for row, _ in placed], palette), size=(3.1, 2.2))


def _by_chunks(row: Row, size: float) -> Row:
    """Return a row without the parameters that grow with the chunks, with its transfer time.

    It is the makespan, or for steps the time of their link loads and a latency for each of them.
    """
    given = {k: v for k, v in row.parameters.items() if k not in ("chunks", *_FOLLOWING)}
    rate = row.algbw_makespan_gb_s or row.algbw_synchronous_gb_s
    latency = quantity(row, "nvlink_latency") or 0.0
    waited = 0.0 if row.algbw_makespan_gb_s else float(latency) * (row.steps or 0)
    taken_us = None if rate is None else size / rate / 1000 + waited
    return replace(row, parameters=given, time_pipelined_s=taken_us)


def _printed(rows: Sequence[Placed], y: str) -> Iterator[Series]:
    """Yield the values that the TE-CCL paper prints for both methods."""
    if not rows:
        return
    first = rows[0][0]
    table = first.experiment.removeprefix("teccl-table").partition("-")[0]
    column = "printed_time_us" if y == _TRANSFER else "printed_solver_s"
    ours = [*printed("teccl_times.csv"), *printed("teccl_epochs.csv")]
    lines = [(f"TE-CCL, printed ({line['epoch']})", "teccl", line) for line in ours
             if line["table"] == table]  # fmt: skip
    lines += [("SCCL, printed", "sccl", line) for line in printed("teccl_peers.csv")
              if line["experiment"] == first.experiment]  # fmt: skip
    found: dict[tuple[str, str], list[Point]] = {}
    for name, method, line in lines:
        same = (line["collective"], line["topology"]) == (first.collective, first.topology)
        if same and line.get(column):
            point = Point(float(line["chunks_of_each"]), float(line[column]), name)
            found.setdefault((name, method), []).append(point)
    for (name, method), points in found.items():
        marker = "*" if "fastest" in name else STYLES[method].marker
        style = replace(
            STYLES[method], role="published", marker=marker, fill="none", size=7.5, order=4
        )
        yield Series(name, style, tuple(sorted(points, key=lambda point: point.x)), width=0.9)
