"""Scatters and the front of what none beats."""

from dataclasses import replace
from pathlib import Path

import pytest

from experiments.figures.plot import plot
from experiments.figures.scatters import front, pareto, scatter
from tests.experiments.figures.described import lines_of, marks_of
from tests.experiments.samples import clusters_of_rows as some_rows


def test_a_front_names_timeouts_in_a_note(tmp_path: Path) -> None:
    """The method that timed out has no place there: a note above the panel names it."""
    (file,) = plot("pareto", some_rows(), [tmp_path / "a.svg"])
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


def test_each_size_has_a_panel_with_a_marker_for_each_method() -> None:
    """Ring has 60 % of the optimum, and no result at 64 GPUs: a mark without a place."""
    panels = scatter(some_rows(), "ratio", "generation_s").panels
    assert [panel.title for panel in panels] == [
        f"NVIDIA DGX A100, {size}\u00a0GPUs" for size in (16, 32, 64)
    ]
    first, _, last = panels
    assert lines_of(first) == {"forestcoll": [(100.0, 0.0016)], "ring": [(60.0, 0.0016)]}
    assert marks_of(last) == {"T": [(None, None)]}
    assert {panel.x.label for panel in panels} == {"share of optimum (%)"}


def test_all_panels_have_the_same_ends_and_name_the_best_corner() -> None:
    """Two clusters: the markers of all fit, with room for the corner, and only the last name x."""
    others = [
        replace(row, cluster="mi250", topology=f"mi250:boxes={row.gpus}", ratio=0.5)
        for row in some_rows()
    ]
    others[0] = replace(others[0], generation_s=9.0)
    panels = scatter([*some_rows(), *others], "ratio", "generation_s").panels
    ((across, up),) = {(panel.x.ends, panel.y.ends) for panel in panels}
    assert across
    assert up
    assert across[0] < 50 < 100 < across[1]
    assert up[0] < 0.0016 < 9 < up[1]
    assert {panel.corner for panel in panels} == {"ideal"}
    assert [panel.x.label for panel in panels] == [""] * 3 + ["share of optimum (%)"] * 3


def test_of_many_sizes_the_least_and_the_largest_are_shown() -> None:
    """Of 8 to 1024 GPUs four; a cluster without common sizes keeps its own, and has gaps."""
    row = some_rows()[0]
    rows = [
        replace(row, method=method, topology=f"t{size}", gpus=size)
        for size in (8, 16, 32, 64, 128, 256, 512, 1024)
        for method in ("ring", "forestcoll")
    ]
    figure = scatter(rows, "ratio", "generation_s")
    sizes = [panel.title.split(", ")[1].partition("\u00a0")[0] for panel in figure.panels]
    assert sizes == ["8", "32", "256", "1024"]
    assert figure.columns == 4
    alone = replace(row, cluster="b", topology="b", gpus=7)
    titles = [panel.title for panel in scatter([*rows, alone], "ratio", "generation_s").panels]
    assert titles[4:] == ["b, 7\u00a0GPUs", "", "", ""]


def test_without_an_optimum_rates_replace_shares() -> None:
    rows = [replace(row, ratio=None, optimum_gb_s=None) for row in some_rows()]
    (first, *_) = scatter(rows, "ratio", "generation_s").panels
    assert first.x.label == "theoretical algbw, pipelined (GB/s)"
    assert lines_of(first)["ring"] == [(200.0, 0.0016)]


def test_beaten_points_are_pale_and_the_front_is_a_staircase() -> None:
    """At 16 GPUs both take as long, and 346.667 GB/s beat 200; methods are in the legend once."""
    figure = pareto(some_rows(), "algbw_gb_s", "generation_s")
    first = figure.panels[0]
    assert [one.opacity for one in first.series] == [1.0, 0.4, 0.5]
    assert lines_of(first)["Pareto front"] == [(346.667, 0.0016)]
    assert [entry.name for entry in figure.legend] == ["forestcoll", "ring"]
