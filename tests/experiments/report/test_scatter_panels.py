"""Time against algbw."""

from __future__ import annotations

from experiments.plots.panels import palette_of
from experiments.report.scatter_panels import scatter
from tests.experiments.samples import clusters_of_rows


def test_a_mark_for_each_method_and_size_with_its_gpus() -> None:
    """Ring has no result at 64 GPUs."""
    rows = clusters_of_rows()
    (panel,) = scatter(rows, "algbw_gb_s", "generation_s", palette_of(rows))
    labels = {part.sign.name: part.trace["text"] for part in panel.parts}
    assert labels == {"ring": ["16", "32"], "forestcoll": ["16", "32", "64"]}
    assert panel.parts[0].trace["mode"] == "lines+markers+text"
    assert panel.layout["xaxis"]["title"]["text"] == "theoretical algbw, flowing (GB/s)"


def test_a_cluster_without_results_has_no_panel() -> None:
    rows = clusters_of_rows()[-1:]
    assert scatter(rows, "algbw_gb_s", "generation_s", palette_of(rows)) == []
