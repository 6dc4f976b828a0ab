"""A timeline as a picture: a row for computing, one for communication."""

from __future__ import annotations

from collections.abc import Mapping

from experiments.figures.figure import Axis, Bar, Figure, Panel, Series, Style
from experiments.training.timeline import Stream, Timeline

__all__ = ["timeline_figure"]

_LOOKS = {
    "compute": ("#BBBBBB", ""),
    "allreduce": ("#0072B2", ""),
    "allgather": ("#56B4E9", "//"),
    "reduce-scatter": ("#009E73", "xx"),
    "all-to-all": ("#D55E00", ".."),
}
"""Colour and hatch of each kind, so that they differ in grey too."""

_ROWS = (Stream.COMPUTE, Stream.COMMUNICATION)


def timeline_figure(timelines: Mapping[str, Timeline]) -> Figure:
    """Describe a panel for each timeline; its title says how long it is."""
    panels, kinds = [], dict[str, Style]()
    for name, one in timelines.items():
        bars = []
        for run in one.runs:
            if run.task.seconds == 0:
                continue
            colour, hatch = _LOOKS[run.task.kind]
            style = kinds.setdefault(run.task.kind, Style(colour, "method", marker="s"))
            bars.append(
                Bar(
                    _ROWS.index(run.task.stream),
                    0.8,
                    run.start * 1e3,
                    run.task.seconds * 1e3,
                    style,
                    hatch=hatch,
                    text=f"{run.task.name}: {run.task.seconds * 1e3:.3g} ms",
                )
            )
        share = one.visible / one.seconds if one.seconds else 0.0
        panels.append(
            Panel(
                f"{name}: {one.seconds * 1e3:.4g} ms, {share:.0%} visible communication",
                Axis("ms", from_zero=True),
                Axis(names=tuple(row.value for row in _ROWS), downwards=True),
                bars=tuple(bars),
            )
        )
    legend = tuple(Series(kind, style) for kind, style in kinds.items())
    return Figure(tuple(panels), legend, size=(6.2, 1.3))
