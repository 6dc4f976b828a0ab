"""What a described panel holds, and what a printed figure has room for, for tests to look at."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from matplotlib import figure as pictures
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from experiments.figures.figure import FAILURES, Panel

Places = list[tuple[float, float]]


def lines_of(panel: Panel) -> dict[str, Places]:
    """The points of each series that is not of published values, by its name in the legend."""
    return {
        series.name: [(point.x, point.y) for point in series.points]
        for series in panel.series
        if series.style.role != "published" and not series.page_only
    }


def published_of(panel: Panel) -> dict[str, Places]:
    """The points of published values, by their label."""
    return {
        series.name: [(point.x, point.y) for point in series.points]
        for series in panel.series
        if series.style.role == "published"
    }


def marks_of(panel: Panel) -> dict[str, list[tuple[float | None, float | None]]]:
    """Where each failure mark stands on paper, by its letter."""
    found: dict[str, list[tuple[float | None, float | None]]] = {}
    for one in panel.failures:
        if not one.page_only:
            found.setdefault(FAILURES[one.status][0], []).append((one.x, one.y))
    return found


_TOUCHING = 1.5
"""Pixels by which two boxes may meet: a letter does not fill its box."""


def faults(picture: pictures.Figure, most_entries: int) -> list[str]:
    """Name the texts outside of the canvas, overlapping texts, and legends that are too long."""
    picture.draw_without_rendering()
    texts = list(_texts(picture))
    found = [f"outside: {text!r}" for text, box in texts if _outside(box, picture.bbox)]
    found += [
        f"overlap: {one!r} and {other!r}"
        for (one, box), (other, second) in itertools.combinations(texts, 2)
        if _overlap(box, second)
    ]
    for legend in picture.legends:
        if len(legend.get_texts()) > most_entries:
            found.append(f"legend: {len(legend.get_texts())} entries")
    return found


def _texts(picture: pictures.Figure) -> Iterator[tuple[str, Bbox]]:
    """Yield every text that is drawn, with its box in pixels."""
    yield from _boxes(picture.texts)  # the title of the figure is among them
    for legend in picture.legends:
        yield from _boxes([legend.get_title(), *legend.get_texts()])
    for axes in picture.axes:
        if not axes.axison:
            continue
        yield from _boxes([axes.title, axes.xaxis.label, axes.yaxis.label, *axes.texts])
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            room = 1e-9 * (high - low)
            for tick in [*axis.get_major_ticks(), *axis.get_minor_ticks()]:
                if low - room <= tick.get_loc() <= high + room:
                    yield from _boxes([tick.label1, tick.label2])


def _boxes(texts: Sequence[Text]) -> Iterator[tuple[str, Bbox]]:
    for text in texts:
        if text.get_visible() and text.get_text().strip():
            yield text.get_text(), text.get_window_extent()


def _outside(box: Bbox, canvas: Bbox) -> bool:
    return (
        box.x0 < canvas.x0 - 1
        or box.y0 < canvas.y0 - 1
        or box.x1 > canvas.x1 + 1
        or box.y1 > canvas.y1 + 1
    )


def _overlap(one: Bbox, other: Bbox) -> bool:
    shared = Bbox.intersection(one, other)
    return shared is not None and min(shared.width, shared.height) > _TOUCHING
