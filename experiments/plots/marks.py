"""Published values in figures: hollow marks beside the lines of our own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes

from experiments.plots.looks import Look
from experiments.plots.losses import INK
from experiments.published import Mark
from experiments.results.rows import Row

__all__ = ["HOLLOW", "found_by_gpus", "found_by_size", "marks_by_gpus", "marks_by_size"]

HOLLOW = "*dp"
"""Markers of published values that are of no method in the figure, in this order."""


def found_by_gpus(
    cluster: str, sizes: Sequence[int], marks: Sequence[Mark]
) -> dict[str, list[Mark]]:
    """Return published values for the numbers of GPUs that the rows span, by label.

    What is derived follows a formula of the size, so that between two sizes it would lie off the
    straight line of the optimum: it stands at the sizes of the rows. A label without any is there
    too, for those after it to look the same everywhere.
    """
    found: dict[str, list[Mark]] = {mark.label: [] for mark in marks}
    for mark in marks if sizes else ():
        within = min(sizes) <= mark.gpus <= max(sizes)
        if (mark.cluster, mark.size_bytes) == (cluster, None) and (
            mark.gpus in sizes if mark.derived else within
        ):
            found[mark.label].append(mark)
    return found


def found_by_size(rows: Sequence[Row], marks: Sequence[Mark]) -> dict[tuple[str, str], list[Mark]]:
    """Return published values for the sizes of the data of a panel, by label and method."""
    places = {(row.cluster, row.gpus, row.size_bytes) for row in rows}
    found: dict[tuple[str, str], list[Mark]] = {}
    for mark in marks:
        if mark.size_bytes and (mark.cluster, mark.gpus, mark.size_bytes) in places:
            found.setdefault((mark.label, mark.method), []).append(mark)
    return found


def marks_by_gpus(axes: Axes, cluster: str, sizes: Sequence[int], marks: Sequence[Mark]) -> None:
    """Add what :func:`found_by_gpus` finds."""
    hollow: Look = {"facecolors": "none", "edgecolors": INK, "linewidths": 1}
    for position, (name, its) in enumerate(found_by_gpus(cluster, sizes, marks).items()):
        if its:
            across, up = [mark.gpus for mark in its], [mark.value for mark in its]
            axes.scatter(across, up, s=60, marker=HOLLOW[position % 3], label=name, **hollow)


def marks_by_size(
    axes: Axes, rows: Sequence[Row], marks: Sequence[Mark], palette: Mapping[str, Look]
) -> None:
    """Add what :func:`found_by_size` finds.

    Each is hollow, in the colour and of the marker of the first line of its method.
    """
    series = {row.method: row.series for row in reversed(rows)}
    for (label, method), its in found_by_size(rows, marks).items():
        look = palette.get(series.get(method, ""), {"color": INK, "marker": "*"})
        across, up = [float(mark.size_bytes or 0) for mark in its], [mark.value for mark in its]
        hollow: Look = {"facecolors": "none", "edgecolors": look["color"], "linewidths": 1.2}
        axes.scatter(across, up, s=80, marker=look["marker"], label=label, zorder=4, **hollow)
