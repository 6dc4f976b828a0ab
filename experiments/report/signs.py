"""What stands for a method, a bound or a published value, in the panels and in the legend."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from matplotlib.colors import to_hex, to_rgb

from experiments.plots.losses import INK
from experiments.plots.panels import Palette
from experiments.report.markup import Html, tag

__all__ = ["BACKGROUND", "Sign", "band", "hollow", "rule", "sign_of"]

BACKGROUND = "#16191d"
"""Of the page where dark colours are preferred; as in ``assets/report.css``."""

_INK_ON_DARK = "#c9ced4"

_CONTRAST = 4.0
"""The least to that background, as WCAG counts it."""

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
}
"""Markers of matplotlib as plotly.js names them."""

_FILLINGS = {"full": "", "none": "-open", "left": "-dot", "bottom": "-open-dot"}
"""Half a filling, which plotly.js has not, is a dot."""

_LINES = {"-": "solid", "--": "dash", "-.": "dashdot", ":": "dot", "none": ""}
_STROKES = {"solid": None, "dash": "5 3", "dashdot": "6 2 1.5 2", "dot": "1.5 2"}

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
    "circle": "M10.5 8a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0z",
}
"""The same in a drawing 30 wide and 16 high."""


@dataclass(frozen=True, slots=True)
class Sign:
    """An entry of the legend, which switches all that it stands for.

    Parameters
    ----------
    name : str
    colour : str
        On a light ground, as in the figures of :mod:`experiments.plots`.
    shows : str
        "method", "band" (a bound), "rule" (a limit) or "hollow" (published values).
    symbol, dash : str
        As plotly.js names them; none if empty.
    size : float
        Of the symbol, in pixels.
    """

    name: str
    colour: str
    shows: Literal["method", "band", "rule", "hollow"]
    symbol: str = ""
    dash: str = ""
    size: float = 8.0

    @property
    def published(self) -> bool:
        """Whether it stands for values that are not ours."""
        return self.shows == "hollow"

    @property
    def on_dark(self) -> str:
        """The colour on a dark ground."""
        return _INK_ON_DARK if self.colour == INK else _lightened(self.colour)

    @property
    def marker(self) -> dict[str, Any]:
        """The symbol in a trace."""
        return {"symbol": self.symbol, "size": self.size, "line": {"width": 1.2}}

    def drawing(self) -> Html:
        """Return it as a small picture in the colour of the text around it."""
        return tag(
            "svg", *self._parts(), width=30, height=16, viewBox="0 0 30 16", aria_hidden="true"
        )

    def _parts(self) -> Iterator[Html]:
        if self.shows == "band":
            yield _stroke(width="6", opacity="0.35")
        elif self.shows == "rule":
            yield _stroke(width="1.5", dash="4 3")
        elif self.dash:
            yield _stroke(width="2", dash=_STROKES[self.dash])
        if self.symbol:
            shape = self.symbol.removesuffix("-dot").removesuffix("-open")
            hollow = "-open" in self.symbol
            fill = "var(--ground)" if hollow else "currentColor"
            yield tag(
                "path", d=_OUTLINES[shape], fill=fill, stroke="currentColor", stroke_width="1.2"
            )
            if "-dot" in self.symbol:
                dot = "currentColor" if hollow else "var(--ground)"
                yield tag("circle", cx="15", cy="8", r="1.5", fill=dot)


def _stroke(**how: str | None) -> Html:
    dash, opacity = how.get("dash"), how.get("opacity")
    return tag(
        "line", x1="1", y1="8", x2="29", y2="8", stroke="currentColor",
        stroke_width=how["width"], stroke_dasharray=dash, stroke_opacity=opacity,
    )  # fmt: skip


def sign_of(series: str, palette: Palette) -> Sign:
    """Return that of a method, as the other figures show it."""
    look = palette[series]
    symbol = SYMBOLS[look["marker"]] + _FILLINGS[look.get("fillstyle", "full")]
    dash = _LINES[look["linestyle"]]
    return Sign(series, look["color"], "method", symbol, dash, 1.25 * look.get("markersize", 5.0))


def band(name: str) -> Sign:
    """Return that of what nothing exceeds."""
    return Sign(name, INK, "band")


def rule(name: str) -> Sign:
    """Return that of a limit."""
    return Sign(name, INK, "rule")


def hollow(name: str, marker: str, colour: str = INK) -> Sign:
    """Return that of published values; ``marker`` is matplotlib's."""
    return Sign(name, colour, "hollow", f"{SYMBOLS[marker]}-open", size=12.0)


@cache
def _lightened(colour: str) -> str:
    """Return a colour, lighter as far as it takes to be seen on :data:`BACKGROUND`."""
    red, green, blue = to_rgb(colour)
    for step in range(21):
        light = step / 20
        mixed = (red + (1 - red) * light, green + (1 - green) * light, blue + (1 - blue) * light)
        if _contrast(mixed, to_rgb(BACKGROUND)) >= _CONTRAST:
            break
    return str(to_hex(mixed))


def _contrast(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    bright, dim = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


def _luminance(colour: tuple[float, ...]) -> float:
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in colour]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
