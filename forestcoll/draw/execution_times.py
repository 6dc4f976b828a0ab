"""Bar chart of the times of schedules that were run between processes."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from forestcoll.draw.canvas import INK, QUIET, Picture
from forestcoll.draw.charts.named_rows import name_rows
from forestcoll.errors import InvalidParameterError

__all__ = ["draw_execution_times"]

_BAR = 0.45  # inches
_FILL = "#56b4e9"


def draw_execution_times(runs: Mapping[str, Sequence[float]], title: str, label: str) -> Figure:
    """Draw a bar for the median of each name's runs, and a line from the least to the most.

    Parameters
    ----------
    runs : mapping
        Seconds of each run, by the name of what was run; the first is on top.
    label : str
        Of the axis; milliseconds are added.

    Raises
    ------
    InvalidParameterError
        If there is no run.
    """
    if not runs or not all(runs.values()):
        raise InvalidParameterError("there are no times to draw; time at least one run of each")
    figure = Picture(
        figsize=(8.0, 1.3 + _BAR * len(runs)), dpi=150, facecolor="white", layout="constrained"
    )
    axes = figure.subplots()
    places = range(len(runs))
    medians = [1e3 * statistics.median(each) for each in runs.values()]
    least = [1e3 * min(each) for each in runs.values()]
    most = [1e3 * max(each) for each in runs.values()]
    axes.barh(places, medians, height=0.6, color=_FILL, edgecolor=INK, linewidth=0.6)
    axes.hlines(list(places), least, most, color=INK, linewidth=1.2)
    for ends in (least, most):
        axes.plot(ends, places, "|", color=INK, markersize=6)
    name_rows(axes, list(runs), [f"{median:.4g}" for median in medians], points=8)
    axes.set_xlim(0, 1.03 * max(most))
    axes.grid(axis="x", color=QUIET, linewidth=0.4)
    axes.set_axisbelow(True)
    axes.set_xlabel(f"{label}, ms: bar median, line least to most", color=INK, fontsize=9)
    axes.set_title(title, fontsize=9, loc="left", color=INK, parse_math=False)
    return figure
