"""Points without a result: letters in panels, words above them, a line in the legend.

A method that times out, fails or cannot do a thing leaves no gap that a reader could overlook.
"""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from matplotlib.transforms import ScaledTranslation, blended_transform_factory

from experiments.plots.looks import Look
from experiments.results.columns import failed_places
from experiments.results.rows import Row, Status

__all__ = [
    "GLYPHS", "INK", "Place", "glyph", "lettered", "lost_in_words", "lost_places", "never_done",
    "notes", "partly_done", "unsupported", "unsupported_in_words",
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

_STRIP = 8.0  # points, from a panel up to the letters above it
_APART = 7.0  # points, between letters at one place
_MOST_LETTERS = 4  # at one place; more are counted
_MOST_NOTES = 5  # above a panel
_WIDTH = 58  # letters of a note

Place = tuple[float, Row]
"""A row, and where along an axis it stands."""


def glyph(status: Status) -> str:
    """Return the marker of a point without a result: a letter."""
    return f"$\\mathbf{{{GLYPHS[status][0]}}}$"


def lost_places(axes: Axes, x: float, y: float | None, lost: Sequence[tuple[Status, str]]) -> None:
    """Put a letter for each loss at its place, in its colour; many of a kind are one and a number.

    ``y`` of None is the strip above the panel.
    """
    if len(lost) <= _MOST_LETTERS:
        for position, (status, color) in enumerate(lost):
            _letter(axes, x, y, status, color, _APART * (position - (len(lost) - 1) / 2))
        return
    counts = sorted(Counter(status for status, _ in lost).items())
    for position, (status, count) in enumerate(counts):
        dodge = 2.6 * _APART * (position - (len(counts) - 1) / 2) - _APART / 2
        _letter(axes, x, y, status, INK, dodge)
        axes.annotate(
            str(count), (x, 1 if y is None else y), (dodge + 4, -2 + (_STRIP if y is None else 0)),
            xycoords=("data", "axes fraction" if y is None else "data"),
            textcoords="offset points", fontsize=7, color=INK, annotation_clip=False,
        )  # fmt: skip


def _letter(
    axes: Axes, x: float, y: float | None, status: Status, color: str, dodge: float
) -> None:
    strip = blended_transform_factory(axes.transData, axes.transAxes)
    inch = axes.figure.dpi_scale_trans
    aside = ScaledTranslation(dodge / 72, _STRIP / 72 if y is None else 0, inch)
    line = Line2D(
        [x], [1 if y is None else y], marker=glyph(status), markersize=6, color=color,
        markeredgewidth=0.4, linestyle="none", clip_on=False, zorder=4,
        path_effects=[withStroke(linewidth=3, foreground="white")],
        transform=(strip if y is None else axes.transData) + aside,
    )  # fmt: skip
    axes.add_line(line)
    axes.update_datalim([(x, 1 if y is None else y)], updatey=y is not None)
    axes.autoscale_view()


def notes(
    panel: Sequence[Axes], lines: Sequence[Sequence[tuple[str, str]]], *, letters: bool = False
) -> None:
    """Write coloured lines, (text, colour), between each panel and its title.

    Those for which there is no room are counted; with ``letters`` they stand above a strip of such.
    """
    shown = [_shortened(its_lines) for its_lines in lines]
    strip = _STRIP + 2 if letters else 0.0
    for axes, its_lines in zip(panel, shown, strict=True):
        for height, (text, color) in enumerate(reversed(its_lines)):
            axes.annotate(
                text, (0, 1), (0, 3 + strip + 9 * height), xycoords="axes fraction",
                textcoords="offset points", fontsize=7, color=color, annotation_clip=False,
                parse_math=False,
            )  # fmt: skip
        pad = 6 + strip + 9 * max(map(len, shown))
        axes.set_title(axes.get_title(), pad=pad, parse_math=False)


def _shortened(lines: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    if len(lines) <= _MOST_NOTES:
        return list(lines)
    left = len(lines) - _MOST_NOTES + 1
    return [*lines[: _MOST_NOTES - 1], (f"and {left} more without a result", INK)]


def lost_in_words(
    rows: Sequence[Row], palette: Mapping[str, Look], **panel: str
) -> list[tuple[str, str]]:
    """Say which methods gave no result in a panel, and in which colour to say it."""
    ((column, name),) = panel.items()
    here = [row for row in rows if getattr(row, column) == name]
    never, lost = unsupported(here), failed_places(here)
    told = unsupported_in_words(never)
    for series in (one for one in palette if one not in never):
        its = {size: row.status for (other, size), row in lost.items() if other == series}
        done = [row.gpus for row in here if row.series == series and row.status is Status.OK]
        sized = column == "cluster"
        words = _from_some_size(its, done) if sized else ""
        every = [words] if words else _one_by_one(its, sized=sized)
        told += [(f"{series}: {words}", palette[series]["color"]) for words in every]
    return told


def _from_some_size(its: Mapping[int | None, Status], done: Iterable[int | None]) -> str:
    """Say from where on there is no result; nothing if that is not so."""
    known = [size for size in its if size is not None]
    largest = max((size for size in done if size), default=0)
    if len(known) < 2 or len(known) < len(its) or min(known) <= largest:
        return ""
    return f"{_ends(its.values())} from {min(known)} GPUs on"


def _one_by_one(its: Mapping[int | None, Status], *, sized: bool) -> list[str]:
    sizes: dict[Status, list[str]] = {}
    for size, status in its.items():
        sizes.setdefault(status, []).append("?" if size is None else str(size))
    at = {status: f" at {', '.join(where)} GPUs" for status, where in sizes.items()}
    return [f"{GLYPHS[status][1]}{at[status] if sized else ''}" for status in sizes]


def unsupported(rows: Iterable[Row]) -> list[str]:
    """Return the methods that cannot do any of some points."""
    ends: dict[str, set[Status]] = {}
    for row in rows:
        ends.setdefault(row.series, set()).add(row.status)
    return [series for series, found in ends.items() if found == {Status.UNSUPPORTED}]


def unsupported_in_words(series: Sequence[str]) -> list[tuple[str, str]]:
    """Say so in as many lines as it takes; which methods they are is not left to colours."""
    words = f"unsupported: {', '.join(series)}" if series else ""
    return [(line, INK) for line in textwrap.wrap(words, _WIDTH, break_on_hyphens=False)]


def lettered(lost: Iterable[Place], every: Iterable[Place]) -> list[Place]:
    """Return the losses that get a letter.

    Beyond the last result of a method that is only the first of each kind.

    Parameters
    ----------
    lost : iterable
        A row without a result for each place and method, and along the axis the place.
    every : iterable
        All rows of the panel, in the same way.
    """
    last: dict[str, float] = {}
    for place, row in every:
        if row.status is Status.OK:
            last[row.series] = max(place, last.get(row.series, place))
    found, before = [], dict[str, Status]()
    for place, row in sorted(lost, key=lambda one: one[0]):
        beyond = place > last.get(row.series, -math.inf)
        if not (beyond and before.get(row.series) is row.status):
            found.append((place, row))
        if beyond:
            before[row.series] = row.status
    return found


def partly_done(rows: Sequence[Row], *, by: str = "series") -> list[Row]:
    """Return the rows of methods that have a result somewhere; the legend tells of the others.

    ``by`` is "series" or "method".
    """
    done = {getattr(row, by) for row in rows if row.status is Status.OK}
    return [row for row in rows if getattr(row, by) in done]


def never_done(rows: Sequence[Row], palette: Mapping[str, Look]) -> dict[str, str]:
    """Say of each method without any result what became of it, for the legend.

    Such as "teccl: timeout from 32 GPUs on".
    """
    done = {row.series for row in rows if row.status is Status.OK}
    lost = failed_places([row for row in rows if row.series not in done])
    words = {}
    for series in (series for series in palette if series not in done):
        its = {size: row.status for (name, size), row in lost.items() if name == series}
        words[series] = f"{series}: {_ends(its.values())}{_sizes(its)}" if its else series
    return words


def _ends(statuses: Iterable[Status]) -> str:
    return " or ".join(GLYPHS[status][1] for status in GLYPHS if status in set(statuses))


def _sizes(its: Mapping[int | None, Status]) -> str:
    """Say from where on, unless size has nothing to do with it."""
    known = sorted(size for size in its if size is not None)
    if not known or set(its.values()) == {Status.UNSUPPORTED}:
        return ""
    return f" from {known[0]} GPUs on" if len(known) > 1 else f" at {known[0]} GPUs"
