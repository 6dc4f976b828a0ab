"""Drawing of a dense network of GPUs as a matrix: senders in rows, receivers in columns.

Links that would cross each other many times are squares here, which can be read one by one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator

from forestcoll.draw.canvas import INK, Canvas, Line, Picture, gpu_label
from forestcoll.draw.layouts.places import Pair
from forestcoll.topology.model import Topology

__all__ = ["as_square", "is_dense", "matrix_canvas"]

_MOST_LINES = 80
"""Pairs of linked GPUs; more are drawn as a matrix."""

_CELL = 0.17  # inches
_SMALLEST, _LARGEST = 3.0, 9.0  # inches of a side
_MOST_LABELS = 40


def is_dense(topology: Topology) -> bool:
    """Whether a network joins GPUs directly with more links than can be followed on a drawing."""
    direct = all(node.is_gpu and node.box is None for node in topology.nodes)
    pairs = {frozenset((link.tail, link.head)) for link in topology.links}
    return direct and len(pairs) > max(_MOST_LINES, 1.5 * len(topology.nodes))


def matrix_canvas(
    topology: Topology, lines: Mapping[Pair, Line], inside: Collection[int], shade: str
) -> Canvas:
    """Draw links as squares in the colours of their lines.

    Parameters
    ----------
    lines : mapping
        By (tail, head), the style of each link; a line without a head stands for both directions.
    inside : collection of int
        GPUs whose rows are shaded.
    """
    count = len(topology.nodes)
    side = min(max(_CELL * count, _SMALLEST), _LARGEST)
    figure = Picture(figsize=(side + 1.2, side + 1.0), dpi=150, facecolor="white")
    axes = figure.add_axes((0.7 / (side + 1.2), 0.6 / (side + 1.0), side / (side + 1.2),
                            side / (side + 1.0)))  # fmt: skip
    axes.set_xlim(-0.5, count - 0.5)
    axes.set_ylim(count - 0.5, -0.5)
    for v in inside:
        axes.axhspan(v - 0.5, v + 0.5, color=shade, lw=0, zorder=0)
    cells: dict[str, list[Pair]] = {}
    for (tail, head), line in lines.items():
        both = [(tail, head)] if line.head else [(tail, head), (head, tail)]
        cells.setdefault(line.colour, []).extend(both)
    points = 72 * 0.8 * side / count
    for colour, pairs in cells.items():
        axes.plot(
            [head for _, head in pairs], [tail for tail, _ in pairs], linestyle="none",
            marker="s", markersize=points, color=colour, markeredgewidth=0,
        )  # fmt: skip
    _label(axes, topology)
    return Canvas(figure, axes, 1.0)


def as_square(entry: Line2D | Patch) -> Line2D | Patch:
    """Return an entry of the legend with a square for its line."""
    if isinstance(entry, Patch):
        return entry
    return Line2D([], [], c=entry.get_color(), marker="s", ls="none", label=entry.get_label())


def _label(axes: Axes, topology: Topology) -> None:
    """Number rows and columns, every one of few and some of many."""
    count = len(topology.nodes)
    step = next(n for n in (1, 2, 5, 10, 20, 50, 100, 200, 500, 10**6) if count <= n * _MOST_LABELS)
    shown = list(range(0, count, step))
    names = [gpu_label(topology, v, boxed=False) for v in shown]
    for axis, text in ((axes.xaxis, "receiving GPU"), (axes.yaxis, "sending GPU")):
        axis.set_major_locator(FixedLocator(shown))
        axis.set_ticklabels(names, fontsize=6, parse_math=False)
        axis.set_label_text(text, color=INK)
    axes.tick_params(length=0)
    axes.spines[["top", "right"]].set_visible(False)
