"""Short legends: the best of each sweep in front, the rest dim.

A printed legend has at most 12 entries. Where a figure has more, each method with several choices
of parameters becomes one line, its best choice at each place, with the choices dim behind it. Where
this is not enough, the methods with the best values keep their entries and the others are dim.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from experiments.figures.figure import Failure, Figure, Panel, Point, Series, Style
from experiments.figures.styles import styles_of

__all__ = ["MOST_ENTRIES", "limited"]

MOST_ENTRIES = 12
"""Limit of the entries in a legend."""

_DIM = {"width": 0.7, "opacity": 0.35}
_GREY = "#8c8c8c"


def limited(figure: Figure) -> Figure:
    """Return a figure whose legend has at most :data:`MOST_ENTRIES` entries."""
    if len(_entries(figure)) <= MOST_ENTRIES:
        return figure
    figure = _with_best_choices(figure)
    excess = len(_entries(figure)) - MOST_ENTRIES
    return _with_best_methods(figure, excess + 1) if excess > 0 else figure


def _entries(figure: Figure) -> list[str]:
    every = [*(one for panel in figure.panels for one in panel.series), *figure.legend]
    bars = (bar.name for panel in figure.panels for bar in panel.bars)
    shown = (one.name for one in every if not one.page_only)
    return list(dict.fromkeys(filter(None, (*shown, *bars))))


def _method(name: str) -> str:
    return name.partition(" (")[0].partition(":")[0]


def _with_best_choices(figure: Figure) -> Figure:
    """Merge the choices of each method that has several."""
    choices: dict[str, dict[str, None]] = defaultdict(dict)
    for panel in figure.panels:
        for one in panel.series:
            if one.style.role == "method" and one.name:
                choices[_method(one.name)][one.name] = None
    several = {name: list(found) for name, found in choices.items() if len(found) > 1}
    panels = tuple(_merged(panel, several) for panel in figure.panels)
    legend = tuple(one for one in figure.legend if _method(one.name) not in several)
    return replace(figure, panels=panels, legend=legend)


def _merged(panel: Panel, several: dict[str, list[str]]) -> Panel:
    dim, front = [], []
    bests: dict[str, Series] = {}
    for method, names in several.items():
        its = [one for one in panel.series if one.name in names]
        if its:
            style = replace(
                styles_of([method])[method], size=its[0].style.size, order=its[0].style.order
            )
            name = f"{method}, best of {len(names)}"
            bests[method] = Series(name, style, _best(its, panel.y.better))
    left = dict(bests)
    for one in panel.series:
        method = _method(one.name)
        if method not in bests or one.style.role != "method":
            front.append(one)
            continue
        dim.append(_dim(one, one.style.colour))
        if method in left:
            front.append(left.pop(method))
    marks = [one for one in panel.failures if _method(one.name) not in several]
    for method, best in bests.items():
        marks += _all_lost(panel.failures, method, best)
    return replace(panel, series=(*dim, *front), failures=tuple(marks))


def _dim(series: Series, colour: str) -> Series:
    style = replace(series.style, colour=colour, marker="", line="-", order=1.5)
    return replace(series, name="", style=style, **_DIM)  # type: ignore[arg-type]


def _best(series: Iterable[Series], better: str) -> tuple[Point, ...]:
    """Return the best point at each place."""
    found: dict[float, Point] = {}
    for point in (point for one in series for point in one.points):
        known = found.setdefault(point.x, point)
        if (point.y > known.y) == (better == "more"):
            found[point.x] = point
    return tuple(found[x] for x in sorted(found))


def _all_lost(failures: Sequence[Failure], method: str, best: Series) -> Iterator[Failure]:
    """Yield the first failure beyond the last result of any choice."""
    last = max((point.x for point in best.points), default=0.0)
    beyond = [one for one in failures if _method(one.name) == method and (one.x or 0.0) > last]
    if beyond:
        first = min(beyond, key=lambda one: one.x or 0.0)
        yield replace(first, name=best.name, style=best.style, page_only=False)


def _with_best_methods(figure: Figure, number: int) -> Figure:
    """Dim a number of methods, those that come off worst."""
    ranks: dict[str, list[float]] = defaultdict(list)
    for panel in figure.panels:
        for name, rank in _ranks(panel):
            ranks[name].append(rank)
    order = sorted(ranks, key=lambda name: (sum(ranks[name]) / len(ranks[name]), name))
    others = set(order[-number:])
    word = f"{len(others)} other methods"
    panels = tuple(_without(panel, others, word) for panel in figure.panels)
    return replace(figure, panels=panels)


def _ranks(panel: Panel) -> Iterator[tuple[str, float]]:
    """Yield the share of lines that are better than one, at each of its places."""
    at: dict[float, list[tuple[float, str]]] = defaultdict(list)
    sign = -1 if panel.y.better == "more" else 1
    for one in panel.series:
        if one.style.role == "method" and one.name:
            for point in one.points:
                at[point.x].append((sign * point.y, one.name))
    for values in at.values():
        for value, name in values:
            yield name, sum(other < value for other, _ in values) / len(values)


def _without(panel: Panel, others: set[str], word: str) -> Panel:
    dim = [_dim(one, _GREY) for one in panel.series if one.name in others]
    kept = [one for one in panel.series if one.name not in others]
    entry = [Series(word, Style(_GREY, line="-"), **_DIM)] if dim else []  # type: ignore[arg-type]
    marks = tuple(one for one in panel.failures if one.name not in others)
    return replace(panel, series=(*dim, *kept, *entry), failures=marks)
