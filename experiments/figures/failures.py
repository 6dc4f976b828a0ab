"""Points without a result: failure marks in panels, notes above them, legend entries.

A method that times out, fails or is unsupported gets a mark, so that no reader overlooks the gap.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from experiments.figures import hover
from experiments.figures.figure import FAILURES, INK, Failure, Note, Point, Series
from experiments.figures.panels import Placed
from experiments.figures.styles import LIMIT, Palette
from experiments.measures.declared import DRAWN
from experiments.results.row_groups import failed_places
from experiments.results.rows import Row, Status

__all__ = [
    "Failures", "failures_of", "first_failures", "legend", "lost_in_words", "never_done",
    "partly_done",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Failures:
    """Points without a result in a panel: failure marks, limits that they hit, notes."""

    marks: tuple[Failure, ...] = ()
    limits: tuple[Series, ...] = ()
    notes: tuple[Note, ...] = ()


def failures_of(
    placed: Sequence[Placed], rows: Sequence[Row], palette: Palette, y: str
) -> Failures:
    """Return the failures of a panel.

    The legend lists methods without any result in the figure. A note lists methods that support
    nothing in the panel. Where time is drawn, a timeout stands at its limit.

    Parameters
    ----------
    placed : sequence of Placed
        All rows of the panel.
    rows : sequence of Row
        All rows of the figure.
    y : str
        The column along the ordinate.
    """
    drawn = {row.series for row in partly_done(rows)}
    absent = _without_column(rows, y)
    never = [name for name in _unsupported(row for row, _ in placed) if name in drawn]
    lost = [(row, place) for row, place in _lost(placed) if row.series not in absent]
    first = first_failures(lost, placed)
    marks = []
    for row, place in lost:
        timed = DRAWN[y].limit if row.status is Status.TIMEOUT else ""
        height: float | None = getattr(row, timed) if timed else None
        brief = row.series in drawn and row.series not in never and (row, place) in first
        if height is not None or row.series in drawn:
            style, why = palette[row.series], hover.of_loss(row)
            name, status = row.series, row.status
            marks.append(Failure(place, height, status, name, style, why, page_only=not brief))
    limits = tuple(_limits(marks, sorted({place for _, place in placed}), y))
    return Failures(tuple(marks), limits, _unsupported_in_words(never))


def _lost(placed: Iterable[Placed]) -> list[Placed]:
    """Return a row for each method and place without a successful repetition, by place."""
    at: dict[tuple[str, float], list[Row]] = {}
    for row, place in placed:
        at.setdefault((row.series, place), []).append(row)
    lost = [(its[0], x) for (_, x), its in at.items() if not any(map(_ended_well, its))]
    return sorted(lost, key=lambda one: one[1])


def _limits(marks: Iterable[Failure], places: Sequence[float], y: str) -> Iterable[Series]:
    edges: dict[float, bool] = {}
    for mark in marks:
        if mark.y is not None:
            edges[mark.y] = edges.get(mark.y, True) and mark.page_only
    for edge in sorted(edges):
        text = hover.of_bound("limit", edge, y)
        points = tuple(Point(place, edge, text) for place in places)
        yield Series("limit", LIMIT, points, width=0.8, page_only=edges[edge])


def _ended_well(row: Row) -> bool:
    return row.status is Status.OK


def _without_column(rows: Iterable[Row], y: str) -> set[str]:
    """Return the series that have results and never this column, such as a finish without a clock.

    A failure mark would belong to no line.
    """
    values: dict[str, list[object]] = {}
    for row in filter(_ended_well, rows):
        values.setdefault(row.series, []).append(getattr(row, y))
    return {series for series, its in values.items() if all(value is None for value in its)}


def first_failures(lost: Iterable[Placed], placed: Iterable[Placed]) -> list[Placed]:
    """Select the failures that printed figures show, from those by place.

    Beyond the last result of a method, only the first failure of each kind stays.
    """
    last: dict[str, float] = {}
    for row, place in placed:
        if _ended_well(row):
            last[row.series] = max(place, last.get(row.series, place))
    found, before = [], dict[str, Status]()
    for row, place in lost:
        beyond = place > last.get(row.series, -math.inf)
        if not (beyond and before.get(row.series) is row.status):
            found.append((row, place))
        if beyond:
            before[row.series] = row.status
    return found


def lost_in_words(
    rows: Sequence[Row], palette: Palette, *, by: str = "series", **panel: str
) -> tuple[Note, ...]:
    """Return notes on methods without a result in a panel, each in its colour.

    ``panel`` is the cluster or the topology; ``by`` is as for :func:`partly_done`. The legend lists
    the other methods.
    """
    ((column, name),) = panel.items()
    here = [row for row in partly_done(rows, by=by) if getattr(row, column) == name]
    never, lost = _unsupported(here), failed_places(here)
    notes = [*_unsupported_in_words(never)]
    for series in (one for one in palette if one not in never):
        its = {size: row.status for (other, size), row in lost.items() if other == series}
        done = [row.gpus for row in here if row.series == series and _ended_well(row)]
        for words in _in_words(its, done, sized=column == "cluster"):
            notes.append(Note(f"{series}: {words}", palette[series].colour))
    return tuple(notes)


def _in_words(
    its: Mapping[int | None, Status], done: Iterable[int | None], *, sized: bool
) -> list[str]:
    """Describe the failures of a method by size: "from ... on" if possible, else one by one."""
    known = [size for size in its if size is not None]
    largest = max((size for size in done if size), default=0)
    if sized and len(known) > 1 and len(known) == len(its) and min(known) > largest:
        statuses = [FAILURES[status][1] for status in FAILURES if status in its.values()]
        return [f"{' or '.join(statuses)} from {min(known)} GPUs on"]
    sizes: dict[Status, list[str]] = {}
    for size, status in its.items():
        sizes.setdefault(status, []).append("?" if size is None else str(size))
    at = {
        status: f" at {', '.join(where)} GPUs" if sized else "" for status, where in sizes.items()
    }
    return [f"{FAILURES[status][1]}{at[status]}" for status in sizes]


def _unsupported(rows: Iterable[Row]) -> list[str]:
    ends: dict[str, set[Status]] = {}
    for row in rows:
        ends.setdefault(row.series, set()).add(row.status)
    return [series for series, found in ends.items() if found == {Status.UNSUPPORTED}]


def _unsupported_in_words(series: Sequence[str]) -> tuple[Note, ...]:
    """Return a note on them, with names besides colours."""
    return (Note(f"unsupported: {', '.join(series)}", INK),) if series else ()


def partly_done(rows: Sequence[Row], *, by: str = "series") -> list[Row]:
    """Return the rows of methods with a result somewhere; the legend lists the others.

    ``by`` is "series" or "method".
    """
    done = {getattr(row, by) for row in rows if _ended_well(row)}
    return [row for row in rows if getattr(row, by) in done]


def never_done(rows: Sequence[Row], palette: Palette) -> dict[str, str]:
    """Describe the failures of each method without any result, for the legend.

    An example is "teccl: timeout from 32 GPUs on". Unsupported methods get no size.
    """
    done = {row.series for row in rows if _ended_well(row)}
    lost = failed_places([row for row in rows if row.series not in done])
    words = {}
    for series in (series for series in palette if series not in done):
        its = {size: row.status for (name, size), row in lost.items() if name == series}
        known = [size for size in its if size is not None]
        sized = bool(known) and set(its.values()) != {Status.UNSUPPORTED}
        where = {size: its[size] for size in (known if sized else its)}
        what = " or ".join(_in_words(where, (), sized=sized))
        words[series] = f"{series}: {what}" if its else series
    return words


def legend(rows: Sequence[Row], palette: Palette, width: float = 1.5) -> tuple[Series, ...]:
    """Return the entries of the legend for methods without any result.

    Methods that support nothing in the figure have none: there may be many.
    """
    words, never = never_done(rows, palette), _unsupported(rows)
    return tuple(
        Series(words[name], palette[name], width=width) for name in words if name not in never
    )
