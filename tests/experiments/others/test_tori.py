"""Stored rows of allreduces on rings and tori, as docs/papers/own-figures.md describes them."""

from fractions import Fraction
from pathlib import Path

import pytest

from experiments.results.rows import Row, read_rows

ROWS = Path(__file__).parents[3] / "results" / "others-tori" / "rows.jsonl"


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    """All that have a rate."""
    return [row for row in read_rows(ROWS) if row.algbw]


def of(rows: list[Row], *methods: str) -> list[Row]:
    return [row for row in rows if row.method in methods]


def test_no_method_is_above_the_optimum(rows: list[Row]) -> None:
    assert all(Fraction(row.algbw) <= Fraction(row.optimum) for row in rows)
    assert len(of(rows, "forestcoll")) == 13
    assert all(row.verified and row.algbw == row.optimum for row in of(rows, "forestcoll"))


def test_swing_and_trivance_are_optimal_for_dimensions_of_three_or_four(
    rows: list[Row],
) -> None:
    best = {row.topology for row in of(rows, "swing", "trivance") if row.algbw == row.optimum}
    assert best == {f"torus:dims={dims}" for dims in ("3x3", "3x3x3", "4x4", "4x4x4")}
    assert {row.topology: row.algbw for row in of(rows, "swing")}["torus:dims=16x4"] == "64/41"


def test_rings_and_bfb_are_optimal_everywhere_in_both_measures(rows: list[Row]) -> None:
    for row in of(rows, "bfb", "ring"):
        assert row.algbw == row.algbw_synchronous == row.optimum


def test_steps_keep_their_rates_and_trees_of_one_root_do_not(rows: list[Row]) -> None:
    for row in of(rows, "swing", "trivance"):
        assert row.algbw_synchronous == row.algbw
    slow = [Fraction(row.algbw_synchronous) for row in of(rows, "blink")]
    assert (len(slow), max(slow)) == (13, Fraction(3, 4))
    assert min(slow) == pytest.approx(0.038, abs=0.0005)
