"""Lines for the optimum and other bounds: single cuts, and the network without faults."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from experiments.figures import hover, panels
from experiments.figures.failures import legend, lost_in_words
from experiments.figures.figure import Axis, Figure, Panel, Point, Series, Style
from experiments.figures.styles import LIMIT, OPTIMUM, palette_of
from experiments.measures.declared import DRAWN
from experiments.results.row_groups import medians, quantity
from experiments.results.rows import Row

__all__ = ["BORDERS", "cut_bounds", "fault_costs"]

BORDERS = {
    "border_of_gpu_gb_s": ("one GPU", Style("#0072b2", marker="o", line="-", size=4)),
    "border_of_pair_gb_s": ("two linked GPUs", Style("#e69f00", marker="^", line="--", size=4)),
    "border_of_box_gb_s": ("one box", Style("#d55e00", marker="s", line="-.", size=4)),
}
"""Name in the legend and style of each measure."""


def cut_bounds(rows: Sequence[Row], y: str) -> Figure:
    """Describe the bounds by borders of GPUs and boxes against the number of GPUs.

    Each cluster has a panel. Where the optimum's line meets the least bound, that bound is tight.
    Where a line ends, no set of its kind gives a bound.

    Parameters
    ----------
    y : str
        The measure that they bound, for the axis and for published values.
    """
    up = panels.ordinate(y, f"bound on {DRAWN[y].axis}")
    found = []
    for cluster, here in panels.grouped(rows, "cluster").items():
        known = panels.published_by_gpus(cluster, here, y)
        placed = [(row, row.gpus) for row in here if row.gpus]
        series = (*panels.optimum(placed, y), *_borders(here, y), *known)
        along, boxes = panels.gpu_axis(here), _boxes(here)
        if boxes:
            series = tuple(_moved(one, boxes) for one in series)
            along = Axis("boxes", "doubling", tuple(boxes.values()))
        found.append(Panel(panels.cluster_title(cluster), along, up, series))
    return Figure(tuple(found))


def _boxes(rows: Sequence[Row]) -> Mapping[float, float]:
    """Return the boxes by the number of GPUs, if each number has its own."""
    found: dict[float, float] = {}
    for row in rows:
        boxes = quantity(row, "boxes")
        if not isinstance(boxes, int) or not row.gpus or found.get(row.gpus, boxes) != boxes:
            return {}
        found[row.gpus] = boxes
    return found


def _moved(series: Series, places: Mapping[float, float]) -> Series:
    points = tuple(replace(p, x=places[p.x]) for p in series.points if p.x in places)
    return replace(series, points=points)


def _borders(rows: Sequence[Row], y: str) -> Iterator[Series]:
    for column, (name, style) in BORDERS.items():
        points = tuple(
            Point(gpus, value, hover.of_bound(f"border of {name}", value, y, f"{gpus} GPUs"))
            for gpus, value in medians(rows, column).items()
        )
        if points:
            yield Series(name, style, points)


def fault_costs(rows: Sequence[Row], y: str) -> Figure:
    """Describe times as multiples of the optimum without faults, against the number of GPUs.

    Each kind of change has a panel; a network without an unchanged counterpart has no lines. The
    band is the optimum of the damaged network over that of the whole one: no schedule is below it.
    For networks without changes, it is 1.

    Parameters
    ----------
    rows : sequence of Row
        Rows of changed networks, and of the same networks without changes.
    y : str
        The rate: any algbw.
    """
    whole = {row.topology: row.optimum_gb_s for row in rows if " " not in row.topology}
    damaged = [row for row in rows if row.topology not in whole]
    band = "optimum, damaged" if damaged else "optimum, undamaged"
    damaged = damaged or list(rows)
    palette = palette_of(damaged)
    found = []
    for cluster, here in panels.grouped(damaged, "cluster").items():
        base = {row.gpus: whole.get(row.topology.partition(" ")[0]) for row in here if row.gpus}
        best = _times(base, medians(here, "optimum_gb_s"))
        series = [Series(band, OPTIMUM, best, width=4, opacity=0.25)]
        for name, style in palette.items():
            rates = medians((row for row in here if row.series == name), y)
            series.append(Series(name, style, _times(base, rates)))
        one = tuple(Point(gpus, 1.0) for gpus in sorted(base))
        series.append(Series("optimum without faults", replace(LIMIT, order=2), one, width=0.8))
        notes = lost_in_words(damaged, palette, cluster=cluster)
        up, shown = Axis("time / optimum without faults"), tuple(s for s in series if s.points)
        title, along = panels.cluster_title(cluster), panels.gpu_axis(here)
        found.append(Panel(title, along, up, shown, notes=notes))
    return Figure(tuple(found), legend(damaged, palette))


def _times(base: Mapping[int, float | None], rates: Mapping[int, float]) -> tuple[Point, ...]:
    times = {size: best / rate for size, rate in rates.items() if (best := base[size])}
    return tuple(Point(size, time) for size, time in times.items())
