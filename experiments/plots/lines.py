"""Lines: a column against the number of GPUs or the size of the data, from rows alone.

There is a panel for each cluster (or topology) and a colour for each method; a cluster that has
several networks of a size is taken apart. Repetitions are shown by their median. A point that gave
no result is a letter, not a gap: at its limit where time is drawn, above the panel elsewhere, in a
note where a panel has no place for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments import published
from experiments.config.kinds import AXES
from experiments.config.points import Value
from experiments.measures.declared import BOUNDED, DRAWN
from experiments.plots.drawing import count_axis, from_zero, gpu_axis, label_left, size_axis
from experiments.plots.losses import (
    INK,
    Place,
    lettered,
    lost_in_words,
    lost_places,
    never_done,
    notes,
    partly_done,
    unsupported,
    unsupported_in_words,
)
from experiments.plots.marks import marks_by_gpus, marks_by_size
from experiments.plots.panels import Palette, cluster_panels, palette_of, topology_panels
from experiments.results.columns import (
    BEYOND,
    failed_places,
    medians,
    medians_along,
    simulated_bounds,
    swept,
)
from experiments.results.growing import grown
from experiments.results.rows import Row, Status
from forestcoll.errors import InvalidExperimentError

__all__ = ["lines", "lines_by_parameter", "lines_by_size"]

_SPREAD = 8
"""From so many times the least number on, an axis of numbers goes by doublings."""


def lines(rows: Sequence[Row], y: str) -> Figure:
    """Draw a column against the number of GPUs; any algbw under the optimum."""
    rows = grown(rows)
    palette = palette_of(rows)
    figure, panel_of = cluster_panels(rows, y)
    letters = _Letters(rows, palette, y)
    absent = _without_column(rows, y)
    for cluster, axes in panel_of.items():
        here = [row for row in rows if row.cluster == cluster]
        if y in BOUNDED:
            _optimum(axes, [(row, row.gpus) for row in here])
        for series, its_look in palette.items():
            values = medians((row for row in here if row.series == series), y)
            if values:
                axes.plot(list(values), list(values.values()), label=series, **its_look)
        if DRAWN[y].logarithmic:
            axes.set_yscale("log")
        asked = [row for row in here if row.series not in absent]
        lost = [(size, row) for (_, size), row in failed_places(asked).items() if size is not None]
        letters.put(axes, lost, [(row.gpus, row) for row in here if row.gpus])
        sizes = [row.gpus for row in here if row.gpus]
        gpu_axis(axes, sizes)
        marks_by_gpus(axes, cluster, sizes, published.marks(y, {row.collective for row in here}))
    if DRAWN[y].better == "more":
        from_zero(figure.axes)
    letters.finish(figure.axes)
    _name_the_rest(figure.axes[0], rows, palette)
    label_left(figure.axes, DRAWN[y].axis)
    return figure


def lines_by_size(rows: Sequence[Row], x: str, y: str) -> Figure:
    """Draw a column against the size of the data, a panel for each topology."""
    palette = palette_of(rows)
    figure, panel_of = topology_panels(rows, y)
    for topology, axes in panel_of.items():
        here = [row for row in rows if row.topology == topology]
        _bound(axes, here, y)
        for series, its_look in palette.items():
            values = medians((row for row in here if row.series == series), y, along=x)
            if values:
                axes.plot(list(values), list(values.values()), label=series, **its_look)
        marks = published.marks(y, {row.collective for row in here})
        marks_by_size(axes, here, marks, palette)
        size_axis(axes, [row.size_bytes for row in here if row.size_bytes], AXES[x])
        if DRAWN[y].logarithmic:
            axes.set_yscale("log")
    if DRAWN[y].better == "more":
        from_zero(figure.axes)
    told = partly_done(rows)
    notes(figure.axes, [lost_in_words(told, palette, topology=name) for name in panel_of])
    _name_the_rest(figure.axes[0], rows, palette)
    label_left(figure.axes, DRAWN[y].axis)
    return figure


def lines_by_parameter(rows: Sequence[Row], x: str, y: str) -> Figure:
    """Draw a column against something that is swept, a panel for each choice of what else differs.

    That is a parameter of methods or topologies, the number of GPUs or the size of the data. A
    method is a line for each choice of its other parameters; rows without the parameter are not
    drawn.

    Raises
    ------
    InvalidExperimentError
        If some value of the parameter is not a number.
    """
    places = [(row, *swept(row, x)) for row in rows]
    others = [(other, _number(row, x, value)) for row, other, value in places if value is not None]
    shown = [other for other, _ in others]
    of_networks = not any(x in row.parameters for row in rows) and x != "size_bytes"
    palette = palette_of(shown)
    figure, panel_of = topology_panels(shown or rows, y)
    letters = _Letters(shown, palette, y)
    for topology, axes in panel_of.items():
        here = [(row, value) for row, value in others if row.topology == topology]
        if of_networks and y in BOUNDED:
            _optimum(axes, here)
        for series, its_look in palette.items():
            its = [(row, value) for row, value in here if row.series == series]
            values = medians_along(its, y)
            if values:
                axes.plot(list(values), list(values.values()), label=series, **its_look)
        if DRAWN[y].logarithmic:
            axes.set_yscale("log")
        if of_networks:
            letters.put(axes, _failed(here), [(value, row) for row, value in here])
        _axis(axes, x, [value for _, value in here])
    if of_networks:
        letters.finish(figure.axes)
    else:
        told = partly_done(shown)
        notes(figure.axes, [lost_in_words(told, palette, topology=name) for name in panel_of])
    _name_the_rest(figure.axes[0], shown, palette)
    label_left(figure.axes, DRAWN[y].axis)
    return figure


def _number(row: Row, parameter: str, value: Value) -> float:
    if isinstance(value, str):
        whose = row.method if parameter in row.parameters else row.topology
        raise InvalidExperimentError(
            f"{whose}: {parameter} is {value!r}; only a number can be along an axis"
        )
    return float(value)


def _axis(axes: Axes, x: str, places: Sequence[float]) -> None:
    """Make the abscissa one of what is swept: even steps for doublings if it spans many."""
    if x == "size_bytes":
        size_axis(axes, [round(place) for place in places], AXES[x])
    elif places and min(places) > 0 and max(places) >= _SPREAD * min(places):
        count_axis(axes, places, AXES.get(x, x))
    else:
        axes.set_xlabel(AXES.get(x, x), parse_math=False)


def _failed(rows: Iterable[tuple[Row, float]]) -> list[tuple[float, Row]]:
    """Return a row for each place where no repetition of a method ended well."""
    at: dict[tuple[str, float], list[Row]] = {}
    for row, place in rows:
        at.setdefault((row.series, place), []).append(row)
    lost = {where: found for where, found in at.items() if not any(map(_ended_well, found))}
    return [(place, found[0]) for (_series, place), found in lost.items()]


def _without_column(rows: Iterable[Row], y: str) -> set[str]:
    """Return the series that have results and never this column, such as a finish without a clock.

    A letter where they gave no result would have no line that it belongs to.
    """
    values: dict[str, list[object]] = {}
    for row in rows:
        if _ended_well(row):
            values.setdefault(row.series, []).append(getattr(row, y))
    return {series for series, its in values.items() if not any(v is not None for v in its)}


def _ended_well(row: Row) -> bool:
    return row.status is Status.OK


def _name_the_rest(axes: Axes, rows: Sequence[Row], palette: Palette) -> None:
    """Enter methods without any result into the legend, and what became of them."""
    for series, words in never_done(rows, palette).items():
        axes.plot([], [], label=words, **palette[series])


def _optimum(axes: Axes, rows: Iterable[tuple[Row, float | None]]) -> None:
    best = {place: row.optimum_gb_s for row, place in rows if place and row.optimum_gb_s}
    sizes = sorted(best)
    axes.plot(sizes, [best[n] for n in sizes], color=INK, lw=4, alpha=0.25, label="optimum")


def _bound(axes: Axes, rows: Iterable[Row], y: str) -> None:
    """Draw what no simulation is beyond, where simulated times or rates are drawn."""
    if y not in BEYOND:
        return
    best = simulated_bounds(rows, y)
    axes.plot(list(best), list(best.values()), color=INK, lw=4, alpha=0.25, label="bound")


class _Letters:
    """Letters where methods gave no result, panel by panel; lines above for what has none.

    The legend tells of methods without any result in the whole figure, a note of those that cannot
    do anything in a panel.
    """

    def __init__(self, rows: Sequence[Row], palette: Palette, y: str) -> None:
        self._told = {row.series for row in partly_done(rows)}
        self._palette = palette
        self._limit = DRAWN[y].limit
        self._notes: list[list[tuple[str, str]]] = []
        self._raised = False

    def put(self, axes: Axes, lost: Iterable[Place], every: Sequence[Place]) -> None:
        """Put those of a panel: ``lost`` without a result, of ``every`` row."""
        never = [name for name in unsupported(row for _, row in every) if name in self._told]
        self._notes.append(unsupported_in_words(never))
        at: dict[tuple[float, float | None], list[Row]] = {}
        for size, row in lettered(lost, every):
            if row.series in self._told and row.series not in never:
                limit = self._limit if row.status is Status.TIMEOUT else ""
                at.setdefault((size, getattr(row, limit) if limit else None), []).append(row)
        for (size, height), its in at.items():
            marks = [(row.status, self._palette[row.series]["color"]) for row in its]
            lost_places(axes, size, height, marks)
        for edge in {height for _size, height in at if height is not None}:
            axes.axhline(edge, color=INK, lw=0.8, ls=(0, (4, 3)), zorder=1, label="limit")
        self._raised |= any(height is None for _size, height in at)

    def finish(self, panel: Sequence[Axes]) -> None:
        """Write the notes, and make room between the panels and their titles."""
        notes(panel, self._notes, letters=self._raised)
