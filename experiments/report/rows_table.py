"""The table of all rows: whole without any script; one sorts and filters it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from experiments.measures.declared import MEASURES, reading_order
from experiments.measures.measure import Measure
from experiments.report.markup import Html, tag
from experiments.report.sources import Source
from experiments.results.rows import Row, Status

__all__ = ["rows_table"]

_MEASURES = [one for one in reading_order(MEASURES.values()) if one.heading]
"""As in the table of ``forestcoll results show``."""


def rows_table(sources: Sequence[Source]) -> Html:
    """Return the table of the rows of all sources, with what filters it.

    A row's place in it is its place in the data of :func:`experiments.report.row_details.details`.
    """
    rows = [row for source in sources for row in source.rows]
    shown = [one for one in _MEASURES if one.always or _any(rows, one.name)]
    runs = any(row.repetition for row in rows)
    several = len(sources) > 1
    heads = [*_heads(shown, several=several, runs=runs)]
    lines = [
        tag("tr", *_cells(row, place if several else "", shown, runs=runs))
        for place, source in _numbered(sources)
        for row in source.rows
    ]
    return tag(
        "section",
        tag("h2", "All rows"),
        _filters(sources, rows),
        tag(
            "div",
            tag(
                "table",
                tag("caption", _caption(shown)),
                tag("thead", tag("tr", *heads)),
                tag("tbody", *lines),
                id="rows",
            ),
            class_="scrolls", tabindex=0, role="region", aria_label="table of all rows",
        ),
        id="all-rows",
    )  # fmt: skip


def _numbered(sources: Sequence[Source]) -> Iterator[tuple[str, Source]]:
    """Name each source as the filter does: by its experiment, by its place if it must."""
    names = [source.experiment for source in sources]
    for source in sources:
        unique = names.count(source.experiment) == 1
        yield source.experiment if unique else f"{source.experiment} ({source.place})", source


def _any(rows: Iterable[Row], column: str) -> bool:
    return any(getattr(row, column) is not None for row in rows)


def _caption(shown: Iterable[Measure]) -> str:
    rates = ", ".join(one.heading for one in shown if one.bounded)
    return f"{rates}: theoretical algbw in GB/s. Headings sort; + shows all of a row."


def _heads(shown: Iterable[Measure], *, several: bool, runs: bool) -> Iterator[Html]:
    yield tag("th", tag("span", "details", class_="unseen"), scope="col")
    for name in ("experiment",) * several + ("topology", "method"):
        yield _head(name)
    yield _head("GPUs", number=True)
    if runs:
        yield _head("run", number=True)
    yield _head("status")
    for one in shown:
        unit = one.unit if one.cell is None else ""
        yield _head(one.heading, unit, title=one.label or one.meaning, number=True)


def _head(name: str, unit: str = "", *, title: str = "", number: bool = False) -> Html:
    inside = [name, *([Html(" "), tag("small", unit)] if unit else [])]
    button = tag("button", *inside, type="button", title=title or None)
    return tag("th", button, scope="col", aria_sort="none", class_="number" if number else None)


def _cells(row: Row, experiment: str, shown: Iterable[Measure], *, runs: bool) -> Iterator[Html]:
    yield tag("td", tag("button", "+", type="button", aria_expanded="false", aria_label="details"))
    if experiment:
        yield tag("td", experiment)
    yield tag("th", row.topology, scope="row")
    yield tag("td", row.series)
    yield _number("" if row.gpus is None else str(row.gpus))
    if runs:
        yield _number(str(row.repetition + 1))
    yield _status(row)
    for one in shown:
        yield _measured(one, row) if row.status is Status.OK else tag("td")


def _measured(one: Measure, row: Row) -> Html:
    value, text = getattr(row, one.name), one.text(row)
    plain = one.cell is None or value is None  # else the text is no number to sort by
    return _number(text, None if plain or text == str(value) else f"{value:.9g}")


def _number(text: str, value: str | None = None) -> Html:
    return tag("td", text, class_="number" if text else None, data_value=value)


def _status(row: Row) -> Html:
    reason = row.reason.removeprefix(f"{row.status}: ")
    badge = tag("span", str(row.status), class_=f"status {row.status}")
    if not reason:
        return tag("td", badge)
    return tag("td", badge, Html(" "), tag("span", reason, class_="reason"), title=reason)


def _filters(sources: Sequence[Source], rows: Sequence[Row]) -> Html:
    names = [name for name, _ in _numbered(sources)]
    choices = {
        "experiment": names if len(names) > 1 else [],
        "cluster": sorted({row.cluster for row in rows}),
        "method": sorted({row.method for row in rows}),
        "status": [str(status) for status in Status if any(r.status is status for r in rows)],
    }
    search = tag(
        "label", "Text", tag("input", type="search", id="filter-text", placeholder="in any cell")
    )
    menus = [_menu(what, words) for what, words in choices.items() if words]
    clear = tag("button", "Clear", type="button", id="clear")
    count = tag("output", f"{len(rows)} of {len(rows)} rows", id="count", aria_live="polite")
    return tag("form", search, *menus, clear, count, class_="filters", role="search")


def _menu(what: str, words: Iterable[str]) -> Html:
    options = [tag("option", "all", value=""), *(tag("option", word, value=word) for word in words)]
    return tag("label", what.capitalize(), tag("select", *options, id=f"filter-{what}"))
