"""Bounds from different cuts: what borders of GPUs, of linked GPUs and of boxes allow, by size.

There is a panel for each cluster. The least of the bounds at a size is the optimum wherever the
optimum's line meets it; where a line ends, no set of its kind bounds anything.
"""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments import published
from experiments.measures.declared import DRAWN
from experiments.plots.drawing import from_zero, gpu_axis, label_left
from experiments.plots.losses import INK
from experiments.plots.marks import marks_by_gpus
from experiments.plots.panels import cluster_panels
from experiments.results.columns import medians
from experiments.results.rows import Row

__all__ = ["BORDERS", "cut_bounds"]

BORDERS = {
    "border_of_gpu_gb_s": ("one GPU", "#0072b2", "o", "-"),
    "border_of_pair_gb_s": ("two linked GPUs", "#e69f00", "^", "--"),
    "border_of_box_gb_s": ("one box", "#d55e00", "s", "-."),
}
"""Each measure's name in the legend, colour, marker and line."""


def cut_bounds(rows: Sequence[Row], y: str) -> Figure:
    """Draw the bounds of all kinds of sets against the number of GPUs, and the optimum.

    Parameters
    ----------
    rows : sequence of Row
    y : str
        The measure that they bound, for the axis and for published values.
    """
    figure, panel_of = cluster_panels(rows, y)
    for cluster, axes in panel_of.items():
        here = [row for row in rows if row.cluster == cluster]
        _lines(axes, here)
        sizes = [row.gpus for row in here if row.gpus]
        gpu_axis(axes, sizes)
        marks_by_gpus(axes, cluster, sizes, published.marks(y, {row.collective for row in here}))
    from_zero(figure.axes)
    label_left(figure.axes, f"bound on {DRAWN[y].axis}")
    return figure


def _lines(axes: Axes, rows: Sequence[Row]) -> None:
    best = medians(rows, "optimum_gb_s")
    axes.plot(list(best), list(best.values()), color=INK, lw=4, alpha=0.25, label="optimum")
    for column, (name, colour, marker, dash) in BORDERS.items():
        bounds = medians(rows, column)
        if bounds:
            axes.plot(
                list(bounds), list(bounds.values()),
                color=colour, marker=marker, markersize=4, linestyle=dash, label=name,
            )  # fmt: skip
