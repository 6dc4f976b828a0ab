"""Lines: a column against the number of GPUs, the size of the data, or a parameter.

Each cluster (or topology) has a panel, and each method a style. A cluster with several networks of
one size is split. Lines show the median of repetitions. A point without a result is a failure mark:
at its limit where time is drawn, above the panel elsewhere, or in a note if the panel has no room.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from experiments.config.kinds import AXES
from experiments.config.points import Value
from experiments.figures import hover, panels
from experiments.figures.failures import Failures, failures_of, legend, lost_in_words
from experiments.figures.figure import Axis, Figure, Panel, Point, Series
from experiments.figures.panels import Placed, grouped, ordinate
from experiments.figures.styles import OPTIMUM, Palette, palette_of
from experiments.measures.declared import DRAWN
from experiments.results.row_groups import BEYOND, medians, scaling_series, simulated_bounds, swept
from experiments.results.rows import Row
from forestcoll.errors import InvalidExperimentError
from forestcoll.problem.sizes import size_text

__all__ = [
    "abscissa", "algbw_lines", "best_networks", "lines", "lines_by_parameter", "lines_by_size",
]  # fmt: skip

_SPREAD = 8
"""Ratio of largest to least number from which an axis of numbers goes by doublings."""


def lines(rows: Sequence[Row], y: str, palette: Palette | None = None) -> Figure:
    """Describe a column against the number of GPUs; any algbw under the optimum."""
    rows = scaling_series(rows)
    palette = palette or palette_of(rows)
    found = []
    for cluster, here in grouped(rows, "cluster").items():
        placed = _by_gpus(here)
        failed = failures_of(placed, rows, palette, y)
        bound = panels.optimum(placed, y)
        known = panels.published_by_gpus(cluster, here, y)
        series = (*bound, *panels.methods(placed, y, palette), *failed.limits, *known)
        title, along = panels.cluster_title(cluster), panels.gpu_axis(here)
        found.append(_panel(title, along, ordinate(y), series, failed))
    return Figure(tuple(found), legend(rows, palette))


def algbw_lines(rows: Sequence[Row], y: str, second: str) -> Figure:
    """Describe pipelined algbw against GPUs, and below it the algbw of clocked schedules.

    A solver's own clock may leave links idle, so that its makespan gives less than its link loads.
    """
    palette = palette_of(rows)
    above = lines(rows, y, palette)
    clocked = {row.series for row in rows if getattr(row, second) is not None}
    if not clocked:
        return above
    below = lines([row for row in rows if row.series in clocked], second, palette)
    panels = (*above.panels, *below.panels)
    columns = len(above.panels) if 1 < len(above.panels) == len(below.panels) < 4 else 0
    return replace(above, panels=panels, columns=columns)


def lines_by_size(rows: Sequence[Row], x: str, y: str, palette: Palette | None = None) -> Figure:
    """Describe a column against the size of the data, a panel for each topology."""
    palette = palette or palette_of(rows)
    found = []
    for topology, here in grouped(rows, "topology").items():
        placed = [(row, float(row.size_bytes)) for row in here if row.size_bytes]
        along = Axis(AXES[x], "bytes", tuple(place for _, place in placed))
        known = panels.published_by_size(here, y, palette)
        series = (*_bound(here, y), *panels.methods(placed, y, palette), *known)
        notes = Failures(notes=lost_in_words(rows, palette, topology=topology))
        found.append(_panel(topology, along, ordinate(y), series, notes))
    return Figure(tuple(found), legend(rows, palette))


def lines_by_parameter(rows: Sequence[Row], x: str, y: str) -> Figure:
    """Describe a column against a swept parameter, a panel for each choice of the other ones.

    The swept parameter belongs to methods or topologies, or is the number of GPUs or the data size.
    A method has a line for each choice of its other parameters. Rows without the parameter are not
    drawn.

    Raises
    ------
    InvalidExperimentError
        If some value of the parameter is not a number.
    """
    places = [(row, *swept(row, x)) for row in rows]
    placed = [(other, _number(row, x, value)) for row, other, value in places if value is not None]
    shown = [other for other, _ in placed]
    of_networks = not any(x in row.parameters for row in rows) and x != "size_bytes"
    palette = palette_of(shown)
    up = replace(ordinate(y), from_zero=False)  # the effect of a parameter may be small
    found = []
    for topology in grouped(shown or rows, "topology"):
        here = [(row, place) for row, place in placed if row.topology == topology]
        bound = panels.optimum(here, y) if of_networks else ()
        if of_networks:
            failed = failures_of(here, shown, palette, y)
        else:
            failed = Failures(notes=lost_in_words(shown, palette, topology=topology))
        series = (*bound, *panels.methods(here, y, palette), *failed.limits)
        found.append(_panel(topology, abscissa(x, here), up, series, failed))
    return Figure(tuple(found), legend(shown, palette))


def _panel(title: str, x: Axis, y: Axis, series: tuple[Series, ...], failed: Failures) -> Panel:
    return Panel(title, x, y, series, failures=failed.marks, notes=failed.notes)


def _by_gpus(rows: Sequence[Row]) -> list[Placed]:
    """Place rows by GPUs; a point that failed before it knew them takes those of its topology."""
    known = {row.topology: row.gpus for row in rows if row.gpus}
    placed = [(row, row.gpus or known.get(row.topology)) for row in rows]
    return [(row, gpus) for row, gpus in placed if gpus]


def _number(row: Row, parameter: str, value: Value) -> float:
    if isinstance(value, str):
        whose = row.method if parameter in row.parameters else row.topology
        raise InvalidExperimentError(
            f"{whose}: {parameter} is {value!r}; only a number can be along an axis"
        )
    return float(value)


def abscissa(x: str, rows: Sequence[Placed]) -> Axis:
    """Return the axis of a swept parameter: even steps for doublings if it spans many."""
    places = tuple(place for _, place in rows)
    if x == "size_bytes":
        return Axis(AXES[x], "bytes", places)
    spans = places and min(places) > 0 and max(places) >= _SPREAD * min(places)
    return Axis(AXES.get(x, x), "doubling" if spans else "even", places)


def _bound(rows: Sequence[Row], y: str) -> tuple[Series, ...]:
    best = simulated_bounds(rows, y) if y in BEYOND else {}
    points = tuple(
        Point(size, value, hover.of_bound("bound", value, y, "beyond which no simulation is"))
        for size, value in best.items()
    )
    return (Series("bound", OPTIMUM, points, width=4, opacity=0.25),) if points else ()


def best_networks(rows: Sequence[Row], panel: str, y: str) -> Figure:
    """Describe a column against the number of GPUs, each method on its best network of that size.

    The figure compares topologies, not schedules: a ring method on a ring, trees on trees.

    Parameters
    ----------
    rows : sequence of Row
        Of several networks for each number of GPUs, one for each size of the data.
    panel : str
        "size_bytes".
    y : str
        The column; whether more or less is better decides which network is the best.
    """
    palette = palette_of(rows)
    unit = 1000 if DRAWN[y].unit == "s" else 1
    sized = grouped((row for row in rows if row.size_bytes), panel)
    up = Axis(DRAWN[y].axis.replace("(s)", "(ms)"), from_zero=True)
    found = []
    for size in sorted(sized, key=int):
        best = {name: _best(its, y) for name, its in grouped(sized[size], "series").items()}
        series = tuple(
            Series(name, style, tuple(Point(n, unit * value) for n, value in best[name].items()))
            for name, style in palette.items()
            if best.get(name)
        )
        found.append(Panel(size_text(int(size)), Axis(AXES["gpus"], "whole"), up, series))
    return Figure(tuple(found) or (Panel("", Axis(), up),), legend(rows, palette))


def _best(rows: Iterable[Row], y: str) -> dict[int, float]:
    """Return the best value by the number of GPUs, with the median of repetitions."""
    found: dict[int, list[float]] = {}
    for its in grouped(rows, "topology").values():
        for gpus, value in medians(its, y).items():
            found.setdefault(gpus, []).append(value)
    choose = max if DRAWN[y].better == "more" else min
    return {gpus: choose(found[gpus]) for gpus in sorted(found)}
