"""Lines: a column against the number of GPUs or the size of the data, from rows alone.

There is a panel for each cluster (or topology) and a colour for each method. Repetitions are shown
by their median. A point that gave no result is a letter, not a gap: at its limit where time is
drawn, above the panel elsewhere, in a note where a panel has no place for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments import published
from experiments.config.kinds import AXES
from experiments.measures.declared import BOUNDED, DRAWN
from experiments.plots.drawing import from_zero, gpu_axis, label_left, size_axis
from experiments.plots.looks import Look
from experiments.plots.losses import (
    INK,
    lost_in_words,
    lost_places,
    never_done,
    notes,
    partly_done,
    strip_above,
)
from experiments.plots.panels import Palette, cluster_panels, palette_of, topology_panels
from experiments.published import Mark
from experiments.results.columns import failed_places, medians, medians_along
from experiments.results.rows import Row, Status
from forestcoll.errors import InvalidExperimentError

__all__ = ["lines", "lines_by_parameter", "lines_by_size"]


def lines(rows: Sequence[Row], y: str) -> Figure:
    """Draw a column against the number of GPUs; any algbw under the optimum."""
    palette = palette_of(rows)
    figure, panel_of = cluster_panels(rows, y)
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
        _published(axes, cluster, sizes, published.marks(y, {row.collective for row in here}))
    if DRAWN[y].better == "more":
        from_zero(figure.axes)
    if raised:
        strip_above(figure.axes)
    _name_the_rest(figure.axes[0], rows, palette)
    label_left(figure.axes, DRAWN[y].axis)
    return figure


def lines_by_size(rows: Sequence[Row], x: str, y: str) -> Figure:
    """Draw a column against the size of the data, a panel for each topology."""
    palette = palette_of(rows)
    figure, panel_of = topology_panels(rows, y)
    for topology, axes in panel_of.items():
        here = [row for row in rows if row.topology == topology]
        for series, its_look in palette.items():
            values = medians((row for row in here if row.series == series), y, along=x)
            if values:
                axes.plot(list(values), list(values.values()), label=series, **its_look)
        size_axis(axes, [row.size_bytes for row in here if row.size_bytes], AXES[x])
        if DRAWN[y].logarithmic:
            axes.set_yscale("log")
    told = partly_done(rows)
    notes(figure.axes, [lost_in_words(told, palette, topology=name) for name in panel_of])
    _name_the_rest(figure.axes[0], rows, palette)
    label_left(figure.axes, DRAWN[y].axis)
    return figure


def lines_by_parameter(rows: Sequence[Row], x: str, y: str) -> Figure:
    """Draw a column against a parameter of the methods, a panel for each topology.

    A method is a line for each choice of its other parameters.

    Raises
    ------
    InvalidExperimentError
        If some value of the parameter is not a number.
    """
    others = [_without(row, x) for row in rows]
    shown = [other for other, value in others if value is not None]
    palette = palette_of(shown)
    figure, panel_of = topology_panels(rows, y)
    for topology, axes in panel_of.items():
        here = [(row, value) for row, value in others if row.topology == topology]
        for series, its_look in palette.items():
            its = [(row, value) for row, value in here if row.series == series]
            values = medians_along(its, y)
            if values:
                axes.plot(list(values), list(values.values()), label=series, **its_look)
        places = [value for _, value in here if value is not None]
        if x in AXES:
            size_axis(axes, [round(place) for place in places], AXES[x])
        else:
            axes.set_xlabel(x, parse_math=False)
        if DRAWN[y].logarithmic:
            axes.set_yscale("log")
    told = partly_done(shown)
    notes(figure.axes, [lost_in_words(told, palette, topology=name) for name in panel_of])
    _name_the_rest(figure.axes[0], shown, palette)
    label_left(figure.axes, DRAWN[y].axis)
    return figure


def _without(row: Row, parameter: str) -> tuple[Row, float | None]:
    """Return a row without a parameter of its method, and the parameter's value, if it has one."""
    value = row.parameters.get(parameter)
    if value is None:
        return row, None
    if isinstance(value, str):
        raise InvalidExperimentError(
            f"{row.method}: {parameter} is {value!r}; only a number can be along an axis"
        )
    left = {name: other for name, other in row.parameters.items() if name != parameter}
    return replace(row, parameters=left), float(value)


def _name_the_rest(axes: Axes, rows: Sequence[Row], palette: Palette) -> None:
    """Enter methods without any result into the legend, and what became of them."""
    for series, words in never_done(rows, palette).items():
        axes.plot([], [], label=words, **palette[series])


def _optimum(axes: Axes, rows: Sequence[Row]) -> None:
    best = {row.gpus: row.optimum_gb_s for row in rows if row.gpus and row.optimum_gb_s}
    sizes = sorted(best)
    axes.plot(sizes, [best[n] for n in sizes], color=INK, lw=4, alpha=0.25, label="optimum")


def _published(axes: Axes, cluster: str, sizes: Sequence[int], marks: Sequence[Mark]) -> None:
    """Add published values for the sizes that the rows span.

    What is derived follows a formula of the size, so that between two sizes it would lie off the
    straight line of the optimum: it stands at the sizes of the rows.
    """
    if not sizes:
        return
    for position, name in enumerate(dict.fromkeys(mark.label for mark in marks)):
        places = [
            (mark.gpus, mark.value)
            for mark in marks
            if (mark.cluster, mark.label) == (cluster, name)
            and (mark.gpus in sizes if mark.derived else min(sizes) <= mark.gpus <= max(sizes))
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
        marks = [(row.status, palette[row.series]["color"]) for row in lost]
        lost_places(axes, size, height, marks)
    for edge in {height for _size, height in at if height is not None}:
        axes.axhline(edge, color=INK, lw=0.8, ls=(0, (4, 3)), zorder=1, label="limit")
    return any(height is None for _size, height in at)
