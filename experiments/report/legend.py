"""Legend of the page: pictures of its entries, with colours for light and dark grounds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from experiments.figures.figure import INK
from experiments.figures.plotly_renderer import LINES, SYMBOLS, Entry
from experiments.figures.styles import mixed

__all__ = ["BACKGROUND", "Button", "button", "on_dark"]

BACKGROUND = "#16191d"
"""Background of the page in dark mode, as in ``assets/page.css``."""

_INK_ON_DARK = "#c9ced4"

_CONTRAST = 4.0
"""Least contrast to that background, as WCAG defines it."""

_DASHES = {"solid": None, "dash": "5 3", "dashdot": "6 2 1.5 2", "dot": "1.5 2"}

_OUTLINES = {
    "square": "M11 4h8v8h-8z",
    "triangle-up": "M15 3l5 9h-10z",
    "triangle-down": "M15 13l5-9h-10z",
    "diamond": "M15 2.5l5.5 5.5l-5.5 5.5l-5.5-5.5z",
    "diamond-tall": "M15 2.5l3.5 5.5l-3.5 5.5l-3.5-5.5z",
    "cross": "M13 3h4v3h3v4h-3v3h-4v-3h-3v-4h3z",
    "x": "M12 2.5l3 3l3-3l2.5 2.5l-3 3l3 3l-2.5 2.5l-3-3l-3 3l-2.5-2.5l3-3l-3-3z",
    "star": "M15 2l1.6 4.1l4.4.3l-3.4 2.8l1.1 4.3l-3.7-2.4l-3.7 2.4l1.1-4.3l-3.4-2.8l4.4-.3z",
    "hexagon": "M15 3l4.5 2.5v5l-4.5 2.5l-4.5-2.5v-5z",
    "octagon": "M13 3h4l3 3v4l-3 3h-4l-3-3v-4z",
    "pentagon": "M15 3l5 3.8l-2 6h-6l-2-6z",
    "x-thin-open": "M11 4l8 8M19 4l-8 8",
    "line-ns-open": "M15 3v10",
    "line-ew-open": "M10 8h10",
    "circle": "M10.5 8a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0z",
}
"""Markers in a drawing 30 wide and 16 high."""


@dataclass(frozen=True, slots=True)
class Button:
    """An entry of the legend on the page, with colours for light and dark grounds."""

    words: str
    light: str
    dark: str
    stroke: dict[str, str | None]  # attributes of its line in SVG; none if it has no line
    outline: str  # the path of its marker
    hollow: bool
    dotted: bool


def button(entry: Entry, words: str) -> Button:
    """Return the button of an entry."""
    style = entry.style
    stroke: dict[str, str | None] = {}
    if style.role == "bound":
        stroke = {"stroke-width": "6", "stroke-opacity": "0.35"}
    elif style.role == "limit":
        stroke = {"stroke-width": "1.5", "stroke-dasharray": "4 3"}
    elif style.line:
        stroke = {"stroke-width": "2", "stroke-dasharray": _DASHES[LINES[style.line]]}
    outline = _OUTLINES[SYMBOLS[style.marker]] if style.marker else ""
    hollow, dotted = style.fill in ("none", "bottom"), style.fill in ("left", "bottom")
    return Button(words, style.colour, on_dark(style.colour), stroke, outline, hollow, dotted)


@cache
def on_dark(colour: str) -> str:
    """Return a colour, lightened until it has enough contrast to :data:`BACKGROUND`."""
    if colour == INK:
        return _INK_ON_DARK
    least = _CONTRAST * (_luminance(BACKGROUND) + 0.05) - 0.05
    lighter = (mixed(colour, 255, step / 20) for step in range(21))
    return next(one for one in lighter if _luminance(one) >= least)


def _luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
