"""Published values in figures: hollow marks beside the lines of our own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes

from experiments.plots.looks import Look
from experiments.plots.losses import INK
from experiments.published import Mark
from experiments.results.rows import Row

__all__ = ["marks_by_gpus", "marks_by_size"]


def marks_by_gpus(axes: Axes, cluster: str, sizes: Sequence[int], marks: Sequence[Mark]) -> None:
    """Add published values for the numbers of GPUs that the rows span.

    What is derived follows a formula of the size, so that between two sizes it would lie off the
    straight line of the optimum: it stands at the sizes of the rows.
    """
    if not sizes:
        return
    for position, name in enumerate(dict.fromkeys(mark.label for mark in marks)):
        places = [
            (mark.gpus, mark.value)
            for mark in marks
            if (mark.cluster, mark.label, mark.size_bytes) == (cluster, name, None)
            and (mark.gpus in sizes if mark.derived else min(sizes) <= mark.gpus <= max(sizes))
        ]
        if places:
            hollow: Look = {"facecolors": "none", "edgecolors": INK, "linewidths": 1}
            across, up = zip(*places, strict=True)
            axes.scatter(across, up, s=60, marker="*dp"[position % 3], label=name, **hollow)


def marks_by_size(
    axes: Axes, rows: Sequence[Row], marks: Sequence[Mark], palette: Mapping[str, Look]
) -> None:
    """Add published values for the sizes of the data that the rows of a panel have.

    Each is hollow, in the colour and of the marker of the first line of its method.
    """
    places = {(row.cluster, row.gpus, row.size_bytes) for row in rows}
    series = {row.method: row.series for row in reversed(rows)}
    found: dict[tuple[str, str], list[Mark]] = {}
    for mark in marks:
        if mark.size_bytes and (mark.cluster, mark.gpus, mark.size_bytes) in places:
            found.setdefault((mark.label, mark.method), []).append(mark)
    for (label, method), its in found.items():
        look = palette.get(series.get(method, ""), {"color": INK, "marker": "*"})
        across, up = [float(mark.size_bytes or 0) for mark in its], [mark.value for mark in its]
        hollow: Look = {"facecolors": "none", "edgecolors": look["color"], "linewidths": 1.2}
        axes.scatter(across, up, s=80, marker=look["marker"], label=label, zorder=4, **hollow)
