"""Lines against GPUs and sizes, with bounds, published values and letters."""

from __future__ import annotations

from dataclasses import replace

from experiments.plots.panels import palette_of
from experiments.report.line_panels import by_gpus, by_size
from experiments.report.traces import Panel
from experiments.results.rows import Row, Status
from tests.experiments.samples import clusters_of_rows

ROWS = clusters_of_rows()


def names(panel: Panel) -> list[str]:
    return [part.sign.name for part in panel.parts]


def test_a_panel_has_a_line_for_each_method_under_the_optimum() -> None:
    """The first method is drawn last, on top; medians are at the numbers of GPUs."""
    (panel,) = by_gpus(ROWS, "algbw_gb_s", palette_of(ROWS))
    assert panel.title == "NVIDIA DGX A100"
    assert names(panel)[0] == "optimum"
    lines = {p.sign.name: p.trace for p in panel.parts if p.trace["mode"] == "lines+markers"}
    assert list(lines) == ["ring", "forestcoll"]
    assert (lines["ring"]["x"], lines["ring"]["y"]) == ([16, 32], [200.0, 200.0])


def test_a_timeout_is_at_its_limit_where_time_is_drawn_and_above_elsewhere() -> None:
    """Of 60 s; with a dashed line there. Elsewhere it has a lane, and the panel is higher."""
    (times,) = by_gpus(ROWS, "generation_s", palette_of(ROWS))
    (letter,) = [part for part in times.parts if part.trace["mode"] == "text"]
    assert (letter.trace["x"], letter.trace["y"]) == ([64], [60.0])
    assert "over 60 s" in letter.trace["hovertext"][0]
    assert "limit" in names(times)
    (rates,) = by_gpus(ROWS, "algbw_gb_s", palette_of(ROWS))
    (letter,) = [part for part in rates.parts if part.trace["mode"] == "text"]
    assert letter.trace["yaxis"] == "y2"
    assert rates.height > times.height
    assert rates.layout["yaxis"]["domain"][1] < rates.layout["yaxis2"]["domain"][0]


def test_what_never_has_a_result_is_left_to_the_legend() -> None:
    """But for timeouts at their limits."""
    lost = [replace(row, status=Status.UNSUPPORTED) for row in ROWS[3:]]
    rows = [*ROWS[:3], *lost]
    (panel,) = by_gpus(rows, "algbw_gb_s", palette_of(rows))
    assert "ring" not in names(panel)


def test_published_values_are_hollow() -> None:
    """The paper's optimum for two boxes of A100 is among them."""
    (panel,) = by_gpus(ROWS, "algbw_gb_s", palette_of(ROWS))
    marks = [part for part in panel.parts if part.sign.shows == "hollow"]
    assert marks
    assert all(part.sign.symbol.endswith("-open") for part in marks)


def sized(row: Row, size: int) -> Row:
    return replace(row, size_bytes=size, algbw_simulated_gb_s=size / 1e6, simulated_over_bound=2.0)


def test_simulations_are_under_their_bound_by_size() -> None:
    """Twice as high, as they take twice the time."""
    rows = [sized(ROWS[0], size) for size in (10**6, 10**7)]
    (panel,) = by_size(rows, "algbw_simulated_gb_s", palette_of(rows))
    assert names(panel) == ["bound", "forestcoll"]
    assert panel.parts[0].trace["y"] == [2.0, 20.0]
    assert panel.parts[1].trace["x"] == [10**6, 10**7]


def test_panels_of_a_figure_are_in_line() -> None:
    """One without letters has the room of one that has them."""
    others = [replace(row, cluster="other") for row in ROWS[:3]]
    panels = by_gpus([*ROWS, *others], "algbw_gb_s", palette_of(ROWS))
    assert len({panel.height for panel in panels}) == 1
