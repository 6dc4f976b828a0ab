"""Ranges of modelled shares of training, beside printed ones."""

from __future__ import annotations

from dataclasses import replace

from experiments.figures.figure import Panel, Series
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


def test_a_bar_goes_from_the_least_to_the_most_of_all_choices() -> None:
    """Visible with rings are 10 and 40 %; saved are 0.5 of 10 s and 2 of 8 s."""
    visible, saved = training_shares(ROWS).panels
    assert visible.y.names == saved.y.names == ("llama-2-70b", "llama-2-7b")
    ends = [
        [(round(bar.start, 9), round(bar.start + bar.length, 9)) for bar in panel.bars]
        for panel in (visible, saved)
    ]
    assert ends == [[(0.1, 0.4), (0.02, 0.02)], [(0.05, 0.25), (0.01, 0.01)]]
    dots = by_marker(visible)["|"].points
    assert [(dot.x, dot.y) for dot in dots] == [(0.1, 0), (0.4, 0), (0.02, 1)]
    assert dots[0].text == "utilisation 0.4"


def test_printed_shares_are_marks_and_limits_have_a_marker_of_their_own() -> None:
    """Llama-2-70b computes 50 % of the time and saves 20 %; of Llama-2-7b both are limits."""
    for panel, exact, limit in zip(
        training_shares(ROWS).panels, (0.5, 0.2), (0.12, 0.05), strict=True
    ):
        (diamond,), (arrow,) = (by_marker(panel)[marker].points for marker in "D<")
        assert (diamond.x, diamond.y) == (exact, 0)
        assert (round(arrow.x, 9), arrow.y) == (limit, 1)
        assert "at most" in arrow.text
        assert "at most" not in diamond.text


def test_rows_without_a_result_or_without_rings_make_no_range() -> None:
    lost = replace(ROWS[0], status=Status.TIMEOUT)
    visible, saved = training_shares([lost, *ROWS[1:4]]).panels
    assert [bar.length for bar in visible.bars] == [0.0]
    assert [bar.start for bar in saved.bars] == [0.25]
    assert training_shares([]).panels == ()


def test_the_legend_names_only_marks_that_there_are() -> None:
    names = [series.name for series in training_shares(ROWS[:4]).legend]
    assert names == ["range over all assumptions", "one choice of them", "printed"]
    assert "printed: at most" in [series.name for series in training_shares(ROWS).legend]
