"""Charts of the trade between rate and depth of the trees, or their number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from forestcoll.draw.canvas import CROSSING, INK, QUIET, Picture
from forestcoll.errors import InvalidParameterError
from forestcoll.topology.describe import decimal

if TYPE_CHECKING:
    from forestcoll.bounded_depth.depth_limit import DepthPoints
    from forestcoll.k_scan import BestK

__all__ = ["draw_choices", "draw_depths"]

_BETTER = "#0072b2"
_MOST_TICKS = 12


def draw_depths(points: DepthPoints) -> Figure:
    """Draw the rate found at each depth of the trees, below its upper bound.

    Parameters
    ----------
    points : DepthPoints
        As :func:`forestcoll.bounded_depth.depth_limit.rate_by_depth` returns them.

    Raises
    ------
    InvalidParameterError
        If there are none.
    """
    if not points:
        raise InvalidParameterError("there are no depths to draw")
    network = points[0].schedule.topology.name
    title = f"{network}, {points[0].schedule.collective}: rate by depth"
    figure, axes = _chart(title, "depth of the deepest tree, hops from GPU to GPU")
    depths = [one.depth for one in points]
    bounds = [one.at_most_gb_s for one in points]
    axes.plot(depths, [float(one.algbw_gb_s) for one in points], "o-", color=_BETTER, label="found")
    if None not in bounds:
        most = [float(one or 0) for one in bounds]
        axes.plot(depths, most, "_", ms=16, color=CROSSING, label="upper bound")
    for one in points:
        axes.annotate(
            f"{decimal(one.algbw_gb_s, 4)}, k = {one.k}",
            (one.depth, float(one.algbw_gb_s)),
            xytext=(4, -11),
            textcoords="offset points",
            fontsize=7,
        )
    return _finished(figure, axes, depths)


def draw_choices(tried: BestK) -> Figure:
    """Draw the rate of each number of trees per root, with their number and depth.

    Parameters
    ----------
    tried : BestK
        As :func:`forestcoll.k_scan.best_k` returns it.
    """
    figure, axes = _chart("rate by k", "k, trees per root")
    every, front = [one.k for one in tried.choices], tried.pareto
    rates = [float(one.algbw_gb_s) for one in tried.choices]
    axes.plot(every, rates, "o-", color=QUIET, label="every k")
    best = [float(one.algbw_gb_s) for one in front]
    axes.plot([one.k for one in front], best, "o", color=_BETTER, label="not dominated")
    for place, one in enumerate(front):
        axes.annotate(
            f"{one.trees} trees, depth {one.depth}",
            (one.k, float(one.algbw_gb_s)),
            xytext=(4, (-11, -20)[place % 2]),  # neighbours must not overlap
            textcoords="offset points",
            fontsize=7,
        )
    return _finished(figure, axes, every)


def _chart(title: str, x: str) -> tuple[Picture, Axes]:
    figure = Picture(figsize=(7.0, 3.2), dpi=150, facecolor="white", layout="constrained")
    axes = figure.subplots()
    axes.set_title(title, fontsize=10, color=INK, parse_math=False)
    axes.set_xlabel(x, color=INK)
    axes.set_ylabel("algorithmic bandwidth, GB/s", color=INK)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _finished(figure: Picture, axes: Axes, ticks: Sequence[int]) -> Picture:
    """Set whole ticks, a rate axis from zero and the legend."""
    if len(ticks) <= _MOST_TICKS:
        axes.set_xticks(list(ticks))
    axes.set_xlim(min(ticks) - 0.5, max(ticks) + 1.0)
    axes.set_ylim(0, axes.get_ylim()[1] * 1.05)
    axes.legend(frameon=False, fontsize=8, loc="lower right")
    return figure
