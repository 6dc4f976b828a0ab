"""Matplotlib renderer of figures, with byte-for-byte reproducible files.

A figure is as wide as one column of a printed page or as two, so that its letters are as large in
print as here. Names come from files, so they are never parsed as mathematics.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib import figure as pictures
from matplotlib import ticker
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LogNorm, Normalize

from experiments.figures.emphasis import limited
from experiments.figures.figure import INK, Axis, Bar, Cell, ColourScale, Figure, Panel, Series
from experiments.figures.maps import SHORT
from experiments.figures.matplotlib_annotations import (
    METHOD,
    add_legend,
    corner,
    label,
    lanes_of,
    mark_cells,
    mark_failures,
    notes_of,
    pad_titles,
    separate,
    spread,
    word,
)
from experiments.figures.panels import size_ticks, with_room, wrapped
from forestcoll.draw import save_figure

__all__ = ["render", "save", "style"]

_ONE_COLUMN, _TWO_COLUMNS = 3.3, 7.0
"""Inches of a figure in a paper of two columns."""

_MOST_COLUMNS = 3
_WIDE = 4.0
"""Inches of a wanted width from which a single panel takes both columns."""

_LETTERS_AN_INCH = 13.5
"""Of a title of 8 points, on the average."""

_LINE, _LETTER = 0.155, 0.06
"""Inches of a line of a title, and of a letter below a tick."""

_COLOURS = "cividis"
"""Even steps of lightness, the same to colour-blind eyes."""

_DASHES = (0, (4, 3))

_DASH = 20.0
"""Points of a bound at a single place."""

_DOT = 3.0
"""Points of a marker up to which it is a dot without an edge, one of many."""

_STROKES = "+|x_"
"""Markers that are lines, which have no face."""


@contextmanager
def style() -> Iterator[None]:
    """Context with our matplotlib settings for drawing and saving; it restores the old ones."""
    settings: dict[Any, Any] = {
        "font.size": 7,
        "axes.titlesize": 7.5,
        "axes.labelsize": 7.5,
        "legend.fontsize": 7,
        "axes.linewidth": 0.6,
        "xtick.major.width": 0.6,
        "ytick.major.width": 0.6,
        "xtick.major.size": 2.5,
        "ytick.major.size": 2.5,
        "xtick.minor.size": 1.5,
        "ytick.minor.size": 1.5,
        "axes.grid": True,
        "axes.axisbelow": True,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "grid.color": "#e0e0e0",
        "grid.linewidth": 0.6,
        "hatch.linewidth": 0.6,
        "lines.linewidth": 1.2,
        "legend.frameon": False,
        "savefig.dpi": 200,
        "pdf.fonttype": 42,  # text stays text
        "svg.fonttype": "none",
        "svg.hashsalt": "forestcoll",  # for names that are the same every time
    }
    with mpl.rc_context():
        mpl.rcdefaults()  # whatever the user's own settings file says
        mpl.rcParams.update(settings)
        yield


def save(figure: Figure, path: Path) -> None:
    """Draw a figure in our style and write it; as :func:`forestcoll.draw.save_figure`."""
    with style():
        save_figure(render(figure), path)


def render(figure: Figure, title: str = "") -> pictures.Figure:
    """Draw a figure, fix its layout, and move labels apart.

    Parameters
    ----------
    title : str
        Above all panels.
    """
    figure = limited(figure)
    picture, grid = _panels(figure)
    scale = _mappable(figure.colours)
    for axes, panel in zip(grid, figure.panels, strict=True):
        _draw(axes, panel, scale, _panel_width(figure))
    for axes, panel in zip(grid, figure.panels, strict=True):  # ordinates may be shared
        _finish(axes, panel)
    for one in figure.legend:
        _line(grid[0], one)
    if scale is not None and figure.colours:
        rows = len(figure.panels[0].y.names)
        words = wrapped(figure.colours.label, max(18, 2 * rows))
        bar = picture.colorbar(scale, ax=grid, label=words, pad=0.02, aspect=30)
        bar.outline.set_visible(False)
    _head(picture, title)
    add_legend(picture, figure)
    _annotate(picture, grid, figure)
    engine = picture.get_layout_engine()
    assert engine is not None
    engine.execute(picture)
    # Once is enough for all files. With "none" in place of None each would be drawn twice.
    picture.set_layout_engine(None)
    separate(picture)
    spread(picture)
    return picture


def _head(picture: pictures.Figure, title: str) -> None:
    if title:
        words = wrapped(title, _LETTERS_AN_INCH * (picture.get_figwidth() - 0.2))
        picture.suptitle(words, x=0.01, ha="left", fontsize=8, parse_math=False)
        _grow(picture, _LINE * (1 + words.count("\n")))


def _annotate(picture: pictures.Figure, grid: list[Axes], figure: Figure) -> None:
    """Write failure marks and notes above the panels, and make room for them."""
    width = _panel_width(figure)
    lanes = [lanes_of(panel, width) for panel in figure.panels]
    notes = [notes_of(panel, width) for panel in figure.panels]
    for axes, its in zip(grid, lanes, strict=True):
        mark_failures(axes, its)
    above = pad_titles(grid, lanes, notes)
    rows = math.ceil(len(grid) / _columns(figure))
    lines = max(axes.get_title().count("\n") for axes in grid)
    _grow(picture, rows * (above / 72 + 0.13 * lines))


def _grow(picture: pictures.Figure, height: float) -> None:
    picture.set_figheight(picture.get_figheight() + height)


def _columns(figure: Figure) -> int:
    """Return the number of panels side by side."""
    count = len(figure.panels)
    if figure.columns:
        return min(count, figure.columns)
    return math.ceil(count / math.ceil(count / _MOST_COLUMNS))


def _width(figure: Figure) -> float:
    single = len(figure.panels) == 1 and figure.size[0] < _WIDE
    return _ONE_COLUMN if single else _TWO_COLUMNS


def _panel_width(figure: Figure) -> float:
    """Return the approximate width of a panel in inches, without its ordinate."""
    return (_width(figure) - 0.6) / _columns(figure) - 0.15


def _panels(figure: Figure) -> tuple[pictures.Figure, list[Axes]]:
    """Return an empty picture with its panels.

    The ordinate is labelled at the left edge, and where it differs from that of the panel before.
    """
    count, columns = len(figure.panels), _columns(figure)
    lines = math.ceil(count / columns)
    size = (_width(figure), 0.1 + figure.size[1] * lines)
    picture = pictures.Figure(figsize=size, layout="constrained")
    shared, tall = figure.shares_ordinate, figure.size[1] - 0.35
    grid = list(picture.subplots(lines, columns, squeeze=False, sharey=shared).flat)
    for place, (axes, panel) in enumerate(zip(grid, figure.panels, strict=False)):
        words = wrapped(panel.title, _panel_width(figure) * _LETTERS_AN_INCH)
        axes.set_title(words, parse_math=False)
        axes.set_xlabel(panel.x.label, parse_math=False)
        label = _ordinate_label(panel)
        if place % columns == 0 or label != _ordinate_label(figure.panels[place - 1]):
            axes.set_ylabel(wrapped(label, _LETTERS_AN_INCH * tall), parse_math=False)
    for axes in grid[count:]:
        axes.remove()
    for axes, panel in zip(grid, figure.panels, strict=False):
        if panel.empty and not panel.title and count > 1:  # a gap in the grid
            axes.set_axis_off()
    return picture, grid[:count]


def _ordinate_label(panel: Panel) -> str:
    return panel.y.paper_label or panel.y.label


def _draw(axes: Axes, panel: Panel, scale: ScalarMappable | None, width: float) -> None:
    for series in panel.series:
        if not series.page_only and series.style.role != "front":
            _line(axes, series, upright=bool(panel.bars))
    for bar in panel.bars:
        _bar(axes, bar)
    for cell in panel.cells:
        _cell(axes, cell, scale)
    _scale(axes, panel.y, axes.yaxis, width)
    shown = [failure for failure in panel.failures if not failure.page_only]
    if panel.cells:
        mark_cells(axes, shown)
    for failure in shown:
        if failure.x is None and failure.y is not None:
            word(axes, failure)
    _scale(axes, panel.x, axes.xaxis, width)
    if panel.x.margin:
        axes.margins(x=panel.x.margin, y=panel.y.margin)
    if panel.x.ends:
        axes.set_xlim(panel.x.ends)
    if panel.y.ends:
        axes.set_ylim(panel.y.ends)
    if panel.corner:
        corner(axes, panel)


def _line(axes: Axes, series: Series, *, upright: bool = False) -> None:
    """Draw a series; an entry of the legend alone if it has no points."""
    how = series.style
    name = series.name or "_"
    across, up = [p.x for p in series.points], [p.y for p in series.points]
    if how.role == "limit":
        dashes: dict[str, Any] = {"color": how.colour, "lw": series.width, "ls": _DASHES}
        if up:
            axes.axhline(up[0], zorder=how.order, label=name, **dashes)
        else:
            axes.plot([], [], label=name, **dashes)
    elif how.role == "bound" and upright:
        axes.axvline(across[0], color=how.colour, lw=series.width, alpha=series.opacity,
                     label=name, zorder=1)  # fmt: skip
    elif how.role == "bound" and len(across) == 1:  # a line of one place has no length
        axes.plot(across, up, color=how.colour, alpha=series.opacity, label=name, marker="_",
                  markersize=_DASH, markeredgewidth=series.width, ls="none", zorder=1)  # fmt: skip
    elif how.role == "published":
        axes.scatter(
            across, up, s=round(how.size**2, 6), marker=how.marker, label=name, facecolors="none",
            edgecolors=how.colour, linewidths=series.width, zorder=how.order,
        )  # fmt: skip
    else:
        order: dict[str, Any] = {} if how.order is None else {"zorder": how.order}
        alpha = None if series.opacity == 1 else series.opacity
        is_stroke = how.marker in _STROKES
        edge = 0.9 if how.fill != "full" else 0.7 if is_stroke else 0.4 if how.size > _DOT else 0.0
        axes.plot(
            across, up, label=name, color=how.colour, marker=how.marker or None,
            markersize=how.size, linestyle=how.line or ("-" if how.role == "bound" else "none"),
            fillstyle=how.fill, linewidth=series.width, alpha=alpha,
            markeredgewidth=edge,
            markeredgecolor=how.colour if how.fill != "full" or is_stroke else "white",
            gid=METHOD if how.role == "method" and how.marker and how.size > _DOT else None,
            **order,
        )  # fmt: skip
    for point in series.points:
        if point.label:
            label(axes, point.label, (point.x, point.y), INK)


def _bar(axes: Axes, bar: Bar) -> None:
    axes.barh(
        bar.place, bar.length, left=bar.start, height=bar.thickness, color=bar.style.colour,
        alpha=bar.opacity, hatch=bar.hatch or None, edgecolor="white" if bar.hatch else None,
        linewidth=0, label=bar.name or "_", zorder=2,
    )  # fmt: skip
    if bar.beside:
        axes.annotate(
            bar.beside, (bar.start + bar.length, bar.place), (3, 0), va="center", fontsize=6.5,
            color=INK, textcoords="offset points", annotation_clip=False, parse_math=False,
        )  # fmt: skip


def _mappable(colours: ColourScale | None) -> ScalarMappable | None:
    if colours is None:
        return None
    norm = LogNorm if colours.logarithmic else Normalize
    return ScalarMappable(norm(colours.low, colours.high), _COLOURS)


def _cell(axes: Axes, cell: Cell, scale: ScalarMappable | None) -> None:
    place: dict[str, Any] = {"width": 1, "bottom": cell.row - 0.5, "edgecolor": "white"}
    if cell.value is None or scale is None:
        axes.bar(cell.column, 1, color="#f2f2f2", **place)
        return
    red, green, blue, _alpha = (float(part) for part in scale.to_rgba(np.array([cell.value]))[0])
    ink = "white" if 0.3 * red + 0.6 * green + 0.1 * blue < 0.5 else "black"
    axes.bar(cell.column, 1, color=(red, green, blue), **place)
    axes.text(cell.column, cell.row, cell.words, ha="center", va="center", fontsize=6,
              color=ink)  # fmt: skip


def _scale(axes: Axes, given: Axis, axis: Any, width: float) -> None:
    """Set the scale, the ticks and the ends of an abscissa or an ordinate."""
    across = axis is axes.xaxis
    scaled = axes.set_xscale if across else axes.set_yscale
    if given.names or (not across and axes.patches):
        _names(axes, given, axis)
    elif given.scale in ("doubling", "bytes"):
        scaled("log", base=2)
        ticks = with_room(given.places, _most_ticks(given, width))
        axis.set_major_locator(ticker.FixedLocator(ticks))
        axis.set_minor_locator(ticker.NullLocator())
        axis.set_major_formatter(ticker.ScalarFormatter())
        if given.scale == "bytes":
            texts, unit = size_ticks(ticks)
            axis.set_major_formatter(ticker.FixedFormatter(texts))
            axis.set_label_text(given.label + unit)
    elif given.scale == "whole":
        axis.set_major_locator(ticker.MaxNLocator(nbins=12, steps=[1, 2, 5, 10], integer=True))
    elif given.scale == "percent":
        axes.set_xlim(0, 1.18)
        axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "25 %", "50 %", "75 %", "100 %"])
    elif given.scale == "log" and across and axes.patches:  # bars begin at a decade
        low, high = axes.dataLim.minposx, axes.dataLim.x1
        scaled("log")
        axes.set_xlim(10 ** math.floor(math.log10(low)), 3 * high)
        axis.set_minor_formatter(ticker.NullFormatter())
    elif given.scale == "log":
        scaled("log")
        if across and not given.ends:
            _few_decades(axis, *axis.get_data_interval())
    elif given.scale == "signed":
        scaled("symlog", linthresh=10)
        axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}"))


def _most_ticks(given: Axis, width: float) -> int:
    """Return the number of ticks of which no two texts touch, on a panel of some inches."""
    sized = given.scale == "bytes"
    texts = size_ticks(given.places)[0] if sized else [f"{place:g}" for place in given.places]
    letters = max(map(len, texts), default=1)
    return max(3, min(10, int(width / (_LETTER * letters + 0.07))))


def _few_decades(axis: Any, low: float, high: float) -> None:
    """Write plain numbers on an axis of few decades, which powers of ten would leave bare."""
    if low >= 0.01 and high <= min(100 * low, 10_000):
        subs = (1.0, 2.0, 5.0) if high > 10 * low else (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0)
        axis.set_major_locator(ticker.LogLocator(subs=subs))
        axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_locator(ticker.NullLocator())


def _names(axes: Axes, given: Axis, axis: Any) -> None:
    axis.set_ticks(range(len(given.names)), list(given.names), parse_math=False)
    axis.set_tick_params(length=0)
    end = max(1, len(given.names)) - 0.5
    if axis is axes.xaxis:
        axes.set_xlim(-0.5, end)
        if max(map(len, given.names), default=0) > SHORT:
            axes.tick_params(axis="x", rotation=90)
        axes.grid(visible=False)
    else:
        axes.set_ylim(*((end, -0.5) if given.downwards else (-0.5, end)))
        axes.grid(visible=False, axis="y")


def _finish(axes: Axes, panel: Panel) -> None:
    """Let an ordinate begin at zero if it shall, and draw what goes from side to side."""
    together = axes.get_shared_y_axes().get_siblings(axes)
    if panel.y.scale == "log" and not panel.y.ends and not panel.y.names:
        # Panels that share the ordinate share its ticks, so all their values count.
        spans = [one.yaxis.get_data_interval() for one in together]
        _few_decades(axes.yaxis, min(low for low, _ in spans), max(high for _, high in spans))
    if panel.y.from_zero:
        tops = [float(one.dataLim.y1) for one in together]
        axes.set_ylim(0, 1.05 * max((top for top in tops if math.isfinite(top)), default=1.0))
    for series in panel.series:
        if series.style.role == "front":
            _stairs(axes, series, panel)


def _stairs(axes: Axes, series: Series, panel: Panel) -> None:
    """Draw the edge of what the places on a front beat."""
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    worst = top if panel.y.better == "less" else bottom
    across, up = [p.x for p in series.points], [p.y for p in series.points]
    how: dict[str, Any] = {
        "color": series.style.colour, "lw": series.width, "alpha": series.opacity,
        "zorder": series.style.order, "label": series.name,
    }  # fmt: skip
    if panel.x.better == "more":
        axes.step([left, *across, across[-1]], [up[0], *up, worst], where="pre", **how)
    else:
        axes.step([across[0], *across, right], [worst, *up, up[-1]], where="post", **how)
    axes.set_xlim(left, right)
    axes.set_ylim(bottom, top)
