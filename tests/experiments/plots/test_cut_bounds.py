"""Bounds of borders by size: a line for each kind of set, the optimum below all of them."""

from __future__ import annotations

from dataclasses import replace

from experiments.plots.cut_bounds import cut_bounds
from experiments.plots.drawing import style
from tests.experiments.samples import clusters_of_rows


def test_each_kind_of_set_is_a_line_above_the_optimum() -> None:
    """Of a GPU and of a box; no pairs are linked, so there is no line for them."""
    rows = [
        replace(row, optimum_gb_s=best, border_of_gpu_gb_s=gpu, border_of_box_gb_s=box)
        for row, best, gpu, box in zip(
            clusters_of_rows()[:3], (346.0, 266.0, 228.0), (346.0, 335.0, 330.0),
            (400.0, 266.0, 228.0), strict=True,
        )
    ]  # fmt: skip
    with style():
        (axes,) = cut_bounds(rows, "algbw_gb_s").axes
    lines = {line.get_label(): list(line.get_ydata()) for line in axes.get_lines()}
    assert lines == {
        "optimum": [346.0, 266.0, 228.0],
        "one GPU": [346.0, 335.0, 330.0],
        "one box": [400.0, 266.0, 228.0],
    }
    assert all(
        min(b) <= best
        for b, best in zip(zip(*lines.values(), strict=True), lines["optimum"], strict=True)
    )
    assert list(axes.get_lines()[0].get_xdata()) == [16, 32, 64]
    assert axes.get_ylim()[0] == 0
