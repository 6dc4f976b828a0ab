"""Panels for plotly.js: traces, axes, heights; its own classes take them."""

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest

from experiments.figures.bars import bars
from experiments.figures.bound_lines import cut_bounds
from experiments.figures.figure import Axis, Failure, Figure, Panel, Point, Series
from experiments.figures.lines import lines, lines_by_size
from experiments.figures.plotly_renderer import SYMBOLS, Plot, Trace, render, template
from experiments.figures.scatters import pareto, scatter
from experiments.figures.styles import LIMIT, OPTIMUM, STYLES, styles_of
from experiments.results.rows import Row, Status
from tests.experiments.samples import clusters_of_rows, rings_of_rows

ROWS = clusters_of_rows()
RINGS = rings_of_rows()[:2]
STYLE = STYLES["forestcoll"]


def names(plot: Plot) -> list[str]:
    return [trace.entry.name for trace in plot.traces]


def by_mode(plot: Plot, mode: str) -> list[Trace]:
    return [trace for trace in plot.traces if trace.data.get("mode") == mode]


def drawn(*series: Series, x: Axis, failures: Sequence[Failure] = ()) -> Plot:
    panel = Panel("", x, Axis(from_zero=True), tuple(series), failures=tuple(failures))
    (plot,) = render(Figure((panel,)))
    return plot


def line(*places: tuple[float, float]) -> Series:
    return Series("a", STYLE, tuple(Point(*place) for place in places))


def test_a_panel_has_a_line_for_each_method_under_the_optimum() -> None:
    """The first method is drawn last, on top; published values lie above all."""
    (plot,) = render(lines(ROWS, "algbw_gb_s"))
    assert plot.title == "NVIDIA DGX A100"
    assert names(plot)[0] == "optimum"
    methods = {trace.entry.name: trace.data for trace in by_mode(plot, "lines+markers")}
    assert list(methods) == ["ring", "forestcoll"]
    assert (methods["ring"]["x"], methods["ring"]["y"]) == ([16, 32], [200.0, 200.0])
    published = [t for t in plot.traces if t.entry.style.role == "published"]
    assert published
    assert all(trace.data["marker"]["symbol"].endswith("-open") for trace in published)


def test_timeouts_are_at_their_limit_on_time_axes_and_above_others() -> None:
    """Of 60 s; with a dashed line there. Elsewhere it has a lane, and the panel is higher."""
    (times,) = render(lines(ROWS, "generation_s"))
    (mark,) = by_mode(times, "text")
    assert (mark.data["x"], mark.data["y"]) == ([64], [60.0])
    assert "over 60 s" in mark.data["customdata"][0]
    assert "limit" in names(times)
    (rates,) = render(lines(ROWS, "algbw_gb_s"))
    (mark,) = by_mode(rates, "text")
    assert mark.data["yaxis"] == "y2"
    assert rates.height > times.height
    assert rates.layout["yaxis"]["domain"][1] < rates.layout["yaxis2"]["domain"][0]


def test_methods_without_results_appear_in_the_legend_only() -> None:
    """But for timeouts at their limits."""
    lost = [replace(row, status=Status.UNSUPPORTED) for row in ROWS[3:]]
    (plot,) = render(lines([*ROWS[:3], *lost], "algbw_gb_s"))
    assert "ring" not in names(plot)


def test_panels_of_a_figure_are_in_line() -> None:
    """One without failure marks has the room of one that has them."""
    others = [replace(row, cluster="other") for row in ROWS[:3]]
    plots = render(lines([*ROWS, *others], "algbw_gb_s"))
    assert len(plots) == 2
    assert len({plot.height for plot in plots}) == 1


def test_a_panel_without_anything_is_left_out() -> None:
    assert len(render(scatter(ROWS, "ratio", "generation_s"))) == 3
    assert render(scatter(ROWS[-1:], "ratio", "generation_s")) == []


def test_doubling_abscissas_have_ticks_at_the_values() -> None:
    axis = drawn(line((8, 1)), x=Axis("GPUs", "doubling", (8, 64, 16, 8))).layout["xaxis"]
    assert axis["type"] == "log"
    assert axis["ticktext"] == ["8", "16", "64"]
    assert axis["range"][0] < math.log10(8)
    sizes = drawn(line((8, 1)), x=Axis("size", "bytes", (1024, 2**20))).layout["xaxis"]
    assert sizes["ticktext"] == ["1KB", "1MB"]


def test_an_abscissa_of_one_place_has_some_width() -> None:
    low, high = drawn(line((8, 1)), x=Axis("GPUs", "doubling", (8,))).layout["xaxis"]["range"]
    assert low < math.log10(8) < high


def test_ordinates_go_by_decades_or_from_zero() -> None:
    """What spreads over decades is logarithmic and leaves out zeros; rates begin at zero."""
    assert drawn(line((1, 100.0)), x=Axis()).layout["yaxis"]["range"] == [0, 107.0]
    panel = Panel("", Axis(), Axis(scale="log"), (line((1, 0.0), (2, 0.01), (3, 100.0)),))
    (plot,) = render(Figure((panel,)))
    times = plot.layout["yaxis"]
    assert times["type"] == "log"
    assert times["range"][0] < -2 < 2 < times["range"][1]


def test_panels_share_an_ordinate_unless_one_is_ten_times_lower() -> None:
    for low, shared in ((50.0, True), (5.0, False)):
        panels = [Panel("", Axis(), Axis(), (line((1, top)),)) for top in (100.0, low)]
        first, second = render(Figure(tuple(panels)))
        assert (first.layout["yaxis"] == second.layout["yaxis"]) is shared


def test_failure_marks_stand_beside_each_other_or_in_a_lane() -> None:
    """One alone stands on its place; several have all a side of their own."""
    late = Failure(8, 60.0, Status.TIMEOUT, "a", STYLE)
    (alone,) = drawn(x=Axis(), failures=[late]).traces
    assert (alone.data["text"], alone.data["textposition"]) == (["<b>T</b>"], ["middle center"])
    crowd = [replace(late, name=str(number)) for number in range(8)]
    traces = drawn(x=Axis(), failures=crowd).traces
    assert len({trace.data["textposition"][0] for trace in traces}) == 8
    lanes = [replace(one, y=None) for one in crowd[:2]]
    assert [trace.data["y"] for trace in drawn(x=Axis(), failures=lanes).traces] == [[0], [1]]


def test_bounds_are_broad_and_limits_thin() -> None:
    bound, limit = (replace(line((1, 2)), style=style) for style in (OPTIMUM, LIMIT))
    broad, thin = (trace.data["line"] for trace in drawn(bound, limit, x=Axis()).traces)
    assert broad["width"] > thin["width"]
    assert thin["dash"] == "dash"


def test_every_marker_has_a_symbol() -> None:
    """Those of the toolkit, of one's own methods, and of published values."""
    own = styles_of(f"mine{number}" for number in range(28)).values()
    assert {style.marker for style in (*STYLES.values(), *own)} | set("*dp") <= SYMBOLS.keys()


def test_a_bar_for_a_result_and_a_word_for_a_loss() -> None:
    """Under the optimum; names stand above the bars, escaped, and not parsed."""
    rows = [replace(row, method="<b>$x") if row.method == "ring" else row for row in RINGS]
    (plot,) = render(bars(rows, "algbw_gb_s"))
    optimum, bar, word = plot.traces
    assert optimum.entry.name == "optimum"
    assert bar.data["x"] == [800 / 3]
    assert word.data["text"] == ["unsupported"]
    assert plot.layout["annotations"][0]["text"].startswith("&lt;b&gt;$x (effort=2")


def test_times_that_are_far_apart_go_by_decades() -> None:
    """Bars begin at a decade: 10 ms and 10 s at 1 ms."""
    rows = [replace(ROWS[0], generation_s=0.01), replace(ROWS[3], generation_s=10.0, gpus=16)]
    (plot,) = render(bars(rows, "generation_s"))
    assert plot.layout["xaxis"]["type"] == "log"
    first = plot.traces[0].data
    assert (first["base"][0], first["x"][0] + first["base"][0]) == pytest.approx((0.001, 0.01))


def test_missing_values_have_no_bars_and_empty_panels_are_left_out() -> None:
    """Also where all methods failed: the page lists these below its figures."""
    assert render(bars(RINGS, "algbw_synchronous_gb_s")) == []
    lost = [replace(row, status=Status.FAILED, algbw_gb_s=None) for row in RINGS]
    assert render(bars(lost, "algbw_gb_s")) == []


def sized() -> list[Row]:
    """Twice as long as the bound at 1 MB and 10 MB."""
    at = {"simulated_over_bound": 2.0}
    return [
        replace(ROWS[0], size_bytes=n, algbw_simulated_gb_s=n / 1e6, **at)  # type: ignore[arg-type]
        for n in (10**6, 10**7)
    ]


def test_simulations_are_under_their_bound_by_size() -> None:
    """Twice as high, as they take twice the time."""
    (plot,) = render(lines_by_size(sized(), "size_bytes", "algbw_simulated_gb_s"))
    assert names(plot) == ["bound", "forestcoll"]
    assert plot.traces[0].data["y"] == [2.0, 20.0]
    assert plot.traces[1].data["x"] == [10**6, 10**7]


def test_plotly_takes_every_panel() -> None:
    """Its own classes refuse keys and values that plotly.js would pass over."""
    graphs = pytest.importorskip("plotly.graph_objects")
    bounded = [replace(row, border_of_gpu_gb_s=400.0) for row in ROWS]
    figures = [
        *(lines(ROWS, y) for y in ("generation_s", "algbw_gb_s")),
        bars(RINGS, "algbw_gb_s"),
        cut_bounds(bounded, "algbw_gb_s"),
        scatter(ROWS, "ratio", "generation_s"),
        pareto(ROWS, "algbw_gb_s", "generation_s"),
        lines_by_size(sized(), "size_bytes", "algbw_simulated_gb_s"),
    ]
    plots = [plot for figure in figures for plot in render(figure)]
    assert len(plots) == 11
    for plot in plots:
        for dark in (False, True):
            layout = {**plot.layout, "template": template(dark=dark)}
            graphs.Figure(data=[trace.data for trace in plot.traces], layout=layout)
