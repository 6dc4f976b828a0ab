"""Text in matplotlib's panels: failure marks, notes, the legend, and labels beside markers.

Labels are moved to where they cover neither markers nor each other.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from matplotlib.text import Annotation
from matplotlib.transforms import ScaledTranslation, blended_transform_factory
from numpy.typing import NDArray

from experiments.figures.figure import FAILURES, INK, Failure, Note, Panel
from experiments.results.rows import Status

__all__ = ["add_legend", "glyph", "label", "mark_failures", "spread", "word", "write_notes"]

_STRIP = 8.0  # points, from a panel up to the failure marks above it
_APART = 7.0  # points, between failure marks at one place
_MOST_MARKS = 4  # at one place; more are counted
_MOST_NOTES = 5  # above a panel
_LONG_LEGEND = 24  # entries; more stand in two columns

Boxes = NDArray[np.float64]
"""Rectangles in pixels: left, bottom, right, top in the last axis."""

_MARK = "beside a mark"

_DIRECTIONS = np.array([
    (1, 0.7), (1, -0.7), (-1, 0.7), (-1, -0.7), (0, 1.2), (0, -1.2), (1.3, 0), (-1.3, 0),
    (1.8, 1.6), (1.8, -1.6), (-1.8, 1.6), (-1.8, -1.6), (0, 2.4), (0, -2.4),
])  # fmt: skip
"""Possible places of a label, in steps away from its mark; the first of the best is taken."""

_FAR = 30.0
"""What a step away from the mark costs, in covered pixels."""

_STEP = 6.0
"""In points: half a mark and a little."""

_READABLE = 0.3
"""Limit on the covered share of a label; a label that exceeds it everywhere is left out."""


def glyph(status: Status) -> str:
    """Return the marker of a point without a result: a letter."""
    return f"$\\mathbf{{{FAILURES[status][0]}}}$"


def mark_failures(axes: Axes, failures: Iterable[Failure]) -> None:
    """Put a letter for each failure at its place; many of a kind are one letter and a number."""
    at: dict[tuple[float, float | None], list[Failure]] = {}
    for one in failures:
        at.setdefault((one.x or 0.0, one.y), []).append(one)
    for (x, y), its in at.items():
        if len(its) <= _MOST_MARKS:
            for position, one in enumerate(its):
                aside = _APART * (position - (len(its) - 1) / 2)
                _mark(axes, x, y, one.status, one.style.colour, aside)
            continue
        counts = sorted(Counter(one.status for one in its).items())
        for position, (status, count) in enumerate(counts):
            aside = 2.6 * _APART * (position - (len(counts) - 1) / 2) - _APART / 2
            _mark(axes, x, y, status, INK, aside)
            up = -2 + (_STRIP if y is None else 0)
            axes.annotate(
                str(count), (x, 1 if y is None else y), (aside + 4, up),
                xycoords=("data", "axes fraction" if y is None else "data"), color=INK,
                textcoords="offset points", fontsize=7, annotation_clip=False,
            )  # fmt: skip


def _mark(axes: Axes, x: float, y: float | None, status: Status, colour: str, aside: float) -> None:
    above = blended_transform_factory(axes.transData, axes.transAxes)
    inch = axes.figure.dpi_scale_trans
    moved = ScaledTranslation(aside / 72, _STRIP / 72 if y is None else 0, inch)
    letter = Line2D(
        [x], [1 if y is None else y], marker=glyph(status), markersize=6, color=colour,
        markeredgewidth=0.4, linestyle="none", clip_on=False, zorder=4,
        path_effects=[withStroke(linewidth=3, foreground="white")],
        transform=(above if y is None else axes.transData) + moved,
    )  # fmt: skip
    axes.add_line(letter)
    axes.update_datalim([(x, 1 if y is None else y)], updatey=y is not None)
    axes.autoscale_view()


def word(axes: Axes, failure: Failure) -> None:
    """Write the failure of a bar in its place."""
    axes.annotate(
        FAILURES[failure.status][1], (0, failure.y or 0), (3, 0), color=failure.style.colour,
        xycoords=("axes fraction", "data"), textcoords="offset points", va="center", fontsize=7,
        annotation_clip=False, parse_math=False, zorder=3,
    )  # fmt: skip


def write_notes(grid: Sequence[Axes], panels: Sequence[Panel]) -> None:
    """Write the notes between each panel and its title, above any strip of failure marks.

    Those for which there is no room are counted.
    """
    shown = [_shortened(panel.notes) for panel in panels]
    above = (f.y is None and not f.page_only for panel in panels for f in panel.failures)
    strip = _STRIP + 2 if any(above) else 0.0
    for axes, notes in zip(grid, shown, strict=True):
        for height, note in enumerate(reversed(notes)):
            axes.annotate(
                note.text, (0, 1), (0, 3 + strip + 9 * height), xycoords="axes fraction",
                textcoords="offset points", fontsize=7, color=note.colour, annotation_clip=False,
                parse_math=False,
            )  # fmt: skip
        pad = 6 + strip + 9 * max(map(len, shown))
        axes.set_title(axes.get_title(), pad=pad, parse_math=False)


def _shortened(notes: Sequence[Note]) -> list[Note]:
    if len(notes) <= _MOST_NOTES:
        return list(notes)
    left = len(notes) - _MOST_NOTES + 1
    return [*notes[: _MOST_NOTES - 1], Note(f"and {left} more without a result", INK)]


def add_legend(figure: Figure) -> None:
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
        options: dict[str, Any] = {"loc": "outside lower center", "ncols": columns}
    else:
        columns = math.ceil(len(found) / _LONG_LEGEND)
        lines = math.ceil(len(found) / columns)
        figure.set_size_inches(width + columns * column, max(height, 0.5 + 0.19 * lines))
        options = {"loc": "outside right upper", "ncols": columns}
    legend = figure.legend(found.values(), found.keys(), **options)
    for text in legend.get_texts():
        text.set_parse_math(False)


def _entries(figure: Figure) -> dict[str, Any]:
    """Return the handles of all panels by their labels, and those of the failure marks in use."""
    found = {
        label: handle
        for axes in figure.axes
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    used = {line.get_marker() for axes in figure.axes for line in axes.get_lines()}
    for status, (_letter, meaning) in FAILURES.items():
        if glyph(status) in used:
            letter: dict[str, Any] = {"marker": glyph(status), "markersize": 6}
            found[meaning] = Line2D([], [], color=INK, linestyle="none", **letter)
    return found


def label(axes: Axes, text: str, place: tuple[float, float], color: str) -> None:
    """Write a label beside a mark; :func:`spread` finds the side."""
    written = axes.annotate(
        text, place, (_STEP, _STEP), textcoords="offset points",
        fontsize=7, color=color, ha="center", va="center", parse_math=False,
    )  # fmt: skip
    written.set_gid(_MARK)
    written.set_in_layout(False)


def spread(figure: Figure) -> None:
    """Move the labels of all panels apart, after the layout of everything else is final.

    Labels for which there is no room are left out.
    """
    for axes in figure.axes:
        taken = np.concatenate([np.empty((0, 4)), *_obstacles(axes)])
        for written in _labels(axes):
            offsets, boxes = _choices(axes, written)
            inside = _shared(boxes, np.array(axes.bbox.extents)[None])
            outside = _shared(boxes[:1], boxes[:1]) - inside
            costs = _shared(boxes, taken) + outside + _FAR * np.hypot(*_DIRECTIONS.T)
            best = int(costs.argmin())
            if _shared(boxes[best : best + 1], taken) > _READABLE * _shared(boxes[:1], boxes[:1]):
                written.set_visible(False)
                continue
            written.set_position((float(offsets[best, 0]), float(offsets[best, 1])))
            taken = np.concatenate([taken, boxes[best : best + 1]])


def _labels(axes: Axes) -> list[Annotation]:
    texts = (text for text in axes.texts if text.get_gid() == _MARK)
    return [text for text in texts if isinstance(text, Annotation)]


def _obstacles(axes: Axes) -> Iterator[Boxes]:
    """Yield what marks fill, as squares, and lines, as dots along them."""
    for line in axes.get_lines():
        places = line.get_transform().transform(line.get_xydata())
        if line.get_marker() not in ("None", "none", "", None):
            yield _squares(places, line.get_markersize() / 2 * axes.figure.dpi / 72)
        if line.get_linestyle() not in ("None", "none", "", " "):
            for start, end in itertools.pairwise(places):
                yield _squares(np.linspace(start, end, int(np.hypot(*(end - start)) / 3)), 1)


def _squares(centres: Boxes, half: float) -> Boxes:
    return np.concatenate([centres - half, centres + half], axis=-1)


def _choices(axes: Axes, written: Annotation) -> tuple[Boxes, Boxes]:
    """Return the offsets in points, longer labels farther to the side, and what they fill."""
    extent = written.get_window_extent()
    scale = axes.figure.dpi / 72
    half = np.array([extent.width, extent.height]) / 2
    offsets = _DIRECTIONS * [0.7 * _STEP, _STEP]
    offsets[:, 0] += np.sign(_DIRECTIONS[:, 0]) * half[0] / scale
    centres = axes.transData.transform(written.xy) + offsets * scale
    return offsets, np.concatenate([centres - half, centres + half], axis=-1)


def _shared(boxes: Boxes, others: Boxes) -> Boxes:
    """Return the area that each box shares with the others, in square pixels."""
    low = np.maximum(boxes[:, None, :2], others[None, :, :2])
    high = np.minimum(boxes[:, None, 2:], others[None, :, 2:])
    area: Boxes = np.clip(high - low, 0, None).prod(axis=-1).sum(axis=1)
    return area
