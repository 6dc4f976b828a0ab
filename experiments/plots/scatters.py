"""Scatters and Pareto fronts: one column against another, from rows alone.

There is a panel for each cluster (or topology) and a colour for each method. Repetitions are shown
by their median. A point that gave no result is a note above its panel, not a gap.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.measures.declared import DRAWN
from experiments.plots.drawing import INK, Look, label_left, look, notes, panels
from experiments.plots.labels import label
from experiments.plots.panels import cluster_panels, lost_in_words, palette_of
from experiments.results.columns import medians, series_of
from experiments.results.rows import Row

__all__ = ["front", "pareto", "scatter"]

Place = tuple[float, float]


def scatter(rows: Sequence[Row], x: str, y: str) -> Figure:
    """Draw a column against another: a mark for each method and size, sizes joined in order."""
    palette = palette_of(rows)
    figure, panel_of = cluster_panels(rows)
    for cluster, axes in panel_of.items():
        here = [row for row in rows if row.cluster == cluster]
        for series, its_look in palette.items():
            places = _places([row for row in here if row.series == series], x, y)
            if places:
                across, up = zip(*places.values(), strict=True)
                axes.plot(across, up, label=series, **{**its_look, "linewidth": 0.6})
            for size, place in places.items():
                label(axes, str(size), place, INK)
        _scales(axes, x, y)
    notes(figure.axes, [lost_in_words(rows, palette, cluster=name) for name in panel_of])
    label_left(figure.axes, f"{DRAWN[y].axis}; labels: GPUs")
    return figure


def pareto(rows: Sequence[Row], x: str, y: str) -> Figure:
    """Draw a column against another on each topology, with the front of what none beats."""
    methods = list(dict.fromkeys(row.method for row in rows))
    palette = {row.series: look(methods.index(row.method)) for row in rows}
    topologies = list(dict.fromkeys(row.topology for row in rows))
    figure, grid = panels(topologies)
    for method in methods:
        grid[0].plot([], [], label=method, **{**look(methods.index(method)), "linestyle": "none"})
    fronts = []
    for topology, axes in zip(topologies, grid, strict=True):
        here = [row for row in rows if row.topology == topology]
        places = {
            series: place
            for series in series_of(here)
            for place in _places([r for r in here if r.series == series], x, y).values()
        }
        fronts.append(front(places.values(), x, y))
        for series, place in places.items():
            _method, _, parameters = series.partition(" (")
            alpha = 1.0 if place in fronts[-1] else 0.4
            marks = {**palette[series], "linestyle": "none", "alpha": alpha}
            axes.plot(*place, **marks)
            if parameters:
                label(axes, parameters.rstrip(")"), place, INK)
        _scales(axes, x, y)
    for axes, corners in zip(grid, fronts, strict=True):
        _stairs(axes, corners, x, y)
    notes(grid, [lost_in_words(rows, palette, topology=name) for name in topologies])
    label_left(grid, DRAWN[y].axis)
    return figure


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


def _places(rows: Sequence[Row], x: str, y: str) -> dict[int, Place]:
    """Return where a method stands, by number of GPUs."""
    across, up = medians(rows, x), medians(rows, y)
    return {size: (across[size], up[size]) for size in across if size in up}


def _scales(axes: Axes, x: str, y: str) -> None:
    if DRAWN[x].logarithmic:
        axes.set_xscale("log")
    if DRAWN[y].logarithmic:
        axes.set_yscale("log")
    axes.set_xlabel(DRAWN[x].axis)
    axes.margins(x=0.15, y=0.15)


def _stairs(axes: Axes, corners: Sequence[Place], x: str, y: str) -> None:
    """Draw the edge of what the places on the front beat, from side to side of the panel."""
    if not corners:
        return
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    worst = top if DRAWN[y].better == "less" else bottom
    across, up = map(list, zip(*corners, strict=True))
    line: Look = {"color": INK, "lw": 1, "alpha": 0.5, "zorder": 1, "label": "Pareto front"}
    if DRAWN[x].better == "more":
        axes.step([left, *across, across[-1]], [up[0], *up, worst], where="pre", **line)
    else:
        axes.step([across[0], *across, right], [worst, *up, up[-1]], where="post", **line)
    axes.set_xlim(left, right)
    axes.set_ylim(bottom, top)
