"""Rows decide which figures there are, and their content."""

from dataclasses import replace

from experiments.figures.bound_lines import BORDERS
from experiments.figures.styles import palette_of
from experiments.report.charts import Chart, charts_of
from experiments.results.rows import Row, Status
from tests.experiments.samples import clusters_of_rows, rings_of_rows

CLUSTERS = clusters_of_rows()


def charts(rows: list[Row]) -> dict[str, Chart]:
    return {chart.title: chart for chart in charts_of(rows, palette_of(rows))}


def simulated(*sizes: int) -> list[Row]:
    measured = {"algbw_simulated_gb_s": 3.0, "time_simulated_s": 0.5, "simulated_over_bound": 1.5}
    by_size = {str(size): measured for size in sizes}
    assumed = {"sizes": by_size, "simulated": "alpha 10 us"}
    return [replace(row, **assumed) for row in CLUSTERS[:3]]  # type: ignore[arg-type]


def test_clusters_of_several_sizes_give_lines() -> None:
    assert list(charts(CLUSTERS)) == [
        "Generation time against GPUs",
        "Theoretical algbw, pipelined against GPUs",
        "Generation time against share of the optimum, pipelined",
    ]


def test_clusters_of_one_size_give_bars() -> None:
    """Beside the lines of others."""
    single = [replace(row, cluster="one") for row in rings_of_rows()[:2]]
    found = charts([*CLUSTERS, *single])
    assert [panel.title for panel in found["Generation time"].plots] == ["ring:nodes=3"]
    assert len(found["Generation time against GPUs"].plots) == 1


def test_simulated_charts_name_their_assumptions() -> None:
    """Against the size where there are several, else against GPUs, with the size."""
    chart = charts(simulated(1024, 2048))["Simulated algbw against the size of the data"]
    assert chart.text == "Simulated, not measured. Assumed: alpha 10 us."
    assert len(chart.plots) == 3
    chart = charts(simulated(1024))["Simulated algbw against GPUs"]
    assert chart.text.endswith("alpha 10 us. Size of the data: 1KB.")


def test_charts_state_measured_or_theoretical() -> None:
    shown = {title: chart.text for title, chart in charts(CLUSTERS).items()}
    assert shown["Generation time against GPUs"].startswith("Measured: ")
    assert shown["Theoretical algbw, pipelined against GPUs"].startswith("Theoretical: ")


def test_published_marks_differ_from_ours() -> None:
    """What is measured where beside simulations; whose times; what is printed beside theory."""
    size = 2**20
    by_size = {str(n): {"algbw_simulated_gb_s": 3.0} for n in (size, 2 * size)}
    row = replace(CLUSTERS[0], gpus=16, sizes=by_size, simulated="alpha 10 us")
    caption = charts([row])["Simulated algbw against the size of the data"].text
    assert caption.startswith("Simulated, not measured. ")
    assert caption.endswith(
        "Hollow marks are published measurements on the hardware that their panel is of "
        "(ForestColl slides, algbw on two DGX A100)."
    )
    large = replace(CLUSTERS[0], gpus=1024, topology="dgx_a100:boxes=128")
    shown = {title: chart.text for title, chart in charts([CLUSTERS[0], large]).items()}
    assert (
        "Hollow marks are published times, measured on other machines ("
        in shown["Generation time against GPUs"]
    )
    assert (
        "Hollow marks are published values (ForestColl"
        in shown["Theoretical algbw, pipelined against GPUs"]
    )


def test_without_any_result_there_is_no_figure() -> None:
    assert charts([replace(row, status=Status.FAILED) for row in CLUSTERS]) == {}


def test_several_kinds_of_borders_make_a_figure() -> None:
    """In the styles that they have on paper; with the border of a GPU alone nothing compares."""
    bounds = {"border_of_gpu_gb_s": 400.0, "border_of_box_gb_s": 500.0}
    rows = [replace(row, **bounds) for row in CLUSTERS[:3]]  # type: ignore[arg-type]
    (plot,) = charts(rows)["Bounds by borders against GPUs"].plots
    entries = [trace.entry for trace in plot.traces]
    assert [entry.name for entry in entries][:3] == ["optimum", "one box", "one GPU"]
    assert {entry.style for entry in entries[1:3]} == {BORDERS[name][1] for name in bounds}
    alone = [replace(row, border_of_box_gb_s=None) for row in rows]
    assert "Bounds by borders against GPUs" not in charts(alone)
