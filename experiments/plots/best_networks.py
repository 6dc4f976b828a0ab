"""Each method on the network that suits it best, size by size: topologies compared, not schedules.

Problem: a paper that chooses networks compares a ring on a ring with trees on trees.
Input:   rows of several networks for each number of GPUs, each with a size of the data.
Output:  a panel for each size of the data; a line for each method over the number of GPUs, which at
         each takes its best network there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MultipleLocator

from experiments.measures.declared import DRAWN
from experiments.plots.drawing import from_zero, label_left, panels
from experiments.plots.losses import never_done
from experiments.plots.panels import palette_of
from experiments.results.columns import medians
from experiments.results.rows import Row
from forestcoll.problem.sizes import size_text

__all__ = ["best_networks"]


def best_networks(rows: Sequence[Row], panel: str, y: str) -> Figure:
    """Draw a column against the number of GPUs, each method by its best network.

    Parameters
    ----------
    rows : sequence of Row
        One for each size of the data.
    panel : str
        "size_bytes".
    y : str
        The column; whether more or less is better decides which network is the best.
    """
    del panel  # it says that panels are sizes, which is so always
    palette = palette_of(rows)
    sizes: list[int | None] = [*sorted({row.size_bytes for row in rows if row.size_bytes})]
    sizes = sizes or [None]  # an empty panel says that there is nothing
    figure, each = panels([size_text(size) if size else "" for size in sizes], shared=False)
    for size, axes in zip(sizes, each, strict=True):
        here = [row for row in rows if row.size_bytes == size]
        for series, look in palette.items():
            best = _best((row for row in here if row.series == series), y)
            if best:
                axes.plot(list(best), list(best.values()), label=series, **look)
        if DRAWN[y].unit == "s":
            axes.yaxis.set_major_formatter(FuncFormatter(_in_milliseconds))
        axes.xaxis.set_major_locator(MultipleLocator(1))
        axes.set_xlabel("GPUs")
    from_zero(figure.axes)
    for series, words in never_done(rows, palette).items():
        figure.axes[0].plot([], [], label=words, **palette[series])
    label_left(figure.axes, DRAWN[y].axis.replace("(s)", "(ms)"))
    return figure


def _best(rows: Iterable[Row], y: str) -> dict[int, float]:
    """Return the best value by the number of GPUs, of repetitions the median."""
    by_network: dict[str, list[Row]] = {}
    for row in rows:
        by_network.setdefault(row.topology, []).append(row)
    found: dict[int, list[float]] = {}
    for its in by_network.values():
        for gpus, value in medians(its, y).items():
            found.setdefault(gpus, []).append(value)
    choose = max if DRAWN[y].better == "more" else min
    return {gpus: choose(found[gpus]) for gpus in sorted(found)}


def _in_milliseconds(seconds: float, _place: int | None = None) -> str:
    return f"{1000 * seconds:g}"
