"""Line charts of pandas data frames."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure
from matplotlib.ticker import StrMethodFormatter

from forestcoll.draw.canvas import INK, Picture

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["draw_frame"]

_LINES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#949494", "#56a0cf", "#e69f00")
_MARKERS = "os^v"


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
