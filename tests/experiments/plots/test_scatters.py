"""Scatters and the front of what none beats."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.plots.figures import plot
from experiments.plots.scatters import front
from tests.experiments.samples import clusters_of_rows as some_rows


@pytest.mark.parametrize("kind", ["time-against-algbw", "pareto"])
def test_a_scatter_says_in_words_what_it_cannot_show(kind: str, tmp_path: Path) -> None:
    """The method that timed out has no place there: a note above the panel names it."""
    (file,) = plot(kind, some_rows(), [tmp_path / "a.svg"])
    assert "ring: timeout" in file.read_text()


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        ("algbw_gb_s", "generation_s", [(1, 1), (3, 2)]),  # much and quickly
        ("height", "generation_s", [(1, 1)]),  # low and quickly
        ("algbw_gb_s", "ratio", [(2, 4), (3, 2)]),  # much of both
        ("height", "ratio", [(1, 1), (2, 4)]),  # low and much
    ],
)
def test_the_front_is_what_none_beats(x: str, y: str, expected: list[tuple[int, int]]) -> None:
    """(1, 1), (2, 4), (3, 2) by hand, for each choice of what is better."""
    assert front([(1, 1), (2, 4), (3, 2)], x, y) == expected
