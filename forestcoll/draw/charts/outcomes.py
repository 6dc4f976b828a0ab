"""Bar chart of the rates after failures and upgrades, next to the present rate."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from forestcoll.draw.canvas import CROSSING, INK, QUIET, Picture
from forestcoll.draw.charts.named_rows import name_rows
from forestcoll.errors import InvalidParameterError
from forestcoll.topology.describe import decimal
from forestcoll.topology.numbers import exact_text
from forestcoll.what_if.single_changes import Outcome

__all__ = ["draw_outcomes"]

_BETTER = "#0072b2"
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
    texts = [
        "stops" if one.algbw_gb_s is None else f"{value:.4g} ({100 * float(one.gain):+.1f} %)"
        for one, value in zip(outcomes, values, strict=True)
    ]
    name_rows(axes, [one.parts.in_words(every=one.every) for one in outcomes], texts)
    title = "if one fails" if failed else f"if {exact_text(outcomes[0].factor)} times as fast"
    axes.set_title(title, fontsize=9, loc="left", color=INK)
