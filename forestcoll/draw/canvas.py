"""Drawing surface on a matplotlib figure: GPUs, switches, links, frames and legends.

Text is never parsed as mathematics, because names may contain dollar signs.

Colours are Okabe and Ito's, which colour-blind readers can distinguish.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.backend_bases import FigureCanvasBase
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch, Patch
from matplotlib.path import Path

from forestcoll.atomic_write import write_whole
from forestcoll.draw.layouts.places import GPU_RADIUS, SWITCH_HEIGHT, Frame, Layout, Place
from forestcoll.draw.routes import Route
from forestcoll.errors import ExportError
from forestcoll.topology.model import Topology

__all__ = [
    "CROSSING", "DEAD", "INK", "PLAIN", "QUIET", "SLOW", "UNDATED", "Canvas", "Line", "Picture",
    "check_format", "gpu_label", "save_figure", "svg_text",
]  # fmt: skip

INK = "#333333"
QUIET = "#949494"
PLAIN = "#ffffff"
CROSSING = "#d55e00"
"""Colour of links that leave a cut, and of tree edges between boxes."""

SLOW = "#8f3f97"
DEAD = "#c40000"
_BORDER = 0.35  # inches, like all lengths here
_ROUNDING = 0.15
_BEHIND = 0.07  # from a frame to that of the next box of a stack
_LEAST_WIDTH = 6.0
_LARGEST = 60.0
_LEAST_FONT = 3.0  # points; smaller text is left out

_MOST_WIDTH = 620  # points in a notebook
_MOST_SVG = 160_000  # characters in a notebook; beyond, a PNG is smaller

_SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "forestcoll",
    "pdf.fonttype": 42,
}
UNDATED: dict[str, dict[str, None]] = {
    ".png": {"Software": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    ".svg": {"Date": None, "Creator": None},
}
"""Metadata that matplotlib must omit, by file ending, so that equal figures give equal files."""


_Vector = npt.NDArray[np.float64]


class Picture(Figure):
    """A figure that notebooks show without a matplotlib backend, the same bytes each time."""

    def _ipython_display_(self) -> None:
        """Show one image, also where matplotlib's inline backend would add another."""
        from IPython.display import display  # called by IPython alone

        display(self._repr_mimebundle_(), raw=True)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str | bytes]:
        """What other notebooks show: SVG, or PNG if the figure has very many lines."""
        text = _narrowed(svg_text(self))
        if len(text) <= _MOST_SVG:
            return {"image/svg+xml": text, "text/plain": str(self)}
        drawn = io.BytesIO()
        self.savefig(drawn, format="png", bbox_inches="tight", dpi=100, metadata=UNDATED[".png"])
        return {"image/png": drawn.getvalue(), "text/plain": str(self)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """Style of a link; ``width`` is in points, ``dash`` as in matplotlib."""

    colour: str
    width: float
    dash: str | tuple[float, tuple[float, ...]] = "-"
    head: bool = False
    above: bool = False


@dataclass(frozen=True)
class Canvas:
    """A figure in which one unit of a layout is an inch, or less if it would be too large."""

    figure: Figure
    axes: Axes
    scale: float

    @classmethod
    def of(cls, layout: Layout, ways: Iterable[Route] = ()) -> Canvas:
        """Make a figure large enough for a layout and the routes of its links."""
        corners = [*layout.corners(), *(point for way in ways for point in way.span())]
        low, high = np.min(corners, axis=0) - _BORDER, np.max(corners, axis=0) + _BORDER
        half = np.maximum(high - low, (_LEAST_WIDTH, 0.0)) / 2
        middle = (low + high) / 2
        scale = min(1.0, _LARGEST / float(2 * half.max()))
        size = (float(2 * half[0]) * scale, float(2 * half[1]) * scale)
        figure = Picture(figsize=size, dpi=150, facecolor="white")
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        axes.set_xlim(middle[0] - half[0], middle[0] + half[0])
        axes.set_ylim(middle[1] - half[1], middle[1] + half[1])
        axes.set_axis_off()
        return cls(figure, axes, scale)

    def write(self, title: str, caption: str, entries: Sequence[Line2D | Patch]) -> None:
        """Put the title above the drawing, and the caption and the legend below it."""
        width, height = self.figure.get_size_inches()
        self.figure.text(
            0.5, 1.0, title, ha="center", va="bottom", color=INK, fontsize=13, parse_math=False
        )
        self.figure.text(
            *(0.5, 0.0, caption),
            ha="center",
            va="top",
            color=INK,
            fontsize=9,
            linespacing=1.5,
            parse_math=False,
        )
        if entries:
            below = 0.2 * (caption.count("\n") + 1) if caption else 0.0
            legend = self.figure.legend(
                handles=list(entries),
                loc="upper center",
                bbox_to_anchor=(0.5, -below / height),
                ncols=min(len(entries), max(3, int(width / 2.0))),
                frameon=False,
                fontsize=9,
                labelcolor=INK,
            )
            for text in legend.get_texts():
                text.set_parse_math(False)

    def gpu(self, place: Place, colour: str, label: str) -> None:
        """Draw a GPU as a disc."""
        centre = (place.x, place.y)
        self.axes.add_patch(Circle(centre, GPU_RADIUS, fc=colour, ec=INK, lw=0.9, zorder=4))
        self._text(place.x, place.y, label, min(8.0, 31 / max(len(label), 1)), ha="center")

    def switch(self, place: Place, colour: str, label: str) -> None:
        """Draw a switch as a bar, with its name as large as fits."""
        corner = (place.x - place.width / 2, place.y - SWITCH_HEIGHT / 2)
        self._box(corner, place.width, SWITCH_HEIGHT, 0.06, colour, INK, 4)
        fits = 72 * 0.9 * place.width / (0.65 * max(len(label), 1))
        self._text(place.x, place.y, label, min(8.0, fits), ha="center")

    def frame(self, frame: Frame, label: str, colour: str, *, stacked: bool = False) -> None:
        """Draw the outline of a box, or of a stack of them."""
        for depth in (2, 1, 0) if stacked else (0,):
            corner = (frame.x + depth * _BEHIND, frame.y + depth * _BEHIND)
            self._box(corner, frame.width, frame.height, 0.15, colour, QUIET, 0)
        y = frame.y + (frame.height - 0.14 if frame.label_on_top else 0.14)
        self._text(frame.x + 0.1, y, label, 8.0, ha="left")

    def line(self, route: Route, line: Line, end: Place) -> None:
        """Draw a link along its route to a node, with an arrow head if requested."""
        sizes = (0.25 + 0.08 * line.width, 0.13 + 0.03 * line.width)
        pointed = f"-|>,head_length={sizes[0]},head_width={sizes[1]}"
        gap = 0.0 if end.width else GPU_RADIUS
        way = route.shortened(gap + 0.02) if line.head else route
        self.axes.add_patch(
            FancyArrowPatch(
                path=_path(way),
                arrowstyle=pointed if line.head else "-",
                mutation_scale=14,
                shrinkA=0,
                shrinkB=0,
                color=line.colour,
                linewidth=line.width,
                linestyle=line.dash,
                joinstyle="miter",
                fill=line.head,
                clip_on=False,
                zorder=3 if line.above else 2,
            )
        )

    def note(self, x: float, y: float, text: str) -> None:
        """Write a note beside a link."""
        self._text(x, y, text, 7.0, ha="center")

    def _box(
        self,
        corner: tuple[float, float],
        width: float,
        height: float,
        rounding: float,
        colour: str,
        edge: str,
        zorder: int,
    ) -> None:
        style = f"round,pad=0,rounding_size={rounding}"
        self.axes.add_patch(
            FancyBboxPatch(
                corner, width, height, boxstyle=style, fc=colour, ec=edge, lw=0.9, zorder=zorder
            )
        )

    def _text(self, x: float, y: float, text: str, size: float, *, ha: str) -> None:
        size *= self.scale
        if size >= _LEAST_FONT:
            self.axes.text(
                *(x, y, text),
                ha=ha,
                va="center",
                fontsize=size,
                color=INK,
                zorder=5,
                parse_math=False,
            )


def _path(route: Route) -> Path:
    """Return the outline of a link: straight, a curve, or with round corners."""
    points = np.array(route.points)
    if len(points) == 2:
        return Path(points, [Path.MOVETO, Path.LINETO])
    if len(points) == 3:
        return Path(points, [Path.MOVETO, Path.CURVE3, Path.CURVE3])
    vertices, codes = [points[0]], [int(Path.MOVETO)]
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        vertices += [_towards(corner, before), corner, _towards(corner, after)]
        codes += [int(Path.LINETO), *[int(Path.CURVE3)] * 2]
    return Path(np.array([*vertices, points[-1]]), [*codes, int(Path.LINETO)])


def _towards(corner: _Vector, other: _Vector) -> _Vector:
    """Return the point where the rounding of a corner begins."""
    way = other - corner
    length = float(np.hypot(*way))
    return np.asarray(corner + way * (min(_ROUNDING / length, 0.5) if length else 0.0))


def gpu_label(topology: Topology, position: int, *, boxed: bool) -> str:
    """Return a GPU's number: in its box (3), in the network (1.3), or the end of its name."""
    node = topology.nodes[position]
    if node.box is None or node.index is None:
        numbers = re.search(r"\d[\d.]*$", node.name)
        return numbers[0] if numbers else node.name
    return str(node.index) if boxed else f"{node.box}.{node.index}"


def check_format(path: str | os.PathLike[str]) -> None:
    """Refuse a file name that does not end in a format that matplotlib writes.

    Raises
    ------
    ExportError
        If it does not; the message lists the formats.
    """
    known = sorted(FigureCanvasBase.get_supported_filetypes())
    if FilePath(path).suffix.lower().lstrip(".") not in known:
        raise ExportError(
            f"{path}: a drawing's file name ends in .png, .pdf or .svg (also {', '.join(known)})"
        )


def svg_text(figure: Figure) -> str:
    """Return a figure as an SVG element, for pages; equal figures give equal text."""
    buffer = io.StringIO()
    with mpl.rc_context(_SETTINGS):
        figure.savefig(
            buffer, format="svg", bbox_inches="tight", pad_inches=0.15, metadata=UNDATED[".svg"]
        )
    text = buffer.getvalue()
    return text[text.index("<svg") :]


def _narrowed(text: str) -> str:
    """Scale a wide SVG down to the width of a page; notebook pages cut off what is wider."""
    found = re.search(r'width="([0-9.]+)pt" height="([0-9.]+)pt"', text)
    assert found is not None
    width, height = map(float, found.groups())
    if width <= _MOST_WIDTH:
        return text
    size = f'width="{_MOST_WIDTH}pt" height="{height * _MOST_WIDTH / width:.6g}pt"'
    return text.replace(found[0], size, 1)


def save_figure(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure in the format of the file's ending, trimmed to its content.

    Text stays text, and equal figures give equal bytes: no date, no random name.

    Raises
    ------
    ExportError
        If the name does not end in a format that matplotlib writes, or the file cannot be
        written.
    """
    check_format(path)
    undated = UNDATED.get(FilePath(path).suffix.lower())
    kind = FilePath(path).suffix.lower().lstrip(".")

    def write(draft: FilePath) -> None:
        with mpl.rc_context(_SETTINGS):
            figure.savefig(
                draft, format=kind, bbox_inches="tight", pad_inches=0.15, metadata=undated
            )

    write_whole(FilePath(path), write)
