"""Bars: what each method reaches on one cluster, from rows alone.

There is a panel for each topology, and for each collective if rows are of several, with a bar for
each method. Repetitions are shown by their median. A method without a result is a word in the place
of its bar.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from experiments.measures.declared import BOUNDED, DRAWN
from experiments.plots.drawing import panels
from experiments.plots.losses import GLYPHS, INK
from experiments.plots.panels import palette_of
from experiments.results.columns import medians_along, series_of
from experiments.results.rows import Row, Status

__all__ = ["bars", "two_bars"]

_HEIGHT = 0.24
"""Inches of a bar with its space."""

_LETTER = 0.075
"""Inches of a letter of a method's name, on the average."""

_APART = 10.0
"""From so many times the least value on, an axis of what spreads over decades goes by these."""

_OF_ITS_SPACE = 0.8
_PALE = 0.45
"""How the second measure's bars differ: by this share of the colour."""


def bars(rows: Sequence[Row], y: str) -> Figure:
    """Draw a column as a bar for each method; any algbw under the optimum."""
    return _drawn(rows, (y,))


def two_bars(rows: Sequence[Row], y: str, second: str) -> Figure:
    """Draw two columns of one unit as two bars for each method, the second one pale."""
    return _drawn(rows, (y, second))


def _drawn(rows: Sequence[Row], columns: Sequence[str]) -> Figure:
    groups = _by_panel(rows)
    series = series_of(rows)
    colours = {name: look["color"] for name, look in palette_of(rows).items()}
    height = 0.5 + _HEIGHT * max(3, len(series) * len(columns))
    names = _LETTER * max(map(len, series)) / min(len(groups), 4)
    figure, grid = panels(list(groups), size=(2.6 + names, height))
    for axes, here in zip(grid, groups.values(), strict=True):
        for place, name in enumerate(series):
            _bars(axes, place, [row for row in here if row.series == name], columns, colours)
        _scale(axes, here, columns[0])
        best = [row.optimum_gb_s for row in here if row.optimum_gb_s]
        if best and columns[0] in BOUNDED:
            axes.axvline(max(best), color=INK, lw=4, alpha=0.25, label="optimum", zorder=1)
        _axes(axes, series, columns)
    if len(columns) > 1:
        _name_measures(grid[0], columns)
    return figure


def _by_panel(rows: Sequence[Row]) -> dict[str, list[Row]]:
    several = len({row.collective for row in rows}) > 1
    groups: dict[str, list[Row]] = {}
    for row in rows:
        name = f"{row.topology}, {row.collective}" if several else row.topology
        groups.setdefault(name, []).append(row)
    return groups


def _bars(
    axes: Axes,
    place: int,
    rows: Sequence[Row],
    columns: Sequence[str],
    colours: Mapping[str, str],
) -> None:
    """Draw the bars of a method, from the top down, or say what became of it."""
    if not rows:
        return
    colour, thickness = colours[rows[0].series], _OF_ITS_SPACE / len(columns)
    for number, column in enumerate(columns):
        middle = place + thickness * (number - (len(columns) - 1) / 2)
        value = medians_along(((row, 0) for row in rows), column).get(0)
        if value is not None:
            alpha = _PALE if number else 1.0
            axes.barh(middle, value, height=0.9 * thickness, color=colour, alpha=alpha, zorder=2)
            text = f"{value:.4g}" if value >= 1 else f"{value:.2g}"
            _beside(axes, text, (value, middle), "data", INK)
    if all(row.status is not Status.OK for row in rows):
        _beside(axes, GLYPHS[rows[0].status][1], (0, place), "axes fraction", colour)


def _beside(axes: Axes, text: str, place: tuple[float, float], across: str, colour: str) -> None:
    axes.annotate(
        text, place, (3, 0), xycoords=(across, "data"), textcoords="offset points",
        va="center", fontsize=7, color=colour, annotation_clip=False, parse_math=False, zorder=3,
    )  # fmt: skip


def _scale(axes: Axes, rows: Sequence[Row], column: str) -> None:
    """Let the abscissa go by decades, from one of them, where values are far apart."""
    values = [n for row in rows if row.status is Status.OK and (n := getattr(row, column))]
    if DRAWN[column].logarithmic and values and max(values) >= _APART * min(values):
        axes.set_xscale("log")
        axes.set_xlim(10 ** math.floor(math.log10(min(values))), 3 * max(values))
        axes.xaxis.set_minor_formatter(NullFormatter())


def _axes(axes: Axes, series: Sequence[str], columns: Sequence[str]) -> None:
    axes.set_yticks(range(len(series)), list(series), parse_math=False)
    axes.set_ylim(len(series) - 0.5, -0.5)
    axes.margins(x=0.2)  # for the numbers
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)
    measure = DRAWN[columns[0]]
    axes.set_xlabel(measure.axis if len(columns) == 1 else measure.unit, parse_math=False)


def _name_measures(axes: Axes, columns: Sequence[str]) -> None:
    for number, column in enumerate(columns):
        alpha = _PALE if number else 1.0
        axes.scatter([], [], s=60, marker="s", color=INK, alpha=alpha, label=DRAWN[column].label)
