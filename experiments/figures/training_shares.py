"""Modelled iterations of training as stacked bars, beside printed shares.

Each model has two bars, with rings and with ForestColl: computation, then visible communication, as
shares of the iteration with rings. The bars are of the assumptions whose visible communication is
nearest to the printed one, or the median of all. A line spans all choices of the assumptions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from experiments.figures.figure import INK, Axis, Bar, Figure, Panel, Point, Series, Style
from experiments.figures.styles import STYLES
from experiments.published import TrainingShare
from experiments.published import training_shares as published_shares
from experiments.results.rows import Row, Status

__all__ = ["training_shares"]

_RINGS, _OURS = "ring", "forestcoll"

_COMPUTING = Style("#cfcfcf")
_SPAN = Style(INK)
_EXACT = Style("#000000", "published", marker="D", size=5, order=4)
_AT_LEAST = Style("#000000", "published", marker=">", size=6, order=4)

_APART, _THICKNESS, _SPANNED = 0.21, 0.36, 0.07
"""Of the distance between two models: from the middle to a bar; heights of bars and of lines."""


@dataclass(frozen=True, slots=True)
class _Choice:
    """One choice of the assumptions, in shares of the iteration with rings.

    Parameters
    ----------
    words : str
        The assumptions.
    computing : float
        Share of computation.
    total : float
        Time of the iteration with ForestColl.
    """

    words: str
    computing: float
    total: float


def training_shares(rows: Sequence[Row]) -> Figure:
    """Describe computation and visible communication, model by model."""
    printed = {one.model: one for one in published_shares()}
    panels = []
    for topology in dict.fromkeys(row.topology for row in rows):
        here = [row for row in rows if row.topology == topology and row.status is Status.OK]
        panels.append(_panel(topology, _choices(here), printed))
    most = max((len(panel.y.names) for panel in panels), default=0)
    return Figure(tuple(panels), _legend(panels), (6.0, 0.7 + 0.42 * max(2, most)))


def _choices(rows: Sequence[Row]) -> dict[str, list[_Choice]]:
    """Return the choices of each model that have a result with both methods."""
    rings = {_assumptions(row): row for row in rows if row.method == _RINGS}
    found: dict[str, list[_Choice]] = {}
    for row in rows:
        ring = rings.get(_assumptions(row))
        if row.method != _OURS or ring is None or ring.visible_share is None:
            continue
        if ring.iteration_s and row.iteration_s is not None:
            words = ", ".join(f"{name} {value}" for name, value in _assumptions(row)[1])
            found.setdefault(_model(row), []).append(
                _Choice(words, 1 - ring.visible_share, row.iteration_s / ring.iteration_s)
            )
    return found


def _model(row: Row) -> str:
    return str(row.parameters.get("model", ""))


def _assumptions(row: Row) -> tuple[str, tuple[tuple[str, str], ...]]:
    others = sorted((name, str(value)) for name, value in row.parameters.items() if name != "model")
    return _model(row), tuple(others)


def _panel(
    title: str, choices: Mapping[str, Sequence[_Choice]], printed: Mapping[str, TrainingShare]
) -> Panel:
    bars: list[Bar] = []
    marks: dict[bool, list[Point]] = {True: [], False: []}
    for place, (model, found) in enumerate(choices.items()):
        one = printed.get(model)
        bars += _bars(place, _shown(found, one), found)
        if one is not None:
            least = "" if one.exact else "at least "
            for upper, share, what in (
                (True, 1 - one.visible, "computation"),
                (False, 1 - one.saved, "with ForestColl"),
            ):
                words = f"{model}, printed: {least}{share:.0%} {what}"
                marks[one.exact].append(Point(share, _level(place, upper=upper), words))
    series = tuple(
        Series("", style, tuple(marks[exact]))
        for exact, style in ((True, _EXACT), (False, _AT_LEAST))
        if marks[exact]
    )
    along = Axis("share of the iteration with rings", "percent", from_zero=True, margin=0.3)
    return Panel(title, along, Axis(names=tuple(choices), downwards=True), series, tuple(bars))


def _shown(choices: Sequence[_Choice], printed: TrainingShare | None) -> _Choice:
    """Return the choice nearest to the printed one, or the median of all."""
    ordered = sorted(choices, key=lambda one: one.computing)
    if printed is None:
        return ordered[(len(ordered) - 1) // 2]
    return min(ordered, key=lambda one: abs(1 - one.computing - printed.visible))


def _level(place: int, *, upper: bool) -> float:
    return place - _APART if upper else place + _APART


def _bars(place: int, shown: _Choice, choices: Sequence[_Choice]) -> Iterator[Bar]:
    """Yield the parts of both bars of a model, then the lines over all choices."""
    saved = f"ForestColl, {100 * (1 - shown.total):.0f} % saved"
    ends = {True: [one.computing for one in choices], False: [one.total for one in choices]}
    both = ((True, _RINGS, 1.0, "rings"), (False, _OURS, shown.total, saved))
    for upper, method, total, beside in both:
        level = _level(place, upper=upper)
        yield Bar(level, _THICKNESS, 0, shown.computing, _COMPUTING, text=shown.words)
        visible = total - shown.computing
        words = f"{method}: {visible:.1%} visible communication; {shown.words}"
        yield Bar(level, _THICKNESS, shown.computing, visible, STYLES[method], text=words)
        least, most = min(ends[upper]), max(ends[upper])
        yield Bar(level, _SPANNED, least, most - least, _SPAN, text=f"{least:.1%} to {most:.1%}")
        yield Bar(level, _SPANNED, 1.0, 0.0, _SPAN, beside=beside)


def _legend(panels: Sequence[Panel]) -> tuple[Series, ...]:
    if not panels:
        return ()
    used = {series.style for panel in panels for series in panel.series}
    entries = [
        ("computation", replace(_COMPUTING, marker="s", size=8)),
        ("visible communication, rings", Style(STYLES[_RINGS].colour, marker="s", size=8)),
        ("visible communication, ForestColl", Style(STYLES[_OURS].colour, marker="s", size=8)),
        ("all choices of the assumptions", Style(INK, line="-")),
        ("printed", _EXACT),
        ("printed: at least", _AT_LEAST),
    ]
    return tuple(
        Series(name, style) for name, style in entries if style.role != "published" or style in used
    )
