"""Rows of a bar chart: a name at the left of each, and what it attains at the right."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

__all__ = ["name_rows"]

_POINTS = 7  # size of the letters beside the axes


def name_rows(
    axes: Axes, names: Sequence[str], texts: Sequence[str], *, points: float = _POINTS
) -> None:
    """Name rows from the top on, and write a text beside each.

    Parameters
    ----------
    axes : Axes
        With a bar at 0, 1 and so on.
    names, texts : sequence of str
        One each a row. Names are no formulas, whatever they contain.
    points : float
        Size of the names.
    """
    for place, text in enumerate(texts):
        axes.annotate(  # beside the axes, where no bar and no line ends
            text,
            (1.0, place),
            xytext=(6, 0),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            va="center",
            fontsize=_POINTS,
            annotation_clip=False,
        )
    axes.set_yticks(range(len(names)), names)
    for name in axes.get_yticklabels():
        name.set_parse_math(False)
        name.set_fontsize(points)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.spines[["top", "right"]].set_visible(False)
