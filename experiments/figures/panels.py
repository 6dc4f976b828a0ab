"""Common parts of all panels: titles, axes, lines of methods, published values."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence

from experiments import published
from experiments.config.kinds import AXES
from experiments.figures import hover
from experiments.figures.figure import INK, Axis, Point, Series, Style
from experiments.figures.styles import OPTIMUM, Palette
from experiments.measures.declared import BOUNDED, DRAWN
from experiments.results.row_groups import grouped, medians_along
from experiments.results.rows import Row
from forestcoll.problem.sizes import size_text

__all__ = [
    "Placed", "cluster_title", "gpu_axis", "grouped", "methods", "optimal_time",
    "optimum", "ordinate",
    "published_by_gpus", "published_by_size", "size_ticks", "with_room", "wrapped",
]  # fmt: skip

CLUSTERS: Mapping[str, str] = {
    "dgx_a100": "NVIDIA DGX A100",
    "dgx_h100": "NVIDIA DGX H100",
    "mi250": "AMD MI250",
}
"""Titles of panels for families whose usual name differs."""

_LONG = 6
"""Letters of a size in units of 2^10 from which decimal units are shorter."""

_DECIMAL = ("", "k", "M", "G", "T")
"""Units of sizes that are no multiples of powers of two: thousands, millions and so on."""

_STARS = "*dp"
"""Markers of published values without a method in the figure, in order of use."""

Placed = tuple[Row, float]
"""A row, and its place along the abscissa."""


def cluster_title(name: str) -> str:
    """Return a cluster's usual name."""
    family, space, changes = name.partition(" ")
    family, colon, options = family.partition(":")
    title = f"{CLUSTERS.get(family, family)}{', ' if colon else ''}{options}"
    return f"{title}{space}{changes}"


def gpu_axis(rows: Iterable[Row]) -> Axis:
    """Return an abscissa of the numbers of GPUs of some rows."""
    return Axis(AXES["gpus"], "doubling", tuple(row.gpus for row in rows if row.gpus))


def ordinate(y: str, label: str = "") -> Axis:
    """Return the ordinate of a column, logarithmic if its values span decades."""
    measure = DRAWN[y]
    scale = "log" if measure.logarithmic else "even"
    zero = measure.better == "more"
    return Axis(label or measure.axis, scale, from_zero=zero, better=measure.better)  # type: ignore[arg-type]


def methods(
    rows: Iterable[Placed], y: str, palette: Palette, *, width: float = 1.5
) -> Iterator[Series]:
    """Yield the line of each method that has any value: medians of the repetitions, by place."""
    at: dict[str, dict[float, list[Row]]] = {}
    for row, place in rows:
        at.setdefault(row.series, {}).setdefault(place, []).append(row)
    for name, style in palette.items():
        its = at.get(name, {})
        values = medians_along(((row, x) for x, same in its.items() for row in same), y)
        points = (Point(x, value, hover.of_runs(its[x])) for x, value in values.items())
        if values:
            yield Series(name, style, tuple(points), width)


def optimum(rows: Iterable[Placed], y: str) -> Iterator[Series]:
    """Yield the band that nothing is better than, of rates, T_B or steps; none for others."""
    best: dict[float, tuple[float, Row]] = {}
    for row, place in rows:
        value = _best_of(row, y)
        if place and value:
            best[place] = value, row
    points = []
    for place in sorted(best):
        value, row = best[place]
        text = hover.of_bound("optimum", value, y, f"{row.gpus} GPUs", row.optimum_by or "")
        points.append(Point(place, value, text))
    if points:
        yield Series("diameter" if y == "steps" else "optimum", OPTIMUM, tuple(points), 4, 0.25)


def _best_of(row: Row, y: str) -> float | None:
    if y == "steps":  # breadth-first broadcasts take as many steps as the diameter has hops
        return row.steps if row.method == "bfb" else None
    if y == "bandwidth_runtime":
        return optimal_time(row)
    return row.optimum_gb_s if y in BOUNDED else None


def optimal_time(row: Row) -> float | None:
    """Return the least T_B on a row's network: T_B is to it as the optimum to the rate in steps."""
    time, rate, best = row.bandwidth_runtime, row.algbw_synchronous_gb_s, row.optimum_gb_s
    return time * rate / best if time and rate and best else None


def published_by_gpus(cluster: str, rows: Sequence[Row], y: str) -> Iterator[Series]:
    """Yield published values for the numbers of GPUs that the rows of a cluster span, by label.

    Derived values follow a formula in the size. Between two sizes they would lie off the straight
    line of the optimum, so they stand only at the sizes of the rows. A label has one marker in all
    panels, even those without a value.
    """
    sizes = {row.gpus for row in rows if row.gpus}
    found: dict[str, list[Point]] = {}
    for mark in published.marks(y, {row.collective for row in rows}):
        points = found.setdefault(mark.label, [])
        within = sizes and min(sizes) <= mark.gpus <= max(sizes)
        here = (mark.cluster, mark.size_bytes) == (cluster, None)
        if here and (mark.gpus in sizes if mark.derived else within):
            points.append(Point(mark.gpus, mark.value, hover.of_mark(mark, y)))
    for position, (label, points) in enumerate(found.items()):
        if points:
            style = Style(INK, "published", _STARS[position % 3], fill="none", size=5.5, order=3)
            yield Series(label, style, tuple(points), width=0.8)


def published_by_size(rows: Sequence[Row], y: str, palette: Palette) -> Iterator[Series]:
    """Yield published values for the sizes of the data of a panel.

    Each is hollow, in the colour and with the marker of the first line of its method.
    """
    places = {(row.cluster, row.gpus, row.size_bytes) for row in rows}
    series = {row.method: row.series for row in reversed(rows)}
    found: dict[tuple[str, str], list[Point]] = {}
    for mark in published.marks(y, {row.collective for row in rows}):
        if mark.size_bytes and (mark.cluster, mark.gpus, mark.size_bytes) in places:
            point = Point(mark.size_bytes, mark.value, hover.of_mark(mark, y))
            found.setdefault((mark.label, mark.method), []).append(point)
    for (label, method), points in found.items():
        own = palette.get(series.get(method, ""), Style(INK, marker="*"))
        style = Style(own.colour, "published", own.marker, fill="none", size=6, order=4)
        yield Series(label, style, tuple(points), width=0.9)


def wrapped(text: str, width: float) -> str:
    """Break a long name or title behind spaces, commas, slashes and hyphens, or anywhere."""
    lines = [""]
    for word in re.split(r"(?<=,)(?! )", text):
        long = " " not in word and len(word) > width
        for part in re.split(r"(?<=[/:(-])", word) if long else [word]:
            first, *others = textwrap.wrap(
                part, max(8, int(width)), break_on_hyphens=False, drop_whitespace=True
            ) or [""]
            if len(lines[-1]) + len(first) > width and lines[-1]:
                lines.append("")
            lines[-1] += first
            lines += others
    return "\n".join(lines)


def with_room(places: Iterable[float], most: int = 10) -> list[float]:
    """Drop places that are too close to others, except the greatest and the least."""
    known = sorted(set(places))
    if not known:
        return []
    first, last = known[0], known[-1]
    room = (last / first) ** (1 / (most - 1))
    kept = [last]
    for place in reversed(known[1:-1]):
        if kept[-1] / place >= room and place / first >= room:
            kept.append(place)
    return sorted({first, *kept})


def size_ticks(places: Sequence[float]) -> tuple[list[str], str]:
    """Return the texts of data sizes, and the unit for the label of their axis.

    All are in units of 2^10, or all in decimal ones of bytes.
    """
    sizes = list(map(round, places))
    texts = list(map(size_text, sizes))
    if all(
        len(text) < _LONG and (text.endswith("B") or size < 1024)
        for text, size in zip(texts, sizes, strict=True)
    ):
        return texts, ""
    return list(map(_decimal, sizes)), " (bytes)"


def _decimal(size: int) -> str:
    """Return a number of bytes with three digits and k, M, G or T for thousands."""
    thousands = min(len(_DECIMAL) - 1, int(math.log10(max(size, 1)) / 3 + 1e-9))
    return f"{size / 1000**thousands:.3g}{_DECIMAL[thousands]}"
