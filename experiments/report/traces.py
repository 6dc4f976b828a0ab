"""The parts of a panel as plotly.js takes them: lines, marks, bands, letters, axes.

Colours are not in them: the page has two sets, and gives each trace that of its sign.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from experiments.measures.declared import DRAWN
from experiments.plots.drawing import with_room
from experiments.plots.losses import GLYPHS
from experiments.report.signs import Sign
from experiments.results.rows import Status
from forestcoll.problem.sizes import size_text

__all__ = [
    "Panel", "Part", "bound", "count_axis", "heights", "letters", "line", "marks", "ordinate",
    "ordinates", "side",
]  # fmt: skip

Json = dict[str, Any]
Points = Sequence[tuple[float, float, str]]
"""Along, up, and the text under the mouse."""

_APART = 10.0
"""What is that many times lower than in another panel has an ordinate of its own."""

_ALONE = "middle center"
_AROUND = (
    "middle left", "middle right", "top center", "bottom center",
    "top left", "bottom right", "top right", "bottom left",
)  # fmt: skip
"""Where letters at one place stand, in this order."""


@dataclass(frozen=True, slots=True)
class Part:
    """A trace, and the sign that switches and colours it."""

    sign: Sign
    trace: Json


@dataclass(frozen=True, slots=True)
class Panel:
    """One of the small figures that make a chart.

    Parameters
    ----------
    title : str
    parts : tuple of Part
        In the order in which they are drawn.
    layout : dict
        For plotly.js, less colours and fonts.
    height : int
        In pixels.
    """

    title: str
    parts: tuple[Part, ...]
    layout: Json = field(default_factory=dict)
    height: int = 292


def line(sign: Sign, points: Points, *, width: float = 2.0) -> Part:
    """Return a method's line, with a mark at each point."""
    trace = _scatter("lines+markers" if sign.dash else "markers", points)
    trace["marker"] = sign.marker
    if sign.dash:
        trace["line"] = {"dash": sign.dash, "width": width}
    return Part(sign, trace)


def bound(sign: Sign, points: Points) -> Part:
    """Return a broad line that nothing exceeds, or a thin dashed one that is a limit."""
    trace = _scatter("lines", points)
    if sign.shows == "band":
        return Part(sign, {**trace, "line": {"width": 7}, "opacity": 0.35})
    return Part(sign, {**trace, "line": {"width": 1.2, "dash": "dash"}})


def marks(sign: Sign, points: Points) -> Part:
    """Return published values."""
    return Part(sign, {**_scatter("markers", points), "marker": sign.marker})


def letters(
    sign: Sign, points: Points, statuses: Iterable[Status], sides: Iterable[str] = ()
) -> Part:
    """Return letters where a method has no result.

    Parameters
    ----------
    sign : Sign
    points : sequence
    statuses : iterable of Status
    sides : iterable of str
        Where each stands beside its place (:func:`side`); without, they are in a lane above the
        panel, on its second ordinate.
    """
    trace = _scatter("text", points)
    trace["text"] = [f"<b>{GLYPHS[status][0]}</b>" for status in statuses]
    trace["cliponaxis"] = False
    if not sides:
        return Part(sign, {**trace, "yaxis": "y2"})
    trace["textposition"] = beside = list(sides)
    trace["text"] = [
        text if place == _ALONE else f"\u2006{text}\u2006"  # or two touch
        for text, place in zip(trace["text"], beside, strict=True)
    ]
    return Part(sign, trace)


def side(turn: int, letters: int) -> str:
    """Return where a letter stands at a place that has several."""
    return _ALONE if letters == 1 else _AROUND[turn % len(_AROUND)]


def _scatter(mode: str, points: Points) -> Json:
    across, up, texts = zip(*points, strict=True)
    return {
        "type": "scatter",
        "mode": mode,
        "x": list(across),
        "y": list(up),
        "hovertext": list(texts),
        "hoverinfo": "none",  # the page shows the text itself: panels are small
    }


def count_axis(places: Iterable[float], label: str, *, sizes: bool = False) -> Json:
    """Return an abscissa of numbers that double, with a tick at each that has room."""
    known = sorted(set(places))
    ticks = with_room(known, most=6)
    pad = max(0.04 * (math.log10(known[-1]) - math.log10(known[0])), 0.03)
    return {
        "type": "log",
        "title": {"text": label},
        "tickangle": 0,
        "tickvals": ticks,
        "ticktext": [size_text(round(tick)) if sizes else f"{tick:g}" for tick in ticks],
        "range": [math.log10(known[0]) - pad, math.log10(known[-1]) + pad],
    }


def heights(parts: Iterable[Part]) -> list[float]:
    """Return how high the points of a panel stand."""
    return [up for part in parts if part.trace.get("yaxis") != "y2" for up in part.trace["y"]]


def ordinates(panels: Sequence[Sequence[Part]], y: str) -> list[Json]:
    """Return the ordinate of each panel: one for all, unless some would be lines at the bottom."""
    every = [heights(parts) for parts in panels]
    tops = [max(found) for found in every if found]
    if DRAWN[y].logarithmic or not tops or max(tops) <= _APART * min(tops):
        return [ordinate([up for found in every for up in found], y)] * len(panels)
    return [ordinate(found, y) for found in every]


def ordinate(values: Sequence[float], y: str) -> Json:
    """Return an ordinate for some values: by decades, from zero, or as they are."""
    axis: Json = {"title": {"text": DRAWN[y].axis}}
    above = [value for value in values if value > 0]
    if DRAWN[y].logarithmic and above:
        low, high = math.log10(min(above)), math.log10(max(above))
        pad = max(0.06 * (high - low), 0.08)
        dtick: Mapping[str, Any] = {"dtick": 1} if high - low > 1.5 else {}
        return {**axis, "type": "log", "range": [low - pad, high + pad], **dtick}
    return {**axis, "range": [0, 1.07 * max(above, default=1.0)]}
