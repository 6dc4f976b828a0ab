"""Modelled iterations of training as stacked bars, beside printed shares."""

from __future__ import annotations

from dataclasses import replace

import pytest

from experiments.figures.figure import Bar, Panel, Series
from experiments.figures.training_shares import training_shares
from experiments.results.rows import Row, Status
from tests.experiments.samples import clusters_of_rows


def row(method: str, model: str, utilisation: str, iteration_s: float, visible: float) -> Row:
    return replace(
        clusters_of_rows()[0],
        method=method,
        parameters={"model": model, "utilisation": utilisation},
        iteration_s=iteration_s,
        visible_share=visible,
    )


ROWS = [
    row("ring", "llama-2-70b", "0.4", 10.0, 0.1),
    row("ring", "llama-2-70b", "0.6", 8.0, 0.4),
    row("forestcoll", "llama-2-70b", "0.4", 9.5, 0.05),
    row("forestcoll", "llama-2-70b", "0.6", 6.0, 0.2),
    row("ring", "llama-2-7b", "0.4", 1.0, 0.02),
    row("forestcoll", "llama-2-7b", "0.4", 0.99, 0.01),
]


def by_marker(panel: Panel) -> dict[str, Series]:
    return {series.style.marker: series for series in panel.series}


def ends(bars: list[Bar]) -> list[tuple[float, float]]:
    return [(round(bar.start, 9), round(bar.start + bar.length, 9)) for bar in bars]


def at(panel: Panel, place: float) -> list[Bar]:
    return [bar for bar in panel.bars if abs(bar.place - place) < 0.01]


def test_bars_are_of_the_choice_nearest_to_the_printed_one() -> None:
    """Llama-2-70b: printed are 50 % visible; modelled 40 % of 8 s; ForestColl takes 6 s."""
    (panel,) = training_shares(ROWS).panels
    assert panel.y.names == ("llama-2-70b", "llama-2-7b")
    rings, ours = at(panel, -0.21), at(panel, 0.21)
    assert ends(rings[:2]) == [(0, 0.6), (0.6, 1)]
    assert ends(ours[:2]) == [(0, 0.6), (0.6, 0.75)]
    assert [bar.text for bar in (rings[0], ours[0])] == ["utilisation 0.6"] * 2
    assert [bar.beside for bar in (rings[-1], ours[-1])] == ["rings", "ForestColl, 25 % saved"]
    assert {bar.start for bar in (rings[-1], ours[-1])} == {1.0}


def test_a_line_goes_from_the_least_to_the_most_of_all_choices() -> None:
    """Computation is 90 and 60 %; ForestColl takes 95 and 75 % of the time."""
    (panel,) = training_shares(ROWS).panels
    assert [ends(at(panel, place)[2:3]) for place in (-0.21, 0.21, 0.79, 1.21)] == [
        *([(0.6, 0.9)], [(0.75, 0.95)], [(0.98, 0.98)], [(0.99, 0.99)]),
    ]


def test_without_a_printed_share_bars_are_of_the_median() -> None:
    rows = [
        row(method, "mine", str(name), 1.0, share)
        for name, share in enumerate((0.1, 0.5, 0.2))
        for method in ("ring", "forestcoll")
    ]
    (panel,) = training_shares(rows).panels
    assert ends(at(panel, -0.21)[:1]) == [(0, 0.8)]


def test_printed_shares_are_marks_and_limits_have_a_marker_of_their_own() -> None:
    """Llama-2-70b computes 50 % of the time and saves 20 %; of Llama-2-7b both are limits."""
    (panel,) = training_shares(ROWS).panels
    exact, limits = (by_marker(panel)[marker].points for marker in "D>")
    assert [(point.x, point.y) for point in exact] == [(0.5, -0.21), (0.8, 0.21)]
    assert [point.x for point in limits] == pytest.approx([0.88, 0.95])
    assert all("at least" in point.text for point in limits)
    assert not any("at least" in point.text for point in exact)


def test_rows_without_a_result_or_without_rings_have_no_choice() -> None:
    lost = replace(ROWS[0], status=Status.TIMEOUT)
    (panel,) = training_shares([lost, *ROWS[1:4]]).panels
    assert ends(at(panel, -0.21)[2:3]) == [(0.6, 0.6)]
    assert training_shares([]).panels == ()


def test_the_legend_names_only_marks_that_there_are() -> None:
    names = [series.name for series in training_shares(ROWS[:4]).legend]
    assert names[-2:] == ["all choices of the assumptions", "printed"]
    assert "printed: at least" in [series.name for series in training_shares(ROWS).legend]
