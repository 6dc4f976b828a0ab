"""Bars: one for each method and measure, words where there is none."""

from __future__ import annotations

from dataclasses import replace

import pytest
from matplotlib.axes import Axes

from experiments.config.figure_options import parse_figure
from experiments.plots.bars import bars, two_bars
from experiments.plots.drawing import style
from experiments.results.rows import Status
from forestcoll.errors import InvalidExperimentError
from tests.experiments.samples import clusters_of_rows as some_rows


def _lengths(axes: Axes) -> list[float]:
    return [bar.get_width() for bar in axes.patches]


def _words(axes: Axes) -> set[str]:
    return {text.get_text() for text in axes.texts}


def test_a_method_is_a_bar_of_its_median_under_the_optimum() -> None:
    """Two methods on one topology; of 100, 200 and 900 GB/s the median is 200."""
    first, ring = some_rows()[0], some_rows()[3]
    runs = [replace(ring, repetition=i, algbw_gb_s=n) for i, n in enumerate((900.0, 100.0, 200.0))]
    with style():
        (axes,) = bars([first, *runs], "algbw_gb_s").axes
    assert _lengths(axes) == [346.667, 200.0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["forestcoll", "ring"]
    assert [line.get_xdata()[0] for line in axes.get_lines()] == [346.667]
    assert _words(axes) == {"346.7", "200"}


def test_a_method_without_a_result_is_a_word_in_its_place() -> None:
    """Not a bar of length 0, which would be a result."""
    lost = replace(some_rows()[3], status=Status.TIMEOUT, algbw_gb_s=None)
    with style():
        (axes,) = bars([some_rows()[0], lost], "algbw_gb_s").axes
    assert _lengths(axes) == [346.667]
    (word,) = (text for text in axes.texts if text.get_text() == "timeout")
    assert word.xy == (0, 1)


def test_two_measures_are_two_bars_and_the_legend_says_which() -> None:
    """The second is pale; a method that has only one of them has one bar."""
    first = replace(some_rows()[0], algbw_in_steps_gb_s=90.0)
    with style():
        (axes,) = two_bars([first, some_rows()[3]], "algbw_gb_s", "algbw_in_steps_gb_s").axes
    assert _lengths(axes) == [346.667, 90.0, 200.0]
    assert [bar.get_alpha() for bar in axes.patches] == [1.0, 0.45, 1.0]
    _, labels = axes.get_legend_handles_labels()
    assert {"theoretical algbw, flowing", "theoretical algbw in steps"} <= set(labels)


def test_each_topology_and_collective_has_a_panel() -> None:
    """The collective is in the title only where there are several."""
    rows = some_rows()[:2]
    with style():
        titles = [axes.get_title().replace("\n", "") for axes in bars(rows, "height").axes]
        both = [rows[0], replace(rows[0], collective="allreduce")]
        two = [axes.get_title().replace("\n", " ") for axes in bars(both, "height").axes]
    assert titles == ["dgx_a100:boxes=2", "dgx_a100:boxes=4"]
    assert [title.rpartition(" ")[2] for title in two] == ["allgather", "allreduce"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("second=algbw_gb_s", "y and second are both 'algbw_gb_s'; change one"),
        ("second=generation_s", "algbw_gb_s is in GB/s, generation_s in s; take two of one unit"),
    ],
)
def test_what_has_no_axis_in_common_is_refused(options: str, message: str) -> None:
    with pytest.raises(InvalidExperimentError, match=message):
        parse_figure(f"two-bars:{options}")
