"""A figure, described once: panels of series, bars, cells and failure marks, with axes and notes.

``matplotlib_renderer`` draws it in files and ``plotly_renderer`` on the results page. Markers,
lines, fillings and hatches are in matplotlib's notation, sizes and widths in points, colours
hexadecimal for a light ground. ``text`` appears under the mouse. ``page_only`` elements have no
room on paper.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from experiments.results.rows import Status

__all__ = [
    "FAILURES", "INK", "Axis", "Bar", "Cell", "ColourScale", "Failure", "Figure", "Note", "Panel",
    "Point", "Series", "Style",
]  # fmt: skip

INK = "#404040"
"""Colour of everything except methods: optima, published values, notes."""

FAILURES = {
    Status.TIMEOUT: ("T", "timeout"),
    Status.OUT_OF_MEMORY: ("M", "out of memory"),
    Status.UNSUPPORTED: ("U", "unsupported"),
    Status.FAILED: ("F", "failed"),
}
"""The failure mark of a point without a result, and its meaning in the legend."""

_APART = 10.0
"""A panel whose values are lower than another's by this ratio has an ordinate of its own."""


@dataclass(frozen=True, slots=True)
class Style:
    """Style of a series, the same in all figures; a higher ``order`` lies on top."""

    colour: str
    role: Literal["method", "bound", "limit", "published", "front"] = "method"
    marker: str = ""
    line: str = ""
    fill: Literal["full", "none", "left", "bottom"] = "full"
    size: float = 6.0
    order: float | None = None


@dataclass(frozen=True, slots=True)
class Point:
    """A place in a panel, with a label beside the marker where there is room."""

    x: float
    y: float
    text: str = ""
    label: str = ""


@dataclass(frozen=True, slots=True)
class Series:
    """Points that belong together: a method's line, a bound; in the legend if it has a name."""

    name: str
    style: Style
    points: tuple[Point, ...] = ()
    width: float = 1.5
    opacity: float = 1.0
    page_only: bool = False


@dataclass(frozen=True, slots=True)
class Bar:
    """A horizontal bar, or a part of one; its ``place`` is among the names of the ordinate."""

    place: float
    thickness: float  # as a share of the distance between two names
    start: float
    length: float
    style: Style
    name: str = ""  # in the legend
    opacity: float = 1.0
    hatch: str = ""
    beside: str = ""  # at its end
    text: str = ""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a heat map: its column, its row, its value (None: no result), its words."""

    column: int
    row: int
    value: float | None
    words: str = ""


@dataclass(frozen=True, slots=True)
class Failure:
    """A point without a result: its method's marker and a letter, above the panel at ``x``.

    Of cells it is a letter at ``x`` and ``y``, of bars a word at ``y``. Without both, the marks
    stand above the panel one after the other. The page draws timeouts at their limit ``y``.
    """

    x: float | None
    y: float | None
    status: Status
    name: str  # of the series
    style: Style
    text: str = ""
    page_only: bool = False


@dataclass(frozen=True, slots=True)
class Note:
    """A line of text above a panel, for points that have no place in it."""

    text: str
    colour: str


@dataclass(frozen=True, slots=True)
class Axis:
    """An abscissa or an ordinate, of numbers or of names at 0, 1, 2, ...

    Scales: "log" goes by decades, "signed" too, on both sides of zero; "doubling" and "bytes" by
    doublings, with ticks at ``places``; "whole" has ticks at whole numbers, "percent" is of 1.
    """

    label: str = ""
    scale: Literal["even", "log", "signed", "doubling", "bytes", "whole", "percent"] = "even"
    places: tuple[float, ...] = ()
    names: tuple[str, ...] = ()
    short_names: tuple[str, ...] = ()  # as short as the panel allows
    downwards: bool = False  # the first name is on top
    from_zero: bool = False
    better: str = "less"  # or "more"
    margin: float | None = None  # the share left free at both ends, where it is more than usual
    paper_label: str = ""  # where it says more
    ends: tuple[float, float] | None = None  # the least and the largest place, where fixed


@dataclass(frozen=True, slots=True)
class Panel:
    """One of the small pictures of a figure; its series come in the order of the legend."""

    title: str
    x: Axis
    y: Axis
    series: tuple[Series, ...] = ()
    bars: tuple[Bar, ...] = ()
    cells: tuple[Cell, ...] = ()
    failures: tuple[Failure, ...] = ()
    notes: tuple[Note, ...] = ()
    corner: str = ""  # word for the corner in which a method is best by both axes

    def heights(self) -> Iterator[float]:
        """Yield the occupied places along the ordinate."""
        yield from (point.y for series in self.series for point in series.points)
        yield from (failure.y for failure in self.failures if failure.y is not None)

    @property
    def empty(self) -> bool:
        """Whether it holds nothing except notes."""
        return not (self.series or self.bars or self.cells or self.failures)


@dataclass(frozen=True, slots=True)
class ColourScale:
    """Colour scale of a heat map."""

    label: str
    low: float
    high: float
    logarithmic: bool


@dataclass(frozen=True, slots=True)
class Figure:
    """Panels with one legend; ``size`` is the wanted width and height of a panel, in inches.

    On paper, a figure is as wide as one column of a page or as two. ``legend`` has entries that
    stand in no panel, such as methods without any result. ``columns`` is the number of panels side
    by side, 0 for as many as have room.
    """

    panels: tuple[Panel, ...]
    legend: tuple[Series, ...] = ()
    size: tuple[float, float] = (3.1, 2.0)
    colours: ColourScale | None = None
    columns: int = 0

    @property
    def shares_ordinate(self) -> bool:
        """Whether all panels can share an ordinate; a logarithmic one always can be shared."""
        axes = [panel.y for panel in self.panels]
        if any(axis.names for axis in axes):
            return len({axis.names for axis in axes}) == 1
        tops = [max(found) for panel in self.panels if (found := list(panel.heights()))]
        return all(a.scale == "log" for a in axes) or not tops or max(tops) <= _APART * min(tops)
