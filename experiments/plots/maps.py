"""Heat maps: a column over two parameters, from rows alone."""

from __future__ import annotations

import statistics
from collections.abc import Collection, Iterable, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure

from experiments.config.document import nearest
from experiments.config.kinds import SIDES
from experiments.config.points import Value
from experiments.measures.declared import DRAWN, SHARES
from experiments.plots.drawing import label_left, panels, wrapped
from experiments.plots.losses import INK, lost_places
from experiments.plots.panels import cluster_title
from experiments.results.columns import quantity, sides
from experiments.results.rows import Row, Status
from forestcoll.errors import InvalidExperimentError

__all__ = ["heat_map"]

COLOURS = "cividis"
"""Even steps of lightness, the same to colour-blind eyes."""

_SHORT = 6
"""Letters of a name that has room below a cell; longer ones stand upright."""

_LONG = 72
"""Letters of a line of a name."""

_LETTER, _LINE = 0.075, 0.16
"""Inches of a letter, and of a line."""

Cells = dict[tuple[Value, Value], list[Row]]


def heat_map(rows: Sequence[Row], x: str, y: str, value: str) -> Figure:
    """Draw a column over two parameters, a panel for each cluster (and method, if not a side).

    Where a side is the topology, all clusters are in one panel.

    Raises
    ------
    InvalidExperimentError
        If no row has a parameter, or if another one varies within a cell.
    """
    for name in (x, y):
        _check(rows, name)
    groups = _groups(rows, by_cluster="topology" not in (x, y), by_method="method" not in (x, y))
    across, up = _values(rows, x), _values(rows, y)
    figure, grid = panels(list(groups), size=_size(across, up))
    scale = _scale(rows, value)
    for axes, here in zip(grid, groups.values(), strict=True):
        _fill(axes, _cells(here, x, y), across, up, value, scale)
        axes.set_xlabel(SIDES.get(x, x), parse_math=False)
    label_left(grid, SIDES.get(y, y))
    if scale is not None:
        of = f"{DRAWN[value].label} (cells: %)" if value in SHARES else DRAWN[value].axis
        bar = figure.colorbar(scale, ax=grid, label=of, pad=0.02)
        bar.outline.set_visible(False)
    return figure


def _size(across: Sequence[Value], up: Sequence[Value]) -> tuple[float, float]:
    """Return the inches of a panel: cells and names, none of which may cover another."""
    (length, lines), (left, rows) = (_extent(side) for side in (across, up))
    upright = _upright(across)
    width = max(0.45, _LINE * lines if upright else 0.0) * len(across)
    height = max(0.32, _LINE * rows) * len(up)
    return max(2.4, 0.4 + width + _LETTER * left), 0.7 + height + _LETTER * length * upright


def _extent(side: Iterable[Value]) -> tuple[int, int]:
    """Return the letters of the longest line, and the most lines of a name."""
    names = [_named(value).splitlines() for value in side]
    letters = max((len(line) for name in names for line in name), default=0)
    return letters, max(map(len, names), default=0)


def _named(value: Value) -> str:
    return wrapped(str(value), _LONG)


def _upright(across: Iterable[Value]) -> bool:
    return max((len(str(x)) for x in across), default=0) > _SHORT


def _check(rows: Sequence[Row], name: str) -> None:
    if name not in sides(rows):
        raise InvalidExperimentError(f"heat-map: no row has {name!r}; {nearest(name, sides(rows))}")


def _groups(rows: Sequence[Row], *, by_cluster: bool, by_method: bool) -> dict[str, list[Row]]:
    groups: dict[str, list[Row]] = {}
    for row in rows:
        names = [cluster_title(row.cluster)] * by_cluster + [row.method] * by_method
        groups.setdefault(": ".join(names), []).append(row)
    return groups


def _values(rows: Sequence[Row], name: str) -> list[Value]:
    """Return the values along a side: numbers by size, words as they come."""
    found = (quantity(row, name) for row in rows)
    values = list(dict.fromkeys(value for value in found if value is not None))
    if all(isinstance(value, int | float) for value in values):
        values.sort(key=lambda value: float(value))
    return values


def _cells(rows: Sequence[Row], x: str, y: str) -> Cells:
    cells: Cells = {}
    for row in rows:
        across, up = quantity(row, x), quantity(row, y)
        if across is not None and up is not None:
            cells.setdefault((across, up), []).append(row)
    for place, inside in cells.items():
        runs = {(row.topology, row.series) for row in inside}
        if len(runs) > 1:
            one, other, *_ = (f"{series} on {topology}" for topology, series in sorted(runs))
            raise InvalidExperimentError(
                f"heat-map: {x}={place[0]}, {y}={place[1]} is both {one} and {other}; "
                f"choose other sides, or fewer rows"
            )
    return cells


def _scale(rows: Sequence[Row], value: str) -> ScalarMappable | None:
    """Return the colours of the values; None if there is no value."""
    found = [n for row in rows if (n := _number([row], value)) is not None]
    if not found:
        return None
    low, high = (0.0, 1.0) if value in SHARES else (min(found), max(found))
    logarithmic = DRAWN[value].logarithmic and high > 10 * low > 0
    return ScalarMappable((LogNorm if logarithmic else Normalize)(low, high), COLOURS)


def _number(rows: Sequence[Row], value: str) -> float | None:
    found = [getattr(row, value) for row in rows if row.status is Status.OK]
    numbers = [number for number in found if number is not None]
    return statistics.median(numbers) if numbers else None


def _fill(
    axes: Axes,
    cells: Cells,
    across: Sequence[Value],
    up: Collection[Value],
    value: str,
    scale: ScalarMappable | None,
) -> None:
    for i, x in enumerate(across):
        for j, y in enumerate(up):
            rows = cells.get((x, y), [])
            number = _number(rows, value)
            if number is not None and scale is not None:
                _cell(axes, i, j, number, scale, percent=value in SHARES)
            elif rows:
                axes.bar(i, 1, width=1, bottom=j - 0.5, color="#f2f2f2", edgecolor="white")
                lost_places(axes, i, j, [(rows[0].status, INK)])
    axes.grid(visible=False)
    axes.set_xticks(range(len(across)), list(map(_named, across)), parse_math=False)
    if _upright(across):
        axes.tick_params(axis="x", rotation=90)
    axes.set_yticks(range(len(up)), list(map(_named, up)), parse_math=False)
    axes.set_xlim(-0.5, max(1, len(across)) - 0.5)
    words = any(isinstance(y, str) for y in up)  # read from the top, numbers from the bottom
    top = max(1, len(up)) - 0.5
    axes.set_ylim(*((top, -0.5) if words else (-0.5, top)))
    axes.tick_params(length=0)


def _cell(
    axes: Axes, i: int, j: int, number: float, scale: ScalarMappable, *, percent: bool
) -> None:
    red, green, blue, _alpha = (float(part) for part in scale.to_rgba(np.array([number]))[0])
    ink = "white" if 0.3 * red + 0.6 * green + 0.1 * blue < 0.5 else "black"
    axes.bar(i, 1, width=1, bottom=j - 0.5, color=(red, green, blue), edgecolor="white")
    text = f"{100 * number:.3g}" if percent else f"{number:.3g}"
    axes.text(i, j, text, ha="center", va="center", fontsize=7, color=ink)
