"""Plotly.js renderer of figure panels: traces, axes, heights.

Traces have no colours: the page has two sets, and gives each trace the colour of its legend entry.
Notes are not drawn either: the page lists every point without a result below its figures. Heat maps
and breakdowns appear only in files.
"""

from __future__ import annotations

import html
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from experiments.figures.figure import FAILURES, Axis, Bar, Failure, Figure, Panel, Series, Style
from experiments.figures.panels import size_ticks, with_room

__all__ = ["LINES", "SYMBOLS", "Entry", "Plot", "Trace", "render", "template"]

Json = dict[str, Any]

SYMBOLS = {
    "o": "circle",
    "s": "square",
    "^": "triangle-up",
    "v": "triangle-down",
    "D": "diamond",
    "d": "diamond-tall",
    "P": "cross",
    "X": "x",
    "*": "star",
    "H": "hexagon",
    "8": "octagon",
    "p": "pentagon",
    "x": "x-thin-open",
    "|": "line-ns-open",
    "_": "line-ew-open",
}
"""Markers of matplotlib as plotly.js names them."""

_FILLINGS = {"full": "", "none": "-open", "left": "-dot", "bottom": "-open-dot"}
"""A half-filled marker, which plotly.js lacks, becomes a dot."""

LINES = {"-": "solid", "--": "dash", "-.": "dashdot", ":": "dot"}

_PIXELS = 4 / 3
"""Of a point."""

_HEIGHT, _AROUND = 292, 74
"""Pixels of a panel, and of what stands above and below in it: see :func:`template`."""

_LANE = 15
"""Pixels of the failure marks of one method, above a panel."""

_BAR = 40
"""Pixels of a bar and its name."""

_NAME = 46
"""Limit of letters of a name above a bar; the hover text has the rest."""

_MOST_LABELS = 18
"""Limit of labelled markers in a panel; above it, only the hover text has labels."""

_SIDES = (
    "middle left", "middle right", "top center", "bottom center",
    "top left", "bottom right", "top right", "bottom left",
)  # fmt: skip
"""Where failure marks at one place stand, in this order."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of the legend, which switches and colours all its traces."""

    name: str
    style: Style


@dataclass(frozen=True, slots=True)
class Trace:
    """A trace, and the entry of the legend that it belongs to."""

    entry: Entry
    data: Json


@dataclass(frozen=True, slots=True)
class Plot:
    """A panel for plotly.js: traces in the order of drawing, a layout, a height in pixels."""

    title: str
    traces: tuple[Trace, ...]
    layout: Json
    height: int


def render(figure: Figure) -> list[Plot]:
    """Return the panels of a figure that are not empty."""
    panels = [panel for panel in figure.panels if not panel.empty]
    together = [y for panel in panels for y in panel.heights()]
    shared = replace(figure, panels=tuple(panels)).shares_ordinate
    lanes = max((len(_above(panel)) for panel in panels), default=0)  # so that all are in line
    return [
        _bars(panel)
        if panel.y.names
        else _lines(panel, together if shared else list(panel.heights()), lanes)
        for panel in panels
        if panel.bars or not panel.y.names
    ]


def template(*, dark: bool) -> Json:
    """Return the settings of all panels, on a light ground or a dark one."""
    ink, faint, edge = (
        ("#e6e9ed", "#2c333a", "#5a6470") if dark else ("#1d2126", "#e4e7eb", "#9aa3ad")
    )
    axis = {
        "gridcolor": faint, "linecolor": edge, "zerolinecolor": edge, "automargin": True,
        "showline": True, "ticks": "outside", "ticklen": 3, "tickcolor": edge, "tickformat": "~g",
        "title": {"standoff": 8, "font": {"size": 12}},
    }  # fmt: skip
    font = "system-ui, 'Segoe UI', 'Liberation Sans', sans-serif"
    layout = {
        "xaxis": {**axis, "zeroline": False}, "yaxis": axis, "autosize": True,
        "margin": {"l": 46, "r": 14, "t": 26, "b": 44},
        "paper_bgcolor": "rgba(0,0,0,0)", "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": font, "size": 11.5, "color": ink}, "hovermode": "closest",
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": edge, "activecolor": ink},
        "showlegend": False,
    }  # fmt: skip
    return {"layout": layout}


def _lines(panel: Panel, heights: Sequence[float], lanes: int) -> Plot:
    methods = [series for series in panel.series if series.style.role == "method"]
    labels = sum(bool(point.label) for one in methods for point in one.points) <= _MOST_LABELS
    limits, bounds, others = (
        [one for one in panel.series if one.style.role in roles]
        for roles in (("limit",), ("bound",), ("published", "front"))
    )
    traces = [_series(one, labels=labels) for one in (*bounds, *limits)]
    traces += _at_limits(panel)
    traces += [_series(one, labels=labels) for one in reversed(methods)]  # the first lies on top
    for lane, its in enumerate(_above(panel)):
        places = [(one.x or 0.0, float(lane)) for one in its]
        traces.append(Trace(_entry(its[0]), {**_letters(its, places), "yaxis": "y2"}))
    traces += [_series(one, labels=labels) for one in others]
    layout: Json = {"xaxis": _axis(panel.x, panel.x.places), "yaxis": _axis(panel.y, heights)}
    if not lanes:
        return Plot(panel.title, tuple(traces), layout, _HEIGHT)
    room = _LANE * lanes + 8
    height = _HEIGHT + room
    share = room / (height - _AROUND)
    layout["yaxis"]["domain"] = [0, 1 - share]
    layout["yaxis2"] = {
        "domain": [1 - share + 8 / (height - _AROUND), 1], "range": [lanes - 0.5, -0.5],
        "visible": False, "fixedrange": True,
    }  # fmt: skip
    return Plot(panel.title, tuple(traces), layout, height)


def _entry(one: Series | Failure) -> Entry:
    return Entry(one.name, one.style)


def _scatter(mode: str, places: Iterable[tuple[float, float]], texts: Iterable[str]) -> Json:
    """Return a trace; the page shows the texts itself, as panels are small."""
    across, up = zip(*places, strict=True)
    return {
        "type": "scatter", "mode": mode, "x": list(across), "y": list(up),
        "customdata": list(texts), "hoverinfo": "none",
    }  # fmt: skip


def _series(series: Series, *, labels: bool) -> Trace:
    style, points = series.style, series.points
    dash = LINES.get(style.line, "")
    mode = "lines+markers" if style.marker and dash else "markers" if style.marker else "lines"
    trace = _scatter(mode, ((p.x, p.y) for p in points), (p.text for p in points))
    if style.marker:
        size = 12.0 if style.role == "published" else 1.25 * style.size
        symbol = SYMBOLS[style.marker] + _FILLINGS[style.fill]
        trace["marker"] = {"symbol": symbol, "size": size, "line": {"width": 1.2}}
    if style.role == "bound":
        trace |= {"line": {"width": 7}, "opacity": 0.35}
    elif style.role == "limit":
        trace["line"] = {"width": 1.2, "dash": "dash"}
    elif dash:
        trace["line"] = {"dash": dash, "width": _PIXELS * series.width}
    if labels and any(point.label for point in points):
        texts = {"text": [p.label for p in points], "textposition": "top center"}
        trace |= {**texts, "mode": f"{mode}+text", "cliponaxis": False}
    return Trace(_entry(series), trace)


def _letters(failures: Sequence[Failure], places: Iterable[tuple[float, float]]) -> Json:
    trace = _scatter("text", places, (one.text for one in failures))
    letters = [f"<b>{FAILURES[one.status][0]}</b>" for one in failures]
    return {**trace, "text": letters, "textfont": {"size": 12}, "cliponaxis": False}


def _by_name(failures: Iterable[Failure]) -> list[list[Failure]]:
    found: dict[str, list[Failure]] = {}
    for one in failures:
        found.setdefault(one.name, []).append(one)
    return list(found.values())


def _above(panel: Panel) -> list[list[Failure]]:
    """Return the failures above a panel, those of each method in a lane of its own.

    Those without a place are not drawn: the page lists every point without a result.
    """
    return _by_name(one for one in panel.failures if one.y is None and one.x is not None)


def _at_limits(panel: Panel) -> Iterator[Trace]:
    """Yield failures at their limits; where there are several, each has a side of its own."""
    late = [one for one in panel.failures if one.x is not None and one.y is not None]
    crowds = Counter((one.x, one.y) for one in late)
    taken = Counter[tuple[float | None, float | None]]()
    for its in _by_name(late):
        trace = _letters(its, [(one.x or 0.0, one.y or 0.0) for one in its])
        sides = []
        for i, one in enumerate(its):
            place = (one.x, one.y)
            alone = crowds[place] == 1
            sides.append("middle center" if alone else _SIDES[taken[place] % len(_SIDES)])
            taken[place] += 1
            if not alone:
                trace["text"][i] = f"\u2006{trace['text'][i]}\u2006"  # or two touch
        yield Trace(_entry(its[0]), {**trace, "textposition": sides})


def _axis(axis: Axis, values: Iterable[float]) -> Json:
    """Return an axis that shows some values: doublings, decades, or from zero."""
    made: Json = {"title": {"text": axis.label}}
    above = sorted({value for value in values if value > 0})
    if axis.scale in ("doubling", "bytes") and above:
        ticks = with_room(above, most=6)
        texts = size_ticks(ticks)[0] if axis.scale == "bytes" else [f"{tick:g}" for tick in ticks]
        made |= {"tickangle": 0, "tickvals": ticks, "ticktext": texts}
        return {**made, "type": "log", "range": _decades(above, 0.04, 0.03)}
    if axis.scale == "log" and above:
        low, high = _decades(above, 0.06, 0.08)
        steps = {"dtick": 1} if high - low > 1.66 else {}
        return {**made, "type": "log", "range": [low, high], **steps}
    if axis.margin:
        return made  # plotly.js sees to it
    return {**made, "range": [0, 1.07 * max(above, default=1.0)]}


def _decades(values: Sequence[float], share: float, least: float) -> list[float]:
    low, high = math.log10(values[0]), math.log10(values[-1])
    pad = max(share * (high - low), least)
    return [low - pad, high + pad]


def _bars(panel: Panel) -> Plot:
    """Return a panel of bars, with names above them: these are long, and a telephone is narrow."""
    lost = [one for one in panel.failures if one.x is None and one.y is not None]
    places = sorted({round(bar.place) for bar in panel.bars} | {round(one.y or 0) for one in lost})
    across = _abscissa(panel)
    start = 10 ** across["range"][0] if across.get("type") == "log" else 0.0
    ends = (-0.6, len(places) - 0.45)
    traces = [
        Trace(_entry(one), {**_series(one, labels=False).data, "y": list(ends)})
        for one in panel.series
    ]
    for bar in panel.bars:
        name = panel.y.names[round(bar.place)]
        traces.append(_bar(bar, name, places.index(round(bar.place)), start))
    for one in lost:
        trace = _scatter("text", [(start, places.index(round(one.y or 0)) + 0.16)], [one.text])
        words = {"text": [FAILURES[one.status][1]], "textposition": "middle right"}
        traces.append(Trace(_entry(one), {**trace, **words, "textfont": {"size": 12}}))
    names = [_name(panel.y.short_names[place], line) for line, place in enumerate(places)]
    up = {"range": [len(places) - 0.4, -0.65], "visible": False, "fixedrange": True}
    layout = {"xaxis": across, "yaxis": up, "annotations": names, "margin": {"l": 12}}
    return Plot(panel.title, tuple(traces), layout, _AROUND + _BAR * len(places))


def _bar(bar: Bar, name: str, line: int, start: float) -> Trace:
    trace = {
        "type": "bar", "orientation": "h", "x": [bar.length - start], "base": [start],
        "y": [line + 0.16], "width": [0.34], "text": [f"\u2002{bar.length:.4g}"],
        "textposition": "outside", "cliponaxis": False, "customdata": [bar.text],
        "hoverinfo": "none",
    }  # fmt: skip
    return Trace(Entry(name, bar.style), trace)


def _abscissa(panel: Panel) -> Json:
    """Return an axis from zero, or by decades from one of them."""
    lengths = [bar.length for bar in panel.bars]
    title = {"title": {"text": panel.x.label}}
    if panel.x.scale == "log":
        low, high = math.floor(math.log10(min(lengths)) - 0.05), math.log10(max(lengths))
        return {**title, "type": "log", "dtick": 1, "range": [low, high + 0.2 * (high - low)]}
    best = (point.x for one in panel.series for point in one.points)
    return {**title, "range": [0, 1.2 * max([*lengths, *best], default=1.0)], "nticks": 6}


def _name(text: str, line: int) -> Json:
    """Return the name above a bar; plotly.js reads a little HTML in it, so it is escaped."""
    short = text if len(text) <= _NAME else f"{text[: _NAME - 1]}…"
    return {
        "text": html.escape(short, quote=False), "showarrow": False,
        "xref": "paper", "x": 0, "xanchor": "left", "align": "left",
        "yref": "y", "y": line, "yanchor": "middle", "yshift": 9,
    }  # fmt: skip
