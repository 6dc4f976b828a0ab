"""Scatters and the front of what none beats."""

from pathlib import Path

import pytest

from experiments.figures.plot import plot
from experiments.figures.scatters import front, pareto, scatter
from tests.experiments.figures.described import lines_of
from tests.experiments.samples import clusters_of_rows as some_rows


@pytest.mark.parametrize("kind", ["time-against-algbw", "pareto"])
def test_a_scatter_names_timeouts_in_a_note(kind: str, tmp_path: Path) -> None:
    """The method that timed out has no place there: a note above the panel names it."""
    (file,) = plot(kind, some_rows(), [tmp_path / "a.svg"])
    assert "ring: timeout" in file.read_text()


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        ("algbw_gb_s", "generation_s", [(1, 1), (3, 2)]),  # much and quickly
        ("depth", "generation_s", [(1, 1)]),  # low and quickly
        ("algbw_gb_s", "ratio", [(2, 4), (3, 2)]),  # much of both
        ("depth", "ratio", [(1, 1), (2, 4)]),  # low and much
    ],
)
def test_the_front_has_the_unbeaten_points(x: str, y: str, expected: list[tuple[int, int]]) -> None:
    """(1, 1), (2, 4), (3, 2) by hand, for each choice of what is better."""
    assert front([(1, 1), (2, 4), (3, 2)], x, y) == expected


def test_a_marker_for_each_method_and_size_with_its_gpus() -> None:
    """Ring has no result at 64 GPUs."""
    (panel,) = scatter(some_rows(), "algbw_gb_s", "generation_s").panels
    labels = {one.name: [point.label for point in one.points] for one in panel.series}
    assert labels == {"forestcoll": ["16", "32", "64"], "ring": ["16", "32"]}
    assert panel.x.label == "theoretical algbw, pipelined (GB/s)"
    assert panel.y.paper_label == "generation time (s); labels: GPUs"


def test_beaten_points_are_pale_and_the_front_is_a_staircase() -> None:
    """At 16 GPUs both take as long, and 346.667 GB/s beat 200; methods are in the legend once."""
    figure = pareto(some_rows(), "algbw_gb_s", "generation_s")
    first = figure.panels[0]
    assert [one.opacity for one in first.series] == [1.0, 0.4, 0.5]
    assert lines_of(first)["Pareto front"] == [(346.667, 0.0016)]
    assert [entry.name for entry in figure.legend] == ["forestcoll", "ring"]
