"""What faults cost: the time as a multiple of the optimum of the same network without them.

There is a panel for each way in which networks are changed; a network that is not there without
changes has no lines. Its band is the optimum of the damaged network over that of the whole one: no
schedule is below it. Of networks without changes alone, it is 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.plots.drawing import gpu_axis, label_left
from experiments.plots.losses import INK, lost_in_words, never_done, notes, partly_done
from experiments.plots.panels import cluster_panels, palette_of
from experiments.results.columns import medians
from experiments.results.rows import Row

__all__ = ["fault_costs"]


def fault_costs(rows: Sequence[Row], y: str) -> Figure:
    """Draw the optimum without faults over a rate, against the number of GPUs.

    Parameters
    ----------
    rows : sequence of Row
        Of changed networks, and of the same without changes.
    y : str
        The rate: any algbw.
    """
    whole = {row.topology: row.optimum_gb_s for row in rows if " " not in row.topology}
    damaged = [row for row in rows if row.topology not in whole]
    band = "optimum, damaged" if damaged else "optimum, undamaged"
    damaged = damaged or list(rows)
    palette = palette_of(damaged)
    figure, panel_of = cluster_panels([replace(row, optimum_gb_s=None) for row in damaged], y)
    for cluster, axes in panel_of.items():
        here = [row for row in damaged if row.cluster == cluster]
        base = {row.gpus: whole.get(row.topology.partition(" ")[0]) for row in here if row.gpus}
        _line(axes, base, medians(here, "optimum_gb_s"), color=INK, lw=4, alpha=0.25,
              label=band)  # fmt: skip
        for series, its_look in palette.items():
            its = [row for row in here if row.series == series]
            _line(axes, base, medians(its, y), label=series, **its_look)
        axes.axhline(1.0, color=INK, lw=0.8, ls=(0, (4, 3)), label="optimum without faults")
        gpu_axis(axes, [row.gpus for row in here if row.gpus])
    told = partly_done(damaged)
    notes(figure.axes, [lost_in_words(told, palette, cluster=name) for name in panel_of])
    for series, words in never_done(damaged, palette).items():
        figure.axes[0].plot([], [], label=words, **palette[series])
    label_left(figure.axes, "time / optimum without faults")
    return figure


def _line(
    axes: Axes, base: Mapping[int, float | None], rates: Mapping[int, float], **look: Any
) -> None:
    times = {size: best / rate for size, rate in rates.items() if (best := base[size])}
    if times:
        axes.plot(list(times), list(times.values()), **look)
