"""Bar chart of compared methods, with the optimum as a line."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from matplotlib.figure import Figure

from baselines.compared_method import Compared
from forestcoll.draw.canvas import CROSSING, INK, QUIET, Picture
from forestcoll.draw.charts.named_rows import name_rows
from forestcoll.errors import UnsupportedError

__all__ = ["draw_comparison"]

_OURS = "#0072b2"
_ROW = 0.24  # inches


def draw_comparison(compared: Sequence[Compared]) -> Figure:
    """Draw a bar for each method with a schedule; a tick on it is its rate in synchronous steps.

    Raises
    ------
    UnsupportedError
        If no method has a schedule.
    """
    made = [one for one in compared if one.algbw_gb_s is not None and one.schedule is not None]
    if not made or made[0].schedule is None:
        raise UnsupportedError("no method has a schedule to draw; the table has the reasons")
    shown = made[0].schedule
    figure = Picture(
        figsize=(7.0, 1.3 + _ROW * len(made)), dpi=150, facecolor="white", layout="constrained"
    )
    axes = figure.subplots()
    rates = [float(one.algbw_gb_s or 0) for one in made]
    colours = [_OURS if one.method == "forestcoll" else QUIET for one in made]
    axes.barh(range(len(made)), rates, height=0.65, color=colours, label="pipelined")
    stepped = [(row, one.synchronous_gb_s) for row, one in enumerate(made)]
    steps = [(float(rate), row) for row, rate in stepped if rate is not None]
    if steps:
        x, y = zip(*steps, strict=True)
        axes.plot(x, y, "|", color=INK, ms=9, mew=1.6, label="in synchronous steps")
    bounds = sorted({one.bound_gb_s for one in made if one.bound_gb_s is not None})
    for bound, style in zip(bounds, ("--", ":"), strict=False):
        adding = bound != bounds[0]  # the switches of some methods add, those of others forward
        label = "optimum, switches reduce" if adding else "optimum"
        axes.axvline(float(bound), color=CROSSING, lw=1.2, ls=style, label=label)
    texts = [_attained(rate, one.bound_gb_s) for rate, one in zip(rates, made, strict=True)]
    name_rows(axes, [one.method for one in made], texts, points=8)
    title = f"{shown.topology.name}, {shown.collective}"
    figure.suptitle(title, color=INK, fontsize=10, parse_math=False)
    axes.set_xlabel("theoretical algorithmic bandwidth, GB/s", color=INK)
    figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=8)
    return figure


def _attained(rate: float, most: Fraction | None) -> str:
    """Return a rate with its share of a bound."""
    return f"{rate:.4g}" if most is None else f"{rate:.4g} ({100 * rate / float(most):.3g} %)"
