"""Scatters and Pareto fronts: one column against another, from rows alone.

There is a panel for each cluster (or topology) and a colour for each method. Repetitions are shown
by their median. A point that gave no result is a note above its panel, not a gap.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.measures.declared import DRAWN
from experiments.plots.drawing import label_left
from experiments.plots.labels import label
from experiments.plots.looks import Look, looks_of
from experiments.plots.losses import INK, lost_in_words, never_done, notes, partly_done
from experiments.plots.panels import cluster_panels, palette_of, topology_panels
from experiments.results.columns import medians, series_of
from experiments.results.growing import grown
from experiments.results.rows import Row

__all__ = ["front", "pareto", "scatter"]

Place = tuple[float, float]


def scatter(rows: Sequence[Row], x: str, y: str) -> Figure:
    """Draw a column against another: a mark for each method and size, sizes joined in order."""
    rows = grown(rows)
    palette = palette_of(rows)
    figure, panel_of = cluster_panels(rows, y)
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
    for series, words in never_done(rows, palette).items():
        figure.axes[0].plot([], [], label=words, **{**palette[series], "linewidth": 0.6})
    told = partly_done(rows)
    notes(figure.axes, [lost_in_words(told, palette, cluster=name) for name in panel_of])
    label_left(figure.axes, f"{DRAWN[y].axis}; labels: GPUs")
    return figure


def pareto(rows: Sequence[Row], x: str, y: str) -> Figure:
    """Draw a column against another on each topology, with the front of what none beats."""
    looks = {
        method: {**look, "linestyle": "none"}
        for method, look in looks_of(row.method for row in rows).items()
    }
    palette = {row.series: looks[row.method] for row in rows}
    figure, panel_of = topology_panels(rows, y)
    _name_methods(figure.axes[0], rows, looks)
    fronts = []
    for topology, axes in panel_of.items():
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
            axes.plot(*place, **palette[series], alpha=alpha)
            if parameters:
                label(axes, parameters.rstrip(")"), place, INK)
        _scales(axes, x, y)
    for axes, corners in zip(figure.axes, fronts, strict=True):
        _stairs(axes, corners, x, y)
    told = partly_done(rows, by="method")
    notes(figure.axes, [lost_in_words(told, palette, topology=name) for name in panel_of])
    label_left(figure.axes, DRAWN[y].axis)
    return figure


def _name_methods(axes: Axes, rows: Sequence[Row], looks: Mapping[str, Look]) -> None:
    """Enter each method into the legend once, with what became of it if it has no result."""
    bare = [replace(row, parameters={}) for row in rows]
    words = never_done(bare, looks)
    for method, look in looks.items():
        axes.plot([], [], label=words.get(method, method), **look)


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
