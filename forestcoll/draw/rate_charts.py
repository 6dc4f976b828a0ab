"""Charts of rates: after failures and upgrades, by depth of the trees, and by k."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import StrMethodFormatter

from forestcoll.draw.canvas import CROSSING, INK, QUIET, Picture
from forestcoll.errors import InvalidParameterError
from forestcoll.topology.describe import decimal
from forestcoll.topology.numbers import exact_text
from forestcoll.what_if.single_changes import Outcome

if TYPE_CHECKING:
    import pandas as pd

    from forestcoll.bounded_depth.depth_limit import DepthPoints
    from forestcoll.k_scan import BestK

__all__ = ["draw_choices", "draw_depths", "draw_frame", "draw_outcomes"]

_BETTER = "#0072b2"
_LINES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#949494", "#56a0cf", "#e69f00")
_MARKERS = "os^v"
_SHOWN = 12  # bars of a panel, the longest first
_BAR = 0.28  # inches


def draw_outcomes(failing: Sequence[Outcome], better: Sequence[Outcome]) -> Figure:
    """Draw a bar for each of the worst failures and each upgrade that raises the rate.

    Parameters
    ----------
    failing, better : sequence of Outcome
        As :func:`forestcoll.what_if.single_changes.failures` and
        :func:`~forestcoll.what_if.single_changes.upgrades` return them.

    Raises
    ------
    InvalidParameterError
        If there are none.
    """
    helpful = [one for one in better if one.gain > 0]
    panels = [list(part) for part in (failing[:_SHOWN], helpful[:_SHOWN]) if part]
    if not panels:
        raise InvalidParameterError("there are no outcomes to draw")
    heights = [len(part) for part in panels]
    figure = Picture(
        figsize=(8.0, _BAR * sum(heights) + 1.2 * len(panels)),
        dpi=150,
        facecolor="white",
        layout="constrained",
    )
    rows = figure.subplots(len(panels), 1, squeeze=False, height_ratios=heights, sharex=True)
    before = panels[0][0].before
    for axes, part in zip(rows[:, 0], panels, strict=True):
        _panel(axes, part)
    rates = [float(one.algbw_gb_s or 0) for part in panels for one in part]
    largest = max(*rates, float(before.algbw_gb_s))
    rows[0, 0].set_xlim(0, largest)
    figure.suptitle(
        f"{before.topology.name}, {before.collective}", color=INK, fontsize=11, parse_math=False
    )
    rows[-1, 0].set_xlabel(
        f"algorithmic bandwidth, GB/s (as it is: {decimal(before.algbw_gb_s)})", color=INK
    )
    return figure


def _panel(axes: Axes, outcomes: Sequence[Outcome]) -> None:
    failed = outcomes[0].factor == 0
    now = float(outcomes[0].before.algbw_gb_s)
    values = [float(one.algbw_gb_s or 0) for one in outcomes]
    places = range(len(outcomes))
    axes.barh(places, values, height=0.6, color=CROSSING if failed else _BETTER)
    axes.axvline(now, color=QUIET, lw=1, ls="--")
    for place, one, value in zip(places, outcomes, values, strict=True):
        text = (
            "stops" if one.algbw_gb_s is None else f"{value:.4g} ({100 * float(one.gain):+.1f} %)"
        )
        axes.annotate(  # beside the panel, where no bar and no line ends
            text,
            (1.0, place),
            xytext=(6, 0),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            va="center",
            fontsize=7,
            annotation_clip=False,
        )
    axes.set_yticks(list(places), [one.parts.in_words(every=one.every) for one in outcomes])
    for label in axes.get_yticklabels():
        label.set_parse_math(False)
        label.set_fontsize(7)
    axes.set_ylim(len(outcomes) - 0.5, -0.5)
    axes.spines[["top", "right"]].set_visible(False)
    title = "if one fails" if failed else f"if {exact_text(outcomes[0].factor)} times as fast"
    axes.set_title(title, fontsize=9, loc="left", color=INK)


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


def draw_frame(
    frame: pd.DataFrame,
    *,
    title: str = "",
    y: str = "",
    log_x: bool = False,
    log: bool = False,
) -> Figure:
    """Draw the columns of a pandas data frame as lines over its index.

    Parameters
    ----------
    frame : data frame
        Of numbers; missing ones are left out. With two levels of columns, the first has the panels.
    title : str
    y : str
        The label of the vertical axis.
    log_x, log : bool
        Whether the horizontal axis, or both, are logarithmic.
    """
    grouped = frame.columns.nlevels > 1
    names = list(dict.fromkeys(frame.columns.get_level_values(0))) if grouped else [title]
    size = (max(5.5, 3.4 * len(names)), 2.9)
    figure = Picture(figsize=size, dpi=150, facecolor="white", layout="constrained")
    panels = figure.subplots(1, len(names), squeeze=False)[0]
    for axes, name in zip(panels, names, strict=True):
        part = frame[name] if grouped else frame
        for place, column in enumerate(part.columns):
            style = {"color": _LINES[place % len(_LINES)], "marker": _MARKERS[place % 4], "ms": 4}
            known = part[column].astype(float).dropna()  # lines lead over missing numbers
            axes.plot(known.index, known, label=str(column), **style)
        axes.set_title(str(name), fontsize=10, color=INK, parse_math=False)
        axes.set_xlabel(str(frame.index.name or ""), color=INK)
        if log or log_x:
            axes.set_xscale("log", base=2)
            axes.xaxis.set_major_formatter(StrMethodFormatter("{x:.0f}"))
        if log:
            axes.set_yscale("log")
        else:
            axes.set_ylim(bottom=0)
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel(y, color=INK)
    entries = panels[0].get_legend_handles_labels()
    figure.legend(*entries, loc="outside lower center", ncols=4, frameon=False, fontsize=8)
    return figure


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
    if len(ticks) <= _SHOWN:
        axes.set_xticks(list(ticks))
    axes.set_xlim(min(ticks) - 0.5, max(ticks) + 1.0)
    axes.set_ylim(0, axes.get_ylim()[1] * 1.05)
    axes.legend(frameon=False, fontsize=8, loc="lower right")
    return figure
