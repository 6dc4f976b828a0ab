"""Heat maps: a column over two parameters, from rows alone."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import replace

from experiments.config.document import nearest
from experiments.config.kinds import SIDES
from experiments.config.points import Value
from experiments.figures.figure import (
    INK,
    Axis,
    Cell,
    ColourScale,
    Failure,
    Figure,
    Note,
    Panel,
    Style,
)
from experiments.figures.panels import cluster_title, wrapped
from experiments.measures.declared import DRAWN, SHARES
from experiments.results.row_groups import quantity, sides
from experiments.results.rows import Row, Status
from forestcoll.errors import InvalidExperimentError
from forestcoll.problem.sizes import size_text

__all__ = ["SHORT", "heat_map"]

SHORT = 6
"""Letters of a name that has room below a cell; longer ones stand upright."""

_LONG = 72
"""Letters of a line of a name."""

_LETTER, _LINE = 0.06, 0.12
"""Inches of a letter, and of a line."""

_MOST_NAMED = 5
"""Names in a note; more are counted."""

Cells = dict[tuple[Value, Value], list[Row]]


def heat_map(rows: Sequence[Row], x: str, y: str, value: str) -> Figure:
    """Describe a column over two parameters, a panel for each cluster (and method, if not a side).

    Where a side is the topology, all clusters are in one panel.

    Raises
    ------
    InvalidExperimentError
        If no row has a parameter, or if another one varies within a cell.
    """
    for name in (x, y):
        _check(rows, name)
    rows, without = _with_results(rows, y)
    groups = _groups(rows, by_cluster="topology" not in (x, y), by_method="method" not in (x, y))
    across, up = _values(rows, x), _values(rows, y)
    words = any(isinstance(one, str) for one in up)  # read from the top, numbers from the bottom
    along = Axis(SIDES.get(x, x), names=_names(x, across))
    upwards = Axis(SIDES.get(y, y), names=_names(y, up), downwards=words)
    panels = tuple(
        _panel(Panel(title, along, upwards, notes=without), _cells(here, x, y), (across, up), value)
        for title, here in groups.items()
    )
    size = _size(along.names, upwards.names)
    return Figure(panels, size=size, colours=_scale(rows, value), columns=1 if size[0] > 3 else 0)


def _with_results(rows: Sequence[Row], y: str) -> tuple[Sequence[Row], tuple[Note, ...]]:
    """Leave out methods along a side that have no result; a note counts them."""
    if y != "method":
        return rows, ()
    done = {row.series for row in rows if row.status is Status.OK}
    lost = dict.fromkeys(row.series for row in rows if row.series not in done)
    if not lost or not done:
        return rows, ()
    left = [row for row in rows if row.series in done]
    what = ", ".join(lost) if len(lost) < _MOST_NAMED else f"{len(lost)} methods"
    return left, (Note(f"without any result here: {what}", INK),)


def _size(across: Sequence[str], up: Sequence[str]) -> tuple[float, float]:
    """Return the inches of a panel: cells and names, none of which may cover another."""
    (length, lines), (left, rows) = (_extent(side) for side in (across, up))
    upright = max(map(len, across), default=0) > SHORT
    width = max(0.3, _LINE * lines if upright else 0.0) * len(across)
    height = max(0.17, _LINE * rows) * len(up)
    return max(2.0, 1.0 + width + _LETTER * left), 0.3 + height + _LETTER * length * upright


def _extent(names: Iterable[str]) -> tuple[int, int]:
    """Return the letters of the longest line, and the most lines of a name."""
    split = [name.splitlines() for name in names]
    letters = max((len(line) for lines in split for line in lines), default=0)
    return letters, max(map(len, split), default=0)


def _names(side: str, values: Sequence[Value]) -> tuple[str, ...]:
    sized = side == "size_bytes" and all(isinstance(value, int) for value in values)
    return tuple(wrapped(size_text(int(one)) if sized else str(one), _LONG) for one in values)


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


def _scale(rows: Sequence[Row], value: str) -> ColourScale | None:
    """Return what the colours mean; None if there is no value."""
    found = [n for row in rows if (n := _number([row], value)) is not None]
    if not found:
        return None
    low, high = (0.0, 100.0) if value in SHARES else (min(found), max(found))
    label = f"{DRAWN[value].label} (%)" if value in SHARES else DRAWN[value].axis
    return ColourScale(label, low, high, DRAWN[value].logarithmic and high > 10 * low > 0)


def _number(rows: Sequence[Row], value: str) -> float | None:
    found = [getattr(row, value) for row in rows if row.status is Status.OK]
    numbers = [number for number in found if number is not None]
    return statistics.median(numbers) if numbers else None


def _panel(
    panel: Panel, cells: Cells, sides: tuple[Sequence[Value], Sequence[Value]], value: str
) -> Panel:
    """Return the panel with its cells, column by column; what failed is a mark in its cell."""
    filled, lost = [], []
    for i, x in enumerate(sides[0]):
        for j, y in enumerate(sides[1]):
            rows = cells.get((x, y), [])
            number = _number(rows, value)
            shown = number if number is None or value not in SHARES else 100 * number
            if rows:
                digits = ".0f" if value in SHARES else ".3g"
                filled.append(Cell(i, j, shown, "" if shown is None else f"{shown:{digits}}"))
            if rows and all(row.status is not Status.OK for row in rows):
                lost.append(Failure(i, j, rows[0].status, "", Style(INK)))
    return replace(panel, cells=tuple(filled), failures=tuple(lost))
