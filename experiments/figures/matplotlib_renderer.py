"""Matplotlib renderer of figures, with byte-for-byte reproducible files.

Names come from files, so they are never parsed as mathematics: a dollar sign stays one.
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

from experiments.figures.figure import INK, Axis, Bar, Cell, ColourScale, Figure, Panel, Series
from experiments.figures.maps import SHORT
from experiments.figures.matplotlib_annotations import (
    add_legend,
    label,
    mark_failures,
    spread,
    word,
    write_notes,
)
from experiments.figures.panels import size_ticks, with_room, wrapped
from forestcoll.draw import save_figure

__all__ = ["render", "save", "style"]

_MOST_COLUMNS = 4
_LETTERS_AN_INCH = 11.0
"""Of a title, on the average."""

_COLOURS = "cividis"
"""Even steps of lightness, the same to colour-blind eyes."""

_DASHES = (0, (4, 3))


@contextmanager
def style() -> Iterator[None]:
    """Context with our matplotlib settings for drawing and saving; it restores the old ones."""
    settings: dict[Any, Any] = {
        "font.size": 9,
        "axes.titlesize": 10,
        "axes.grid": True,
        "axes.axisbelow": True,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "grid.color": "#e0e0e0",
        "lines.linewidth": 1.5,
        "legend.frameon": False,
        "savefig.dpi": 150,
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
    picture, grid = _panels(figure)
    scale = _mappable(figure.colours)
    for axes, panel in zip(grid, figure.panels, strict=True):
        _draw(axes, panel, scale)
    for axes, panel in zip(grid, figure.panels, strict=True):  # ordinates may be shared
        _finish(axes, panel)
    write_notes(grid, figure.panels)
    for one in figure.legend:
        _line(grid[0], one)
    if scale is not None and figure.colours:
        bar = picture.colorbar(scale, ax=grid, label=figure.colours.label, pad=0.02)
        bar.outline.set_visible(False)
    if title:
        words = wrapped(title, 0.9 * _LETTERS_AN_INCH * picture.get_figwidth())
        picture.suptitle(words, x=0.02, ha="left", fontsize=11, parse_math=False)
    add_legend(picture)
    engine = picture.get_layout_engine()
    assert engine is not None
    engine.execute(picture)
    picture.set_layout_engine("none")  # once is enough for all files
    spread(picture)
    return picture


def _panels(figure: Figure) -> tuple[pictures.Figure, list[Axes]]:
    """Return an empty picture with its panels; only those at the left edge label the ordinate."""
    count, (width, height) = len(figure.panels), figure.size
    lines = math.ceil(count / _MOST_COLUMNS)
    columns = math.ceil(count / lines)
    size = (1.0 + width * columns, 0.8 + height * lines)
    picture = pictures.Figure(figsize=size, layout="constrained")
    shared = figure.shares_ordinate
    grid = list(picture.subplots(lines, columns, squeeze=False, sharey=shared).flat)
    for place, (axes, panel) in enumerate(zip(grid, figure.panels, strict=False)):
        axes.set_title(wrapped(panel.title, width * _LETTERS_AN_INCH), parse_math=False)
        axes.set_xlabel(panel.x.label, parse_math=False)
        if place % columns == 0:
            axes.set_ylabel(panel.y.paper_label or panel.y.label, parse_math=False)
    for axes in grid[count:]:
        axes.remove()
    return picture, grid[:count]


def _draw(axes: Axes, panel: Panel, scale: ScalarMappable | None) -> None:
    for series in panel.series:
        if not series.page_only and series.style.role != "front":
            _line(axes, series, upright=bool(panel.bars))
    for bar in panel.bars:
        _bar(axes, bar)
    for cell in panel.cells:
        _cell(axes, cell, scale)
    _scale(axes, panel.y, axes.yaxis)
    shown = [failure for failure in panel.failures if not failure.page_only]
    mark_failures(axes, [failure for failure in shown if failure.x is not None])
    for failure in shown:
        if failure.x is None:
            word(axes, failure)
    _scale(axes, panel.x, axes.xaxis)
    if panel.x.margin:
        axes.margins(x=panel.x.margin, y=panel.y.margin)


def _line(axes: Axes, series: Series, *, upright: bool = False) -> None:
    """Draw a series; an entry of the legend alone if it has no points."""
    how = series.style
    name = series.name or "_"
    across, up = [p.x for p in series.points], [p.y for p in series.points]
    if how.role == "limit":
        axes.axhline(
            up[0], color=how.colour, lw=series.width, ls=_DASHES, zorder=how.order, label=name
        )
    elif how.role == "bound" and upright:
        axes.axvline(across[0], color=how.colour, lw=series.width, alpha=series.opacity,
                     label=name, zorder=1)  # fmt: skip
    elif how.role == "published":
        axes.scatter(
            across, up, s=round(how.size**2, 6), marker=how.marker, label=name, facecolors="none",
            edgecolors=how.colour, linewidths=series.width, zorder=how.order,
        )  # fmt: skip
    else:
        order: dict[str, Any] = {} if how.order is None else {"zorder": how.order}
        alpha = None if series.opacity == 1 else series.opacity
        axes.plot(
            across, up, label=name, color=how.colour, marker=how.marker or None,
            markersize=how.size, linestyle=how.line or ("-" if how.role == "bound" else "none"),
            fillstyle=how.fill, linewidth=series.width, alpha=alpha, **order,
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
            bar.beside, (bar.start + bar.length, bar.place), (3, 0), va="center", fontsize=7,
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
    axes.text(cell.column, cell.row, cell.words, ha="center", va="center", fontsize=7, color=ink)


def _scale(axes: Axes, given: Axis, axis: Any) -> None:
    """Set the scale, the ticks and the ends of an abscissa or an ordinate."""
    across = axis is axes.xaxis
    scaled = axes.set_xscale if across else axes.set_yscale
    if given.names or (not across and axes.patches):
        _names(axes, given, axis)
    elif given.scale in ("doubling", "bytes"):
        scaled("log", base=2)
        most = 7 if given.scale == "bytes" else 8 if max(given.places, default=0) >= 1000 else 10
        ticks = with_room(given.places, most)
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
    if panel.y.from_zero:
        together = axes.get_shared_y_axes().get_siblings(axes)
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
