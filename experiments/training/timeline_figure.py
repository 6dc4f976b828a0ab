"""A timeline as a picture: one row for computing, one for communication, visible parts darker."""

from __future__ import annotations

from collections.abc import Mapping

from experiments.figures.figure import Axis, Bar, Figure, Panel, Series, Style
from experiments.training.timeline import Stream, Timeline

__all__ = ["timeline_figure"]

_COLOURS = {
    "compute": "#999999",
    "allreduce": "#0072B2",
    "allgather": "#56B4E9",
    "reduce-scatter": "#009E73",
    "all-to-all": "#D55E00",
}
_ROWS = (Stream.COMPUTE, Stream.COMMUNICATION)


def timeline_figure(timelines: Mapping[str, Timeline]) -> Figure:
    """Describe a panel for each timeline, all on the same scale of milliseconds."""
    panels, kinds = [], dict[str, Style]()
    longest = max((one.seconds for one in timelines.values()), default=0.0) * 1e3
    for name, one in timelines.items():
        bars = []
        for run in one.runs:
            if run.task.seconds == 0:
                continue
            style = kinds.setdefault(run.task.kind, Style(_COLOURS[run.task.kind], "method"))
            bars.append(
                Bar(
                    _ROWS.index(run.task.stream),
                    0.8,
                    run.start * 1e3,
                    run.task.seconds * 1e3,
                    style,
                    text=f"{run.task.name}: {run.task.seconds * 1e3:.3g} ms",
                )
            )
        share = one.visible / one.seconds if one.seconds else 0.0
        panels.append(
            Panel(
                f"{name}: {one.seconds * 1e3:.4g} ms, {share:.0%} visible communication",
                Axis("ms", places=(longest,), from_zero=True),
                Axis(names=tuple(row.value for row in _ROWS), downwards=True),
                bars=tuple(bars),
            )
        )
    legend = tuple(Series(kind, style) for kind, style in kinds.items())
    return Figure(tuple(panels), legend, size=(6.2, 1.3))
