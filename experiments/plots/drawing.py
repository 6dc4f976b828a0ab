"""What all figures share: one style, panels, and files that repeat byte for byte.

Names come from files, so they are never parsed as mathematics: a dollar sign is a dollar sign.
"""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator, ScalarFormatter

from experiments.plots.labels import spread
from experiments.plots.looks import Look
from experiments.plots.losses import GLYPHS, INK, glyph
from forestcoll.atomic_write import write_whole
from forestcoll.draw.canvas import UNDATED
from forestcoll.problem.sizes import size_text

__all__ = [
    "count_axis", "finish", "from_zero", "gpu_axis", "label_left", "panels", "save", "size_axis",
    "style", "with_room", "wrapped",
]  # fmt: skip

_MOST_COLUMNS = 4
_LETTERS_AN_INCH = 11.0
"""Of a title, on the average."""

_LONG_LEGEND = 24
"""Entries; more stand in two columns."""


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
        axes.set_title(wrapped(title, size[0] * _LETTERS_AN_INCH), parse_math=False)
    for axes in grid[len(titles) :]:
        axes.remove()
    return figure, grid[: len(titles)]


def wrapped(text: str, width: float) -> str:
    """Break a long name or title behind spaces and commas, or anywhere in a long word."""
    parts = [
        textwrap.wrap(part, max(8, int(width)), break_on_hyphens=False)
        for part in re.split(r"(?<=,)(?! )", text)
    ]
    lines = [""]
    for part in (piece for pieces in parts for piece in pieces):
        if len(lines[-1]) + len(part) > width and lines[-1]:
            lines.append("")
        lines[-1] += part
    return "\n".join(lines)


def label_left(panel: Iterable[Axes], text: str) -> None:
    """Label the ordinate of the panels at the left edge."""
    for axes in panel:
        place = axes.get_subplotspec()
        if place is not None and place.is_first_col():
            axes.set_ylabel(text, parse_math=False)


def from_zero(panel: Iterable[Axes]) -> None:
    """Let the ordinates begin at zero and end above all that is drawn on them."""
    for axes in panel:
        together = axes.get_shared_y_axes().get_siblings(axes)
        tops = [float(one.dataLim.y1) for one in together]
        axes.set_ylim(0, 1.05 * max((top for top in tops if math.isfinite(top)), default=1.0))


def gpu_axis(axes: Axes, sizes: Iterable[int]) -> None:
    """Make the abscissa the number of GPUs, doubling, with a tick at each size that has room."""
    count_axis(axes, sizes, "GPUs")


def count_axis(axes: Axes, counts: Iterable[float], label: str) -> None:
    """Make the abscissa one of numbers above 0 that double, with a tick at each that has room."""
    axes.set_xscale("log", base=2)
    places = sorted(set(counts))
    most = 8 if places and places[-1] >= 1000 else 10  # long numbers take more room
    axes.xaxis.set_major_locator(FixedLocator(with_room(places, most)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(ScalarFormatter())
    axes.set_xlabel(label, parse_math=False)


def size_axis(axes: Axes, sizes: Iterable[int], label: str) -> None:
    """Make the abscissa one of sizes of the data, doubling at even steps."""
    axes.set_xscale("log", base=2)
    ticks = [round(size) for size in with_room(sorted(set(sizes)), most=7)]
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.xaxis.set_minor_locator(NullLocator())
    text = size_text if all(len(size_text(size)) < 6 for size in ticks) else _plain
    axes.xaxis.set_major_formatter(FuncFormatter(lambda size, _: text(round(size))))
    axes.set_xlabel(label if text is size_text else f"{label} (bytes)")


def _plain(size: int) -> str:
    """Write a size in bytes, with an exponent where it is long."""
    return str(size) if size < 10_000 else f"{size:.3g}".replace("e+0", "e")


def with_room(sizes: Sequence[float], most: int = 10) -> list[float]:
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


def finish(figure: Figure, title: str) -> None:
    """Add what belongs to the whole figure, lay it out for good, and move labels apart."""
    if title:
        width = figure.get_figwidth() * _LETTERS_AN_INCH
        words = wrapped(title, 0.9 * width)
        figure.suptitle(words, x=0.02, ha="left", fontsize=11, parse_math=False)
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
    column = 0.6 + 0.08 * max(map(len, found))  # inches
    columns = min(len(found), max(1, int(width / column)))
    lines = math.ceil(len(found) / columns)
    if lines <= 3:
        figure.set_size_inches(max(width, column), height + 0.19 * (lines - 1))
        options: Look = {"loc": "outside lower center", "ncols": columns}
    else:
        columns = math.ceil(len(found) / _LONG_LEGEND)
        lines = math.ceil(len(found) / columns)
        figure.set_size_inches(width + columns * column, max(height, 0.5 + 0.19 * lines))
        options = {"loc": "outside right upper", "ncols": columns}
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
    kind = file.suffix.lower()

    def write(draft: Path) -> None:
        figure.savefig(draft, format=kind.removeprefix("."), metadata=UNDATED[kind])

    write_whole(file, write)
