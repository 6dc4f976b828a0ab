"""Bars: what each method reaches on one network, from rows alone.

Each topology has a panel, and each collective if there are several, with a bar for each method.
Bars show the median of repetitions. A method without a result has a word in the place of its bar.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from experiments.config.points import series as series_name
from experiments.figures import hover
from experiments.figures.figure import INK, Axis, Bar, Failure, Figure, Panel, Point, Series, Style
from experiments.figures.panels import grouped
from experiments.figures.styles import OPTIMUM, Palette, palette_of
from experiments.measures.declared import BOUNDED, DRAWN
from experiments.results.row_groups import medians_along, series_of
from experiments.results.rows import Row, Status

__all__ = ["bars", "two_bars"]

_HEIGHT = 0.16
"""Inches of a bar with its space."""

_LETTER = 0.058
"""Average inches of a letter of a method's name."""

_APART = 10.0
"""Ratio of largest to least value from which an axis is logarithmic."""

_OF_ITS_SPACE = 0.8
_PALE = 0.45
"""Share of the colour in the paler bars of the second measure."""


def bars(rows: Sequence[Row], y: str, palette: Palette | None = None) -> Figure:
    """Describe a column as a bar for each method; any algbw under the optimum."""
    return _figure(rows, (y,), palette or palette_of(rows))


def two_bars(rows: Sequence[Row], y: str, second: str) -> Figure:
    """Describe two columns of one unit as two bars for each method, the second one pale."""
    return _figure(rows, (y, second), palette_of(rows))


def _figure(rows: Sequence[Row], columns: Sequence[str], palette: Palette) -> Figure:
    several = len({row.collective for row in rows}) > 1
    groups: dict[str, list[Row]] = {}
    for row in rows:
        name = f"{row.topology}, {row.collective}" if several else row.topology
        groups.setdefault(name, []).append(row)
    series = series_of(rows)
    panels = tuple(_panel(name, groups[name], series, columns, palette) for name in groups)
    names = _LETTER * max(map(len, series)) / min(len(groups), 4)
    size = (2.0 + names, 0.6 + _HEIGHT * max(3, len(series) * len(columns)))
    return Figure(panels, tuple(_measures(columns)), size)


def _panel(
    title: str, rows: Sequence[Row], series: Sequence[str], columns: Sequence[str], palette: Palette
) -> Panel:
    by_method = grouped(rows, "series")
    places = {name: place for place, name in enumerate(series) if name in by_method}
    found = [
        bar
        for name, place in places.items()
        for bar in _bars(by_method[name], place, columns, palette[name])
    ]
    lost = [
        Failure(None, places[name], its[0].status, name, palette[name], hover.of_loss(its[0]))
        for name, its in by_method.items()
        if all(row.status is not Status.OK for row in its)
    ]
    short = _short_names({name: by_method[name][0] for name in places})
    along = _abscissa([bar.length for bar in found], columns)
    up = Axis(
        names=tuple(series), short_names=tuple(short.get(name, "") for name in series),
        downwards=True,
    )  # fmt: skip
    best = tuple(_optimum(rows, columns[0], len(series)))
    return Panel(title, along, up, best, tuple(found), failures=tuple(lost))


def _bars(rows: Sequence[Row], place: int, columns: Sequence[str], style: Style) -> Iterator[Bar]:
    thickness = _OF_ITS_SPACE / len(columns)
    for number, column in enumerate(columns):
        middle = place + thickness * (number - (len(columns) - 1) / 2)
        value = medians_along(((row, 0) for row in rows), column).get(0)
        if value is not None:
            yield Bar(
                middle, 0.9 * thickness, 0.0, value, style,
                opacity=_PALE if number else 1.0, text=hover.of_runs(rows),
                beside=f"{value:.4g}" if value >= 1 else f"{value:.2g}",
            )  # fmt: skip


def _optimum(rows: Sequence[Row], y: str, names: int) -> Iterator[Series]:
    best = [row for row in rows if row.optimum_gb_s]
    if best and y in BOUNDED:
        row = max(best, key=lambda row: row.optimum_gb_s or 0)
        rate = row.optimum_gb_s or 0.0
        text = hover.of_bound("optimum", rate, y, row.optimum_by or "")
        ends = tuple(Point(rate, end, text) for end in (-0.5, names - 0.5))
        yield Series("optimum", OPTIMUM, ends, width=4, opacity=0.25)


def _abscissa(values: Sequence[float], columns: Sequence[str]) -> Axis:
    """Return an axis from zero, or of decades where values are far apart."""
    measure, positive = DRAWN[columns[0]], [value for value in values if value > 0]
    apart = positive and max(positive) >= _APART * min(positive)
    label = measure.axis if len(columns) == 1 else measure.unit
    return Axis(label, "log" if measure.logarithmic and apart else "even", margin=0.2)


def _short_names(rows: dict[str, Row]) -> dict[str, str]:
    """Name methods without the parameters that are equal in all choices of a method."""
    names = {}
    for name, row in rows.items():
        others = [other.parameters for other in rows.values() if other.method == row.method]
        telling = {
            key: value
            for key, value in row.parameters.items()
            if any(other.get(key) != value for other in others)
        }
        names[name] = series_name(row.method, telling if len(others) > 1 else row.parameters)
    return names


def _measures(columns: Sequence[str]) -> Iterator[Series]:
    for number, column in enumerate(columns if len(columns) > 1 else ()):
        opacity = _PALE if number else 1.0
        yield Series(DRAWN[column].label, Style(INK, marker="s", size=7.7), opacity=opacity)
