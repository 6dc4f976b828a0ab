"""Scatters and Pareto fronts: one column against another, from rows alone.

There is a panel for each cluster (or topology) and a colour for each method. Repetitions are shown
by their median. A point that gave no result is a note above its panel, not a gap.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from experiments.figures import hover
from experiments.figures.failures import legend, lost_in_words
from experiments.figures.figure import INK, Axis, Figure, Panel, Point, Series, Style
from experiments.figures.panels import cluster_title, grouped, ordinate
from experiments.figures.styles import Palette, palette_of, styles_of
from experiments.measures.declared import DRAWN
from experiments.results.row_groups import medians, scaling_series
from experiments.results.rows import Row

__all__ = ["front", "pareto", "scatter"]

_MARGIN = 0.15

Place = tuple[float, float]


def scatter(rows: Sequence[Row], x: str, y: str, palette: Palette | None = None) -> Figure:
    """Describe a column against another: a marker for each method and size, joined in order."""
    rows = scaling_series(rows)
    palette = palette or palette_of(rows)
    panels = []
    for cluster, here in grouped(rows, "cluster").items():
        lines = tuple(
            Series(name, palette[name], points, width=0.6)
            for name in palette
            if (points := tuple(_points([row for row in here if row.series == name], x, y)))
        )
        notes = lost_in_words(rows, palette, cluster=cluster)
        along, up = _axes(x, y)
        up = replace(up, paper_label=f"{up.label}; labels: GPUs")
        panels.append(Panel(cluster_title(cluster), along, up, lines, notes=notes))
    return Figure(tuple(panels), legend(rows, palette, width=0.6))


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
