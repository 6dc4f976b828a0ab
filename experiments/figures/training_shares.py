"""Modelled training beside what is printed: ranges over all choices of the assumptions.

Each topology has two panels: visible communication with rings, and the time that ForestColl saves,
both as shares of the iteration with rings. Each model has a bar from the least to the most over all
choices, a dot for each choice, and the printed share.
"""

from __future__ import annotations

from collections.abc import Sequence

from experiments.figures.figure import INK, Axis, Bar, Figure, Panel, Point, Series, Style
from experiments.figures.styles import STYLES
from experiments.published import TrainingShare
from experiments.published import training_shares as published_shares
from experiments.results.rows import Row, Status

__all__ = ["training_shares"]

_RINGS, _OURS = "ring", "forestcoll"
_VISIBLE, _SAVED = "visible communication with rings", "time saved with ForestColl"

_DOT = Style(INK, marker="|", size=8, order=3)
_EXACT = Style("#000000", "published", marker="D", size=6, order=4)
_AT_MOST = Style("#000000", "published", marker="<", size=7, order=4)

_Choice = tuple[str, float]
"""The words of a choice of the assumptions, and the share that it leads to."""


def training_shares(rows: Sequence[Row]) -> Figure:
    """Describe the shares of visible communication and of saved time, model by model."""
    printed = {one.model: one for one in published_shares()}
    panels: list[Panel] = []
    for topology in dict.fromkeys(row.topology for row in rows):
        here = [row for row in rows if row.topology == topology and row.status is Status.OK]
        visible, saved = _visible(here), _saved(here)
        models = tuple(visible)
        both = ((_VISIBLE, _RINGS, visible), (_SAVED, _OURS, saved))
        panels += (
            _panel(f"{name}\n{topology}", method, models, found, printed, of=name)
            for name, method, found in both
        )
    most = max((len(panel.y.names) for panel in panels), default=0)
    return Figure(tuple(panels), _legend(panels), (3.6, 0.7 + 0.25 * max(3, most)))


def _visible(rows: Sequence[Row]) -> dict[str, list[_Choice]]:
    found: dict[str, list[_Choice]] = {}
    for row in rows:
        if row.method == _RINGS and row.visible_share is not None:
            found.setdefault(_model(row), []).append((_words(row), row.visible_share))
    return found


def _saved(rows: Sequence[Row]) -> dict[str, list[_Choice]]:
    before = {_choice(row): row.iteration_s for row in rows if row.method == _RINGS}
    found: dict[str, list[_Choice]] = {}
    for row in rows:
        slow = before.get(_choice(row))
        if row.method == _OURS and slow and row.iteration_s is not None:
            found.setdefault(_model(row), []).append((_words(row), 1 - row.iteration_s / slow))
    return found


def _model(row: Row) -> str:
    return str(row.parameters.get("model", ""))


def _choice(row: Row) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((name, str(value)) for name, value in row.parameters.items()))


def _words(row: Row) -> str:
    return ", ".join(f"{name} {value}" for name, value in _choice(row) if name != "model")


def _panel(
    title: str,
    method: str,
    models: tuple[str, ...],
    found: dict[str, list[_Choice]],
    printed: dict[str, TrainingShare],
    of: str,
) -> Panel:
    bars, dots = [], []
    marks: dict[bool, list[Point]] = {True: [], False: []}
    for place, model in enumerate(models):
        shares = [share for _, share in found.get(model, ())]
        if shares:
            least, most = min(shares), max(shares)
            text = f"{model}: {least:.1%} to {most:.1%}"
            bars.append(
                Bar(place, 0.5, least, most - least, STYLES[method], opacity=0.6, text=text)
            )
        dots += [Point(share, place, words) for words, share in found.get(model, ())]
        if model in printed:
            one = printed[model]
            share = one.visible if of == _VISIBLE else one.saved
            words = f"{model}, printed: {'' if one.exact else 'at most '}{share:.0%}"
            marks[one.exact].append(Point(share, place, words))
    series = [Series("", _DOT, tuple(dots))]
    series += [
        Series("", style, tuple(marks[exact]))
        for exact, style in ((True, _EXACT), (False, _AT_MOST))
        if marks[exact]
    ]
    along = Axis("share of the iteration with rings", "percent", from_zero=True, margin=0.06)
    return Panel(title, along, Axis(names=models, downwards=True), tuple(series), tuple(bars))


def _legend(panels: Sequence[Panel]) -> tuple[Series, ...]:
    if not panels:
        return ()
    used = {series.style for panel in panels for series in panel.series}
    entries = [
        ("range over all assumptions", Style(INK, marker="s", size=8), 0.6),
        ("one choice of them", _DOT, 1.0),
        ("printed", _EXACT, 1.0),
        ("printed: at most", _AT_MOST, 1.0),
    ]
    return tuple(
        Series(name, style, opacity=opacity)
        for name, style, opacity in entries
        if style.marker == "s" or style in used
    )
