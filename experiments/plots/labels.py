"""Small labels beside marks, moved to where they cover neither marks nor each other."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Annotation
from numpy.typing import NDArray

__all__ = ["label", "spread"]

Boxes = NDArray[np.float64]
"""Rectangles in pixels: left, bottom, right, top in the last axis."""

_MARK = "beside a mark"

_DIRECTIONS = np.array([
    (1, 0.7), (1, -0.7), (-1, 0.7), (-1, -0.7), (0, 1.2), (0, -1.2), (1.3, 0), (-1.3, 0),
    (1.8, 1.6), (1.8, -1.6), (-1.8, 1.6), (-1.8, -1.6), (0, 2.4), (0, -2.4),
])  # fmt: skip
"""Where a label may go, in steps away from its mark; the best is taken, the first of equals."""

_FAR = 30.0
"""What a step away from the mark costs, in covered pixels."""

_STEP = 6.0
"""In points: half a mark and a little."""

_READABLE = 0.3
"""The share of a label that may be covered; one that would be covered more is left out."""


def label(axes: Axes, text: str, place: tuple[float, float], color: str) -> None:
    """Write a label beside a mark; :func:`spread` finds the side."""
    written = axes.annotate(
        text, place, (_STEP, _STEP), textcoords="offset points",
        fontsize=7, color=color, ha="center", va="center", parse_math=False,
    )  # fmt: skip
    written.set_gid(_MARK)
    written.set_in_layout(False)


def spread(figure: Figure) -> None:
    """Move the labels of all panels apart, once everything else is in its place for good.

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
