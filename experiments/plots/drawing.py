"""What all figures share: one style, one palette, panels, and files that repeat byte for byte.

Names come from files, so they are never parsed as mathematics: a dollar sign is a dollar sign.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator, ScalarFormatter
from matplotlib.transforms import ScaledTranslation, blended_transform_factory

from experiments.config.sizes import size_text
from experiments.plots.labels import spread
from experiments.results.rows import Status

__all__ = [
    "GLYPHS", "INK", "Look", "finish", "gpu_axis", "label_left", "look", "loss", "notes",
    "panels", "save", "size_axis", "strip_above", "style",
]  # fmt: skip

INK = "#404040"
"""For what is not a method: optima, published values, notes."""

GLYPHS = {
    Status.TIMEOUT: ("T", "timeout"),
    Status.OUT_OF_MEMORY: ("M", "out of memory"),
    Status.UNSUPPORTED: ("U", "unsupported"),
    Status.FAILED: ("F", "failed"),
}
"""What stands for a point without a result, and what the legend says of it."""

_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_DASHES = ("-", "--", "-.", ":")
_MOST_COLUMNS = 4

Look = dict[str, Any]


def look(position: int) -> Look:
    """Return colour (Okabe and Ito's, safe for colour-blind eyes), marker and line of a series.

    Where series coincide, the first lies on top and the others' larger marks show around it.
    """
    return {
        "color": _COLOURS[position % len(_COLOURS)],
        "marker": _MARKERS[position % len(_MARKERS)],
        "linestyle": _DASHES[position // len(_COLOURS) % len(_DASHES)],
        "markersize": 4.5 + 1.5 * min(position, 3),
        "zorder": 2.9 - 0.01 * position,
    }


@contextmanager
def style() -> Iterator[None]:
    """Draw and save inside this; matplotlib's settings are as before afterwards."""
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


def panels(
    titles: Sequence[str], *, shared: bool = True, size: tuple[float, float] = (3.1, 2.6)
) -> tuple[Figure, list[Axes]]:
    """Return a figure with a panel for each title, ordinate shared; size in inches of a panel."""
    lines = math.ceil(len(titles) / _MOST_COLUMNS)
    columns = math.ceil(len(titles) / lines)
    figure = Figure(figsize=(1.0 + size[0] * columns, 0.8 + size[1] * lines), layout="constrained")
    grid = list(figure.subplots(lines, columns, squeeze=False, sharey=shared).flat)
    for axes, title in zip(grid, titles, strict=False):
        axes.set_title(title, parse_math=False)
    for axes in grid[len(titles) :]:
        axes.remove()
    return figure, grid[: len(titles)]


def label_left(panel: Iterable[Axes], text: str) -> None:
    """Label the ordinate of the panels at the left edge."""
    for axes in panel:
        place = axes.get_subplotspec()
        if place is not None and place.is_first_col():
            axes.set_ylabel(text, parse_math=False)


def gpu_axis(axes: Axes, sizes: Iterable[int]) -> None:
    """Make the abscissa the number of GPUs, doubling, with a tick at each size that has room."""
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(FixedLocator(_with_room(sorted(set(sizes)))))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(ScalarFormatter())
    axes.set_xlabel("GPUs")


def size_axis(axes: Axes, sizes: Iterable[int], label: str) -> None:
    """Make the abscissa one of sizes of the data, doubling at even steps."""
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(FixedLocator(_with_room(sorted(set(sizes)), most=7)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda size, _: size_text(round(size))))
    axes.set_xlabel(label)


def _with_room(sizes: Sequence[int], most: int = 10) -> list[int]:
    """Leave out sizes that are too close to others, but not the greatest and the least."""
    if not sizes:
        return []
    first, last = sizes[0], sizes[-1]
    room = (last / first) ** (1 / (most - 1))
    kept = [last]
    for size in reversed(sizes[1:-1]):
        if kept[-1] / size >= room and size / first >= room:
            kept.append(size)
    return sorted({first, *kept})


def glyph(status: Status) -> str:
    """Return the marker of a point without a result: a letter."""
    return f"$\\mathbf{{{GLYPHS[status][0]}}}$"


def loss(
    axes: Axes, x: float, y: float | None, status: Status, color: str, dodge: float = 0
) -> None:
    """Put the letter of a point without a result at its place.

    ``y`` of None is the strip above the panel. ``dodge``, in points, keeps several at one place
    apart.
    """
    strip = blended_transform_factory(axes.transData, axes.transAxes)
    aside = ScaledTranslation(dodge / 72, 0, axes.figure.dpi_scale_trans)
    line = Line2D(
        [x], [1.045 if y is None else y], marker=glyph(status), markersize=6, color=color,
        markeredgewidth=0.4, linestyle="none", clip_on=False, zorder=4,
        path_effects=[withStroke(linewidth=3, foreground="white")],
        transform=(strip if y is None else axes.transData) + aside,
    )  # fmt: skip
    axes.add_line(line)
    axes.update_datalim([(x, 1 if y is None else y)], updatey=y is not None)
    axes.autoscale_view()


def strip_above(panel: Sequence[Axes]) -> None:
    """Make room for letters between the panels and their titles."""
    for axes in panel:
        axes.set_title(axes.get_title(), pad=14)


def notes(panel: Sequence[Axes], lines: Sequence[Sequence[tuple[str, str]]]) -> None:
    """Write coloured lines, (text, colour), between each panel and its title."""
    for axes, its_lines in zip(panel, lines, strict=True):
        for height, (text, color) in enumerate(reversed(its_lines)):
            axes.annotate(
                text, (0, 1), (0, 3 + 9 * height), xycoords="axes fraction",
                textcoords="offset points", fontsize=7, color=color, annotation_clip=False,
                parse_math=False,
            )  # fmt: skip
        axes.set_title(axes.get_title(), pad=6 + 9 * max(map(len, lines)))


def finish(figure: Figure, title: str) -> None:
    """Add what belongs to the whole figure, lay it out for good, and move labels apart."""
    if title:
        figure.suptitle(title, parse_math=False)
    _legend(figure)
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
        figure.set_layout_engine("none")  # once is enough for all files
    spread(figure)


def _legend(figure: Figure) -> None:
    """Put one legend for all panels below them, or beside them if it is long, in its own room."""
    found = _entries(figure)
    if not found:
        return
    width, height = figure.get_size_inches()
    column = 0.55 + 0.075 * max(map(len, found))  # inches
    columns = min(len(found), max(1, int(width / column)))
    lines = math.ceil(len(found) / columns)
    if lines <= 3:
        figure.set_size_inches(width, height + 0.19 * (lines - 1))
        options: Look = {"loc": "outside lower center", "ncols": columns}
    else:
        figure.set_size_inches(width + column, max(height, 0.5 + 0.19 * len(found)))
        options = {"loc": "outside right upper"}
    for text in figure.legend(found.values(), found.keys(), **options).get_texts():
        text.set_parse_math(False)


def _entries(figure: Figure) -> dict[str, Any]:
    """Return the handles of all panels by their labels, and those of the letters in use."""
    found = {
        label: handle
        for axes in figure.axes
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    used = {line.get_marker() for axes in figure.axes for line in axes.get_lines()}
    for status, (_letter, meaning) in GLYPHS.items():
        if glyph(status) in used:
            letter: Look = {"marker": glyph(status), "markersize": 6, "linestyle": "none"}
            found[meaning] = Line2D([], [], color=INK, **letter)
    return found


def save(figure: Figure, file: Path) -> None:
    """Write a figure in the format of the file's ending, without the date: equal stays equal."""
    without: dict[str, dict[str, None]] = {
        ".png": {"Software": None},
        ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
        ".svg": {"Date": None, "Creator": None},
    }
    figure.savefig(file, metadata=without[file.suffix.lower()])
