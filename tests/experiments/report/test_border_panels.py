"""Bounds by borders on the page, as in the files."""

from __future__ import annotations

from dataclasses import replace

from experiments.plots.cut_bounds import BORDERS
from experiments.report.border_panels import borders
from tests.experiments.samples import clusters_of_rows


def test_borders_are_a_figure_where_several_kinds_are_known() -> None:
    """Lines of the looks that they have as files, below the optimum and beside what is published.

    With the border of a GPU alone there is nothing to compare.
    """
    bounds = {"border_of_gpu_gb_s": 400.0, "border_of_box_gb_s": 500.0}
    rows = [replace(row, **bounds) for row in clusters_of_rows()[:3]]  # type: ignore[arg-type]
    (panel,) = borders(rows, "algbw_gb_s")
    signs = [part.sign for part in panel.parts]
    assert [sign.name for sign in signs][:3] == ["optimum", "one GPU", "one box"]
    assert [sign.colour for sign in signs][1:3] == [BORDERS[name][1] for name in bounds]
    assert panel.layout["yaxis"]["title"]["text"].startswith("bound on theoretical algbw")
    alone = [replace(row, border_of_box_gb_s=None) for row in rows]
    assert borders(alone, "algbw_gb_s") == []
