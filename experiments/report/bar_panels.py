"""Panels of bars: what each method reaches on one network.

As in :mod:`experiments.plots.bars`, but for the names, which stand above the bars: they may be
long, and a telephone is narrow.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from experiments.config.points import series as series_name
from experiments.measures.declared import BOUNDED, DRAWN
from experiments.plots.losses import GLYPHS
from experiments.plots.panels import Palette
from experiments.report import hover
from experiments.report.line_panels import grouped
from experiments.report.signs import band, sign_of
from experiments.report.traces import Panel, Part, bound
from experiments.results.columns import medians_along
from experiments.results.rows import Row, Status

__all__ = ["bars"]

_ROW = 40
"""Pixels of a bar and its name."""

_AROUND = 74
"""Pixels above and below, as in ``assets/report.js``."""

_APART = 10.0
"""From so many times the least value on, an axis of what spreads over decades goes by these."""

_LETTERS = 46
"""Of a name; more are under the mouse."""


def bars(rows: Sequence[Row], y: str, palette: Palette) -> list[Panel]:
    """Return a panel for each topology, and for each collective if rows are of several.

    There is none where nothing has a value; what ended well without one has no bar.
    """
    several = len({row.collective for row in rows}) > 1
    groups: dict[str, list[Row]] = {}
    for row in rows:
        name = f"{row.topology}, {row.collective}" if several else row.topology
        groups.setdefault(name, []).append(row)
    panels = (_panel(name, here, y, palette) for name, here in groups.items())
    return [panel for panel in panels if panel is not None]


def _panel(title: str, here: Sequence[Row], y: str, palette: Palette) -> Panel | None:
    methods = grouped(here, "series")
    values = {
        series: value for series, its in methods.items() if (value := _median(its, y)) is not None
    }
    if not values:
        return None
    axis = _abscissa(list(values.values()), here, y)
    lost = {series for series, its in methods.items() if not any(map(_ended_well, its))}
    shown = [series for series in methods if series in values or series in lost]
    names = _names([methods[series][0] for series in shown])
    parts, notes = [*_optimum(here, y, len(shown))], []
    for place, series in enumerate(shown):
        its = methods[series]
        notes.append(_name(names[series], place))
        if series in values:
            parts.append(_bar(its, place, values[series], axis, palette))
        else:
            parts.append(_word(its[0], place, axis, palette))
    layout = {
        "xaxis": axis,
        "yaxis": {"range": [len(shown) - 0.4, -0.65], "visible": False, "fixedrange": True},
        "annotations": notes,
    }
    return Panel(title, tuple(parts), layout, _AROUND + _ROW * len(shown))


def _ended_well(row: Row) -> bool:
    return row.status is Status.OK


def _median(rows: Sequence[Row], y: str) -> float | None:
    return medians_along(((row, 0) for row in rows), y).get(0)


def _bar(
    its: Sequence[Row], place: int, value: float, axis: Mapping[str, Any], palette: Palette
) -> Part:
    base = _left(axis)
    trace = {
        "type": "bar",
        "orientation": "h",
        "x": [value - base],
        "base": [base],
        "y": [place + 0.16],
        "width": [0.34],
        "text": [f"\u2002{value:.4g}"],  # clear of the optimum
        "textposition": "outside",
        "cliponaxis": False,
        "hovertext": [hover.of_runs(its)],
        "hoverinfo": "none",
    }
    return Part(sign_of(its[0].series, palette), trace)


def _optimum(here: Sequence[Row], y: str, methods: int) -> Iterator[Part]:
    best = [row for row in here if row.optimum_gb_s]
    if best and y in BOUNDED:
        row = max(best, key=lambda row: row.optimum_gb_s or 0)
        rate = row.optimum_gb_s or 0.0
        text = hover.of_bound("optimum", rate, y, row.optimum_by or "")
        yield bound(band("optimum"), [(rate, -0.6, text), (rate, methods - 0.45, text)])


def _abscissa(values: Sequence[float], here: Sequence[Row], y: str) -> dict[str, Any]:
    """Return an axis from zero, or by decades from one of them where values are far apart."""
    axis: dict[str, Any] = {"title": {"text": DRAWN[y].axis}}
    if DRAWN[y].logarithmic and values and max(values) >= _APART * min(values):
        low, high = math.floor(math.log10(min(values)) - 0.05), math.log10(max(values))
        return {**axis, "type": "log", "dtick": 1, "range": [low, high + 0.2 * (high - low)]}
    best = [row.optimum_gb_s for row in here if row.optimum_gb_s and y in BOUNDED]
    return {**axis, "range": [0, 1.2 * max([*values, *best], default=1.0)], "nticks": 6}


def _left(axis: Mapping[str, Any]) -> float:
    """Return where an abscissa begins."""
    return float(10 ** axis["range"][0] if axis.get("type") == "log" else axis["range"][0])


def _word(row: Row, place: int, axis: Mapping[str, Any], palette: Palette) -> Part:
    """Say in the place of a bar what became of it."""
    trace = {
        "type": "scatter",
        "mode": "text",
        "x": [_left(axis)],
        "y": [place + 0.16],
        "text": [GLYPHS[row.status][1]],
        "textposition": "middle right",
        "hovertext": [hover.of_loss(row)],
        "hoverinfo": "none",
    }
    return Part(sign_of(row.series, palette), trace)


def _names(rows: Sequence[Row]) -> dict[str, str]:
    """Name methods without the parameters that are the same in all choices of a method's."""
    names = {}
    for row in rows:
        others = [other.parameters for other in rows if other.method == row.method]
        telling = {
            name: value
            for name, value in row.parameters.items()
            if any(other.get(name) != value for other in others)
        }
        names[row.series] = series_name(row.method, telling if len(others) > 1 else row.parameters)
    return names


def _name(series: str, place: int) -> dict[str, Any]:
    """Return the name above a bar; plotly.js reads a little HTML in it, so it is escaped."""
    short = series if len(series) <= _LETTERS else f"{series[: _LETTERS - 1]}…"
    return {
        "text": html.escape(short, quote=False), "showarrow": False,
        "xref": "paper", "x": 0, "xanchor": "left", "align": "left",
        "yref": "y", "y": place, "yanchor": "middle", "yshift": 9,
    }  # fmt: skip
