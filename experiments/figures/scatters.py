"""Scatters and Pareto fronts: one column against another, from rows alone.

Colours and markers are those of the methods. Repetitions are shown by their median. A point that
gave no result is a mark or a note above its panel, not a gap.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from experiments.figures import hover
from experiments.figures.failures import legend, lost_in_words
from experiments.figures.figure import (
    INK,
    Axis,
    Failure,
    Figure,
    Panel,
    Point,
    Series,
    Style,
)
from experiments.figures.panels import cluster_title, grouped, ordinate
from experiments.figures.styles import Palette, palette_of, styles_of
from experiments.measures.declared import DRAWN, SHARES
from experiments.results.row_groups import failed_places, medians, scaling_series
from experiments.results.rows import Row, Status

__all__ = ["front", "pareto", "scatter"]

_MARGIN = 0.15

_MOST_SIZES = 4
"""Panels side by side."""

_HEIGHT = 1.35
_MARKER = 5.5

Place = tuple[float, float]


def scatter(rows: Sequence[Row], x: str, y: str, palette: Palette | None = None) -> Figure:
    """Describe a column against another: a row of panels for each cluster, one for each size.

    All panels have the same axes. Of many sizes at most four are shown, the least and the largest
    among them; sizes with results of several methods come first. Points without a result are marks
    above their panel. Where no row has an optimum, algbw replaces the share of it.
    """
    rows = scaling_series(rows)
    palette = palette or palette_of(rows)
    if x in SHARES and not any(getattr(row, x) is not None for row in rows):
        x = "algbw_gb_s"
    clusters = grouped(rows, "cluster")
    sizes = _sizes(clusters.values())
    columns = max(1, *map(len, sizes))
    panels = []
    for (cluster, here), its in zip(clusters.items(), sizes, strict=True):
        for size in its:
            title = f"{cluster_title(cluster)}, {size}\u00a0GPUs"
            panels.append(_of_size(title, here, size, (x, y), palette))
        if not its:
            panels.append(Panel(cluster_title(cluster), *_axes(x, y)))
        panels += [Panel("", Axis(), Axis())] * (columns - max(1, len(its)))
    return Figure(
        _on_one_scale(panels, columns), legend(rows, palette), (2.0, _HEIGHT), columns=columns
    )


def _sizes(clusters: Iterable[Sequence[Row]]) -> list[list[int]]:
    """Return the numbers of GPUs to show for each cluster: the same for all where possible."""
    every = [_compared(rows) for rows in clusters]
    counts = Counter(size for its in every for size in its)
    common = sorted(size for size, count in counts.items() if count == len(every))
    return [_spread(common if len(common) > 1 else its) for its in every]


def _compared(rows: Sequence[Row]) -> list[int]:
    """Return the sizes with a result that several methods tried, or with any result."""
    tried: dict[int, set[str]] = {}
    for row in rows:
        if row.status is not Status.UNSUPPORTED and row.gpus:
            tried.setdefault(row.gpus, set()).add(row.series)
    done = {row.gpus for row in rows if row.status is Status.OK}
    several = [size for size, its in tried.items() if size in done and len(its) > 1]
    return sorted(several or (size for size in tried if size in done))


def _spread(sizes: Sequence[int]) -> list[int]:
    if len(sizes) <= _MOST_SIZES:
        return list(sizes)
    last = len(sizes) - 1
    return [sizes[round(i * last / (_MOST_SIZES - 1))] for i in range(_MOST_SIZES)]


def _of_size(
    title: str, rows: Sequence[Row], size: int, columns: tuple[str, str], palette: Palette
) -> Panel:
    x, y = columns
    scale = 100.0 if x in SHARES else 1.0
    series, lost = [], failed_places(rows)
    done = {row.series for row in rows if row.status is Status.OK}
    marks = []
    for name, style in palette.items():
        its = [row for row in rows if row.series == name and row.gpus == size]
        points = tuple(replace(point, x=scale * point.x, label="") for point in _points(its, x, y))
        if points:
            series.append(Series(name, replace(style, line="", size=_MARKER), points))
        elif name in done and (name, size) in lost:
            row = lost[name, size]
            marks.append(Failure(None, None, row.status, name, style, hover.of_loss(row)))
    along, up = _axes(x, y)
    if x in SHARES:
        along = replace(along, label="share of optimum (%)")
    return Panel(title, along, up, tuple(series), failures=tuple(marks), corner="ideal")


def _on_one_scale(panels: Sequence[Panel], columns: int) -> tuple[Panel, ...]:
    """Give all panels the same ends; only the lowest of a column names the abscissa."""
    points = [point for panel in panels for one in panel.series for point in one.points]
    if not points:
        return tuple(panels)
    decades = [math.log10(point.y) for point in points if point.y > 0] or [0.0]
    up = (10 ** (min(decades) - 0.8), 10 ** (max(decades) + 0.3))
    low, high = min(point.x for point in points), max(point.x for point in points)
    room = max(0.14 * (high - low), 0.04 * high)
    found = []
    for number, panel in enumerate(panels):
        below = any(not one.empty for one in panels[number + columns :: columns])
        x = replace(panel.x, ends=(low - room, high + room), label="" if below else panel.x.label)
        scaled = replace(panel, x=x, y=replace(panel.y, ends=up, scale="log"))
        found.append(panel if panel.empty else scaled)
    return tuple(found)


def pareto(rows: Sequence[Row], x: str, y: str) -> Figure:
    """Describe a column against another on each topology, with the front of what none beats."""
    styles = {name: replace(style, line="") for name, style in
              styles_of(row.method for row in rows).items()}  # fmt: skip
    palette = {row.series: styles[row.method] for row in rows}
    panels = []
    for topology, here in grouped(rows, "topology").items():
        points = {
            name: point
            for name, its in grouped(here, "series").items()
            for point in _points(its, x, y, label=name.partition(" (")[2].rstrip(")"))
        }
        best = front([(point.x, point.y) for point in points.values()], x, y)
        marks = tuple(
            Series("", palette[name], (at,), opacity=1.0 if (at.x, at.y) in best else 0.4)
            for name, at in points.items()
        )
        corners = tuple(Point(*place) for place in best)
        edge = Series("Pareto front", Style(INK, "front", order=1), corners, width=1, opacity=0.5)
        series = (*marks, edge) if best else marks
        notes = lost_in_words(rows, palette, by="method", topology=topology)
        panels.append(Panel(topology, *_axes(x, y), series, notes=notes))
    bare = [replace(row, parameters={}) for row in rows]
    never = {entry.style: entry for entry in legend(bare, styles)}
    entries = (never.get(style, Series(name, style)) for name, style in styles.items())
    return Figure(tuple(panels), tuple(entries))


def front(places: Collection[Place], x: str, y: str) -> list[Place]:
    """Return the places that no other beats in one column without losing in the other.

    Examples
    --------
    >>> front([(100.0, 1.0), (200.0, 2.0), (150.0, 3.0)], "algbw_gb_s", "generation_s")
    [(100.0, 1.0), (200.0, 2.0)]
    """
    signs = [1 if DRAWN[column].better == "less" else -1 for column in (x, y)]
    costs = {place: (signs[0] * place[0], signs[1] * place[1]) for place in places}
    return sorted(
        place
        for place, (a, b) in costs.items()
        if not any(c <= a and d <= b and (c, d) != (a, b) for c, d in costs.values())
    )


def _points(rows: Sequence[Row], x: str, y: str, label: str | None = None) -> Iterator[Point]:
    """Yield where a method stands, by number of GPUs, which is the label if no other is given."""
    across, up = medians(rows, x), medians(rows, y)
    for size in across:
        if size in up:
            text = hover.of_runs([row for row in rows if row.gpus == size])
            yield Point(across[size], up[size], text, str(size) if label is None else label)


def _axes(x: str, y: str) -> tuple[Axis, Axis]:
    along, up = (replace(ordinate(one), from_zero=False, margin=_MARGIN) for one in (x, y))
    return along, up
