"""Lines, scatters and Pareto fronts; each function makes a figure from rows alone.

There is a panel for each cluster (or topology) and a colour for each method. Repetitions are shown
by their median. A point that gave no result is a letter, not a gap: at its limit where time is
drawn, above the panel elsewhere, in a note where a panel has no place for it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments import published
from experiments.measures.declared import BOUNDED, DRAWN
from experiments.plots.drawing import (
    GLYPHS,
    INK,
    Look,
    gpu_axis,
    label_left,
    look,
    loss,
    notes,
    panels,
    strip_above,
)  # fmt: skip
from experiments.plots.labels import label
from experiments.results.columns import failed_places, medians, series_of
from experiments.results.rows import Row, Status

__all__ = ["cluster_title", "front", "lines", "pareto", "scatter"]

CLUSTERS: Mapping[str, str] = {
    "dgx_a100": "NVIDIA DGX A100",
    "dgx_h100": "NVIDIA DGX H100",
    "mi250": "AMD MI250",
}
"""Titles of panels, where the family's own name is not how people call it."""

Place = tuple[float, float]
Palette = Mapping[str, Look]

ONE_WAY = {"allgather", "reduce-scatter"}
"""Collectives with the published optima and times, which are of allgathers."""


def lines(rows: Sequence[Row], y: str) -> Figure:
    """Draw a column against the number of GPUs; any algbw under the optimum."""
    palette = {series: look(position) for position, series in enumerate(series_of(rows))}
    figure, panel_of = _cluster_panels(rows)
    raised = False
    for cluster, axes in panel_of.items():
        here = [row for row in rows if row.cluster == cluster]
        if y in BOUNDED:
            _optimum(axes, here)
        for series, its_look in palette.items():
            values = medians((row for row in here if row.series == series), y)
            if values:
                axes.plot(list(values), list(values.values()), label=series, **its_look)
        if DRAWN[y].logarithmic:
            axes.set_yscale("log")
        raised |= _losses(axes, here, palette, y)
        sizes = [row.gpus for row in here if row.gpus]
        gpu_axis(axes, sizes)
        if {row.collective for row in here} <= ONE_WAY:
            _published(axes, cluster, sizes, y)
    if DRAWN[y].better == "more":
        figure.axes[0].set_ylim(bottom=0)
    if raised:
        strip_above(figure.axes)
    label_left(figure.axes, DRAWN[y].axis)
    return figure


def scatter(rows: Sequence[Row], x: str, y: str) -> Figure:
    """Draw a column against another: a mark for each method and size, sizes joined in order."""
    palette = {series: look(position) for position, series in enumerate(series_of(rows))}
    figure, panel_of = _cluster_panels(rows)
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
    notes(figure.axes, [_in_words(rows, palette, cluster=name) for name in panel_of])
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
    notes(grid, [_in_words(rows, palette, topology=name) for name in topologies])
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


def cluster_title(name: str) -> str:
    """Return a cluster's name as people say it."""
    family, colon, options = name.partition(":")
    return f"{CLUSTERS.get(family, family)}{', ' if colon else ''}{options}"


def _cluster_panels(rows: Sequence[Row]) -> tuple[Figure, dict[str, Axes]]:
    clusters = list(dict.fromkeys(row.cluster for row in rows))
    figure, axes = panels([cluster_title(name) for name in clusters])
    return figure, dict(zip(clusters, axes, strict=True))


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


def _optimum(axes: Axes, rows: Sequence[Row]) -> None:
    best = {row.gpus: row.optimum_gb_s for row in rows if row.gpus and row.optimum_gb_s}
    sizes = sorted(best)
    axes.plot(sizes, [best[n] for n in sizes], color=INK, lw=4, alpha=0.25, label="optimum")


def _published(axes: Axes, cluster: str, sizes: Sequence[int], y: str) -> None:
    """Add published values, which are of allgathers, for the sizes that the rows span."""
    known = {"generation_s": published.generation_times, "algbw_gb_s": published.optima}
    marks = known[y]() if y in known and sizes else []
    for position, name in enumerate(dict.fromkeys(mark.label for mark in marks)):
        places = [
            (mark.gpus, mark.value)
            for mark in marks
            if (mark.cluster, mark.label) == (cluster, name)
            and min(sizes) <= mark.gpus <= max(sizes)
        ]
        if places:
            hollow: Look = {"facecolors": "none", "edgecolors": INK, "linewidths": 1}
            across, up = zip(*places, strict=True)
            axes.scatter(across, up, s=60, marker="*dp"[position % 3], label=name, **hollow)


def _losses(axes: Axes, rows: Sequence[Row], palette: Palette, y: str) -> bool:
    """Put a letter where a method gave no result; return whether any is above the panel."""
    at: dict[tuple[int, float | None], list[Row]] = {}
    for (_series, size), row in failed_places(rows).items():
        limit = DRAWN[y].limit if row.status is Status.TIMEOUT else ""
        if size is not None:
            at.setdefault((size, getattr(row, limit) if limit else None), []).append(row)
    for (size, height), lost in at.items():
        for position, row in enumerate(lost):
            dodge = 7 * (position - (len(lost) - 1) / 2)
            loss(axes, size, height, row.status, palette[row.series]["color"], dodge)
    for edge in {height for _size, height in at if height is not None}:
        axes.axhline(edge, color=INK, lw=0.8, ls=(0, (4, 3)), zorder=1, label="limit")
    return any(height is None for _size, height in at)


def _in_words(rows: Sequence[Row], palette: Palette, **panel: str) -> list[tuple[str, str]]:
    """Say which methods gave no result in a panel, and in which colour to say it."""
    ((column, name),) = panel.items()
    sizes: dict[tuple[str, Status], list[str]] = {}
    for (series, size), row in failed_places(
        [row for row in rows if getattr(row, column) == name]
    ).items():
        sizes.setdefault((series, row.status), []).append("?" if size is None else str(size))
    order = list(palette)
    return [
        (
            f"{series}: {GLYPHS[status][1]}"
            + (f" at {', '.join(where)} GPUs" if column == "cluster" else ""),
            palette[series]["color"],
        )
        for (series, status), where in sorted(sizes.items(), key=lambda o: order.index(o[0][0]))
    ]


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
