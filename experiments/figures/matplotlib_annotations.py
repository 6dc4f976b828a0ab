"""Text in matplotlib's panels: failure marks, notes, the legend, and labels beside markers.

Labels are moved to where they cover neither markers nor each other.
"""

from __future__ import annotations

import itertools
import math
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from matplotlib import figure as pictures
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.text import Annotation
from matplotlib.transforms import ScaledTranslation, Transform, blended_transform_factory
from numpy.typing import NDArray

from experiments.figures.figure import FAILURES, INK, Failure, Figure, Note, Panel
from experiments.figures.panels import wrapped
from experiments.results.rows import Status

__all__ = [
    "METHOD", "add_legend", "corner", "glyph", "label", "lanes_of", "mark_cells", "mark_failures",
    "notes_of", "pad_titles", "separate", "spread", "word",
]  # fmt: skip

_STRIP = 7.0  # points of a lane of failure marks above a panel
_MARK_WIDTH = 13.0  # points of a failure mark: a marker and a letter
_TO_LETTER = 5.0  # points from the one to the other
_NOTE = 7.5  # points of a line of a note
_MOST_NOTES = 4  # lines of notes above a panel
_LETTERS_AN_INCH = 19.0  # of a note
_LONGEST = 44  # letters of a line in the legend
_HANDLE = 0.38  # inches of a handle in the legend, with the space beside it
_SIDE = 4.0  # points between markers that coincide

METHOD = "method"
"""Names lines with markers that move where they coincide."""

Boxes = NDArray[np.float64]
"""Rectangles in pixels: left, bottom, right, top in the last axis."""

_ROOM = np.array([-2.0, -2.0, 2.0, 2.0])  # pixels around a label that no other one covers
_BAND = 3.0  # points from which a line is a band, such as that of an optimum
_MARK = "beside a mark"

_DIRECTIONS = np.array([
    (1, 0.7), (1, -0.7), (-1, 0.7), (-1, -0.7), (0, 1.2), (0, -1.2), (1.3, 0), (-1.3, 0),
    (1.8, 1.6), (1.8, -1.6), (-1.8, 1.6), (-1.8, -1.6), (0, 2.4), (0, -2.4),
])  # fmt: skip
"""Possible places of a label, in steps away from its mark; the first of the best is taken."""

_FAR = 30.0
"""What a step away from the mark costs, in covered pixels."""

_STEP = 5.0
"""In points: half a mark and a little."""

_READABLE = 0.3
"""Limit on the covered share of a label; a label that exceeds it everywhere is left out."""


def glyph(status: Status) -> str:
    """Return the marker of a point without a result: a letter."""
    return f"$\\mathbf{{{FAILURES[status][0]}}}$"


def lanes_of(panel: Panel, width: float) -> list[list[Failure]]:
    """Return the failures above a panel, in lanes in which no two touch.

    Parameters
    ----------
    width : float
        Inches of the panel, on the average.
    """
    if panel.cells:
        return []
    shown = [one for one in panel.failures if not one.page_only]
    placed = sorted((one for one in shown if one.x is not None), key=lambda one: one.x or 0.0)
    loose = [one for one in shown if one.x is None and one.y is None]
    lanes: list[list[Failure]] = []
    ends: list[float] = []
    across = _across(panel, 72 * width)
    for one in placed:
        start = across(one.x or 0.0)
        lane = next((i for i, end in enumerate(ends) if end <= start), len(lanes))
        if lane == len(lanes):
            lanes.append([])
            ends.append(0.0)
        lanes[lane].append(one)
        ends[lane] = start + _MARK_WIDTH
    in_line = max(1, int(72 * width / _MARK_WIDTH))
    return lanes + [loose[i : i + in_line] for i in range(0, len(loose), in_line)]


def _across(panel: Panel, width: float) -> Callable[[float], float]:
    """Return a function from an abscissa to points from the left of the panel."""
    doubling = panel.x.scale in ("doubling", "bytes", "log")
    change = math.log if doubling else float
    xs = [point.x for one in panel.series for point in one.points]
    xs += [one.x for one in panel.failures if one.x is not None]
    places = [change(x) for x in xs if x > 0 or not doubling] or [0.0]
    low, high = min(places), max(places)
    return lambda x: width * (change(x) - low) / ((high - low) or 1.0)


def mark_failures(axes: Axes, lanes: Sequence[Sequence[Failure]]) -> None:
    """Put the marker of the method and a letter for each failure into its lane."""
    for number, lane in enumerate(lanes):
        up = _STRIP * (number + 0.8)
        for place, one in enumerate(lane):
            if one.x is None:
                _mark(axes, 0.0, one, (_MARK_WIDTH * place + 3, up), axes.transAxes)
            else:
                above = blended_transform_factory(axes.transData, axes.transAxes)
                _mark(axes, one.x, one, (0.0, up), above)
                axes.update_datalim([(one.x, 1)], updatey=False)
    axes.autoscale_view(scaley=False)


def _mark(axes: Axes, x: float, one: Failure, offset: tuple[float, float], to: Transform) -> None:
    how = one.style
    marker: dict[str, Any] = {
        "marker": how.marker, "markersize": 3.6, "color": how.colour, "fillstyle": how.fill,
        "markeredgewidth": 0.7,
    }  # fmt: skip
    letter: dict[str, Any] = {
        "marker": glyph(one.status),
        "markersize": 3.8,
        "color": INK,
        "markeredgewidth": 0.3,
    }
    for aside, shape in ((0.0, marker), (_TO_LETTER, letter)):
        inch = axes.figure.dpi_scale_trans
        moved = ScaledTranslation((offset[0] + aside) / 72, offset[1] / 72, inch)
        axes.add_line(
            Line2D(
                [x], [1], linestyle="none", clip_on=False, zorder=4, transform=to + moved, **shape
            )
        )


def mark_cells(axes: Axes, failures: Iterable[Failure]) -> None:
    """Put a letter into each cell without a result."""
    for one in failures:
        letter: dict[str, Any] = {"marker": glyph(one.status), "markersize": 3.8, "color": INK}
        axes.plot([one.x or 0.0], [one.y or 0.0], linestyle="none", markeredgewidth=0.3, **letter)


def word(axes: Axes, failure: Failure) -> None:
    """Write the failure of a bar in its place."""
    axes.annotate(
        FAILURES[failure.status][1], (0, failure.y or 0), (3, 0), color=failure.style.colour,
        xycoords=("axes fraction", "data"), textcoords="offset points", va="center", fontsize=6,
        annotation_clip=False, parse_math=False, zorder=3,
    )  # fmt: skip


def corner(axes: Axes, panel: Panel) -> None:
    """Mark the corner of a panel in which a method is best by both axes."""
    x, y = (float(axis.better == "more") for axis in (panel.x, panel.y))
    axes.plot(
        [x], [y], "o", markersize=56, color="#e3f1e3", markeredgewidth=0, zorder=0.5,
        transform=axes.transAxes,
    )  # fmt: skip
    axes.annotate(
        panel.corner, (x, y), (-3 if x else 3, -3 if y else 3), xycoords="axes fraction",
        textcoords="offset points", ha="right" if x else "left", va="top" if y else "bottom",
        fontsize=6, color="#3d6b3d", parse_math=False,
    )  # fmt: skip


def notes_of(panel: Panel, width: float) -> list[Note]:
    """Return the notes of a panel, in lines as wide as it; those without room are counted."""
    letters = max(12, int(width * _LETTERS_AN_INCH))
    lines: list[Note] = []
    left = list(panel.notes)
    while left:
        its = textwrap.wrap(left[0].text, letters, break_on_hyphens=False)
        if len(lines) + len(its) > _MOST_NOTES - (len(left) > 1):
            break
        lines += [Note(line, left[0].colour) for line in its]
        left.pop(0)
    if left:
        lines.append(Note(f"and {len(left)} more without a result", INK))
    return lines


def pad_titles(
    grid: Sequence[Axes], lanes: Sequence[Sequence[object]], notes: Sequence[Sequence[Note]]
) -> float:
    """Write the notes above the lanes of each panel, and titles above both; return their height.

    The heights are in points and the same for all panels, whose titles stand in line.
    """
    strip = _STRIP * max(map(len, lanes), default=0)
    for axes, its in zip(grid, notes, strict=True):
        for height, note in enumerate(reversed(its)):
            axes.annotate(
                note.text, (0, 1), (0, 4 + strip + _NOTE * height), xycoords="axes fraction",
                textcoords="offset points", fontsize=6, color=note.colour, annotation_clip=False,
                parse_math=False,
            )  # fmt: skip
    above = strip + _NOTE * max(map(len, notes), default=0)
    for axes in grid:
        axes.set_title(axes.get_title(), pad=5 + above, parse_math=False)
    return above


def add_legend(picture: pictures.Figure, figure: Figure) -> None:
    """Put one legend for all panels below them, in its own room, with the meaning of letters."""
    found = {
        label: handle
        for axes in picture.axes
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    words = _letters(figure)
    if not found and not words:
        return
    texts = {name: wrapped(name, _LONGEST) for name in found}
    width = picture.get_figwidth() - 0.2
    widest = max(
        (_inches(line) for text in texts.values() for line in text.splitlines()), default=0
    )
    columns = min(len(found), max(1, int((width + 0.15) / (widest + _HANDLE)))) or 1
    rows = math.ceil(len(found) / columns)
    legend = picture.legend(
        found.values(), texts.values(), loc="outside lower center", ncols=columns,
        title=words or None, title_fontsize=6.5, handlelength=2.2, columnspacing=1.2,
        borderaxespad=0.2, labelspacing=0.35,
    )  # fmt: skip
    for text in legend.get_texts():
        text.set_parse_math(False)
    most = max((text.count("\n") + 1 for text in texts.values()), default=1)
    picture.set_figheight(picture.get_figheight() + 0.15 * (rows * most + bool(words)) + 0.05)


def _inches(text: str) -> float:
    """Return the width of a text of the legend."""
    font = font_manager.get_font(font_manager.findfont("DejaVu Sans"))
    font.set_size(7, 72)
    font.set_text(text)
    return float(font.get_width_height()[0]) / 64 / 72


def _letters(figure: Figure) -> str:
    """Explain the letters in use."""
    shown = [one for panel in figure.panels for one in panel.failures if not one.page_only]
    cells = any(panel.cells for panel in figure.panels)
    used = {one.status for one in shown if cells or one.x is not None or one.y is None}
    meanings = [
        f"{letter} {meaning}" for status, (letter, meaning) in FAILURES.items() if status in used
    ]
    along = any(one.x is not None for one in shown)
    where = "In cells" if cells else f"Above the panels{', from that place on' if along else ''}"
    return f"{where}: {', '.join(meanings)}" if meanings else ""


def separate(figure: pictures.Figure) -> None:
    """Move markers that coincide aside, each by a part of its width, so that all are seen.

    The lines stay where they are.
    """
    for axes in figure.axes:
        if axes.patches:
            continue
        marked = [
            line
            for line in axes.get_lines()
            if line.get_gid() == METHOD and np.size(line.get_xydata())
        ]
        before = [line.get_transform().transform(line.get_xydata()) for line in marked]
        side = _SIDE * axes.figure.dpi / 72
        for line, places in _moved(list(zip(marked, before, strict=True)), side):
            back = axes.transData.inverted().transform(places)
            dots = Line2D(
                back[:, 0], back[:, 1], linestyle="none", marker=line.get_marker(),
                markersize=line.get_markersize(), color=line.get_color(),
                fillstyle=line.get_fillstyle(), markeredgewidth=line.get_markeredgewidth(),
                markeredgecolor=line.get_markeredgecolor(), zorder=line.get_zorder() + 0.5,
                alpha=line.get_alpha(),
            )  # fmt: skip
            dots.set_clip_on(False)
            line.set_marker("None")
            axes.add_line(dots)


def _moved(lines: Sequence[tuple[Line2D, Boxes]], side: float) -> Iterator[tuple[Line2D, Boxes]]:
    """Yield the lines of which markers move, with the new places of all of them."""
    clusters: list[tuple[Boxes, list[tuple[int, int]]]] = []
    for number, (_, places) in enumerate(lines):
        for index, place in enumerate(places):
            near = (its for at, its in clusters if np.abs(at - place).max() < side / 2)
            its = next(near, None)
            if its is None:
                clusters.append((place, [(number, index)]))
            else:
                its.append((number, index))
    across = np.unique(np.round([place[0] for _, places in lines for place in places]))
    room = 0.8 * float(np.diff(across).min(initial=6 * side))
    shifted = [places.copy() for _, places in lines]
    changed = set()
    for _, its in clusters:
        step = min(side, room / max(1, len(its) - 1))
        for position, (number, index) in enumerate(its if len(its) > 1 else ()):
            shifted[number][index, 0] += step * (position - (len(its) - 1) / 2)
            changed.add(number)
    for number in sorted(changed):
        yield lines[number][0], shifted[number]


def label(axes: Axes, text: str, place: tuple[float, float], color: str) -> None:
    """Write a label beside a mark; :func:`spread` finds the side."""
    written = axes.annotate(
        text, place, (_STEP, _STEP), textcoords="offset points",
        fontsize=6, color=color, ha="center", va="center", parse_math=False,
    )  # fmt: skip
    written.set_gid(_MARK)
    written.set_in_layout(False)


def spread(figure: pictures.Figure) -> None:
    """Move the labels of all panels apart, after the layout of everything else is final.

    Labels for which there is no room are left out.
    """
    for axes in figure.axes:
        taken = np.concatenate([np.empty((0, 4)), *_obstacles(axes)])
        others = np.empty((0, 4))
        for written in _labels(axes):
            offsets, boxes = _choices(axes, written)
            inside = _shared(boxes, np.array(axes.bbox.extents)[None])
            outside = _shared(boxes[:1], boxes[:1]) - inside
            covered = _shared(boxes, others)
            costs = _shared(boxes, taken) + 9 * covered + outside + _FAR * np.hypot(*_DIRECTIONS.T)
            best = int(costs.argmin())
            whole = _shared(boxes[:1], boxes[:1])
            if covered[best] > 0 or _shared(boxes[best : best + 1], taken) > _READABLE * whole:
                written.set_visible(False)
                continue
            written.set_position((float(offsets[best, 0]), float(offsets[best, 1])))
            others = np.concatenate([others, boxes[best : best + 1] + _ROOM])


def _labels(axes: Axes) -> list[Annotation]:
    texts = (text for text in axes.texts if text.get_gid() == _MARK)
    return [text for text in texts if isinstance(text, Annotation)]


def _obstacles(axes: Axes) -> Iterator[Boxes]:
    """Yield what marks fill, as squares, and lines, as dots along them, bands as wide ones."""
    scale = axes.figure.dpi / 72
    for line in axes.get_lines():
        width = line.get_linewidth()
        half, step = (width / 2 * scale, width / 2 * scale) if width > _BAND else (1, 3)
        places = line.get_transform().transform(line.get_xydata())
        if line.get_marker() not in ("None", "none", "", None):
            yield _squares(places, line.get_markersize() / 2 * scale)
        if line.get_linestyle() not in ("None", "none", "", " "):
            for start, end in itertools.pairwise(places):
                yield _squares(np.linspace(start, end, int(np.hypot(*(end - start)) / step)), half)


def _squares(centres: Boxes, half: float) -> Boxes:
    return np.concatenate([centres - half, centres + half], axis=-1)


def _choices(axes: Axes, written: Annotation) -> tuple[Boxes, Boxes]:
    """Return the offsets in points, longer labels farther to the side, and what they fill."""
    extent = written.get_window_extent()
    scale = axes.figure.dpi / 72
    half = np.array([extent.width, extent.height]) / 2
    offsets = _DIRECTIONS * [0.9 * _STEP, _STEP]
    offsets[:, 0] += np.sign(_DIRECTIONS[:, 0]) * half[0] / scale
    centres = axes.transData.transform(written.xy) + offsets * scale
    return offsets, np.concatenate([centres - half, centres + half], axis=-1)


def _shared(boxes: Boxes, others: Boxes) -> Boxes:
    """Return the area that each box shares with the others, in square pixels."""
    low = np.maximum(boxes[:, None, :2], others[None, :, :2])
    high = np.minimum(boxes[:, None, 2:], others[None, :, 2:])
    area: Boxes = np.clip(high - low, 0, None).prod(axis=-1).sum(axis=1)
    return area
