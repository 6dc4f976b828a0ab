"""Where points without a result stand in a panel."""

from __future__ import annotations

from matplotlib.axes import Axes

__all__ = ["letters"]


def letters(axes: Axes) -> dict[str, list[tuple[float, float]]]:
    """Where each letter of a loss stands, by letter."""
    found: dict[str, list[tuple[float, float]]] = {}
    for line in axes.get_lines():
        if str(line.get_marker()).startswith("$"):
            found.setdefault(line.get_marker()[-3], []).append(tuple(line.get_xydata()[0]))
    return found
