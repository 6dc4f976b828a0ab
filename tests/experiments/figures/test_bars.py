"""Bars: one for each method and measure, words where there is none."""

from dataclasses import replace

import pytest

from experiments.config.figure_options import parse_figure
from experiments.figures.bars import bars, two_bars
from experiments.figures.figure import Panel
from experiments.results.rows import Status
from forestcoll.errors import InvalidExperimentError
from tests.experiments.figures.described import lines_of
from tests.experiments.samples import clusters_of_rows as some_rows
from tests.experiments.samples import rings_of_rows


def lengths(panel: Panel) -> list[float]:
    return [bar.length for bar in panel.bars]


def test_a_method_is_a_bar_of_its_median_under_the_optimum() -> None:
    """Two methods on one topology; of 100, 200 and 900 GB/s the median is 200."""
    first, ring = some_rows()[0], some_rows()[3]
    runs = [replace(ring, repetition=i, algbw_gb_s=n) for i, n in enumerate((900.0, 100.0, 200.0))]
    (panel,) = bars([first, *runs], "algbw_gb_s").panels
    assert lengths(panel) == [346.667, 200.0]
    assert panel.y.names == ("forestcoll", "ring")
    assert {x for x, _ in lines_of(panel)["optimum"]} == {346.667}
    assert [bar.beside for bar in panel.bars] == ["346.7", "200"]


def test_a_method_without_a_result_is_a_word_in_its_place() -> None:
    """Not a bar of length 0, which would be a result."""
    lost = replace(some_rows()[3], status=Status.TIMEOUT, algbw_gb_s=None)
    (panel,) = bars([some_rows()[0], lost], "algbw_gb_s").panels
    assert lengths(panel) == [346.667]
    (word,) = panel.failures
    assert (word.x, word.y, word.status) == (None, 1, Status.TIMEOUT)


def test_two_measures_are_two_bars_and_the_legend_says_which() -> None:
    """The second is pale; a method that has only one of them has one bar."""
    first = replace(some_rows()[0], algbw_synchronous_gb_s=90.0)
    figure = two_bars([first, some_rows()[3]], "algbw_gb_s", "algbw_synchronous_gb_s")
    assert lengths(figure.panels[0]) == [346.667, 90.0, 200.0]
    assert [bar.opacity for bar in figure.panels[0].bars] == [1.0, 0.45, 1.0]
    names = [entry.name for entry in figure.legend]
    assert names == ["theoretical algbw, pipelined", "algbw in synchronous steps"]


def test_each_topology_and_collective_has_a_panel() -> None:
    """The collective is in the title only where there are several."""
    rows = some_rows()[:2]
    titles = [panel.title for panel in bars(rows, "depth").panels]
    assert titles == ["dgx_a100:boxes=2", "dgx_a100:boxes=4"]
    both = bars([rows[0], replace(rows[0], collective="allreduce")], "depth").panels
    assert [panel.title.rpartition(" ")[2] for panel in both] == ["allgather", "allreduce"]


def test_short_names_distinguish_choices_of_parameters() -> None:
    """What all choices of a method have alike is left out; of one alone, nothing."""
    ring = rings_of_rows()[0]
    chosen = [replace(ring, parameters={"way": "a", "chunks": n}) for n in (1, 2)]
    rows = [*chosen, replace(ring, method="other", parameters={"way": "a"})]
    (panel,) = bars(rows, "algbw_gb_s").panels
    assert panel.y.short_names == ("ring (chunks=1)", "ring (chunks=2)", "other (way=a)")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("second=algbw_gb_s", "y and second are both 'algbw_gb_s'; change one"),
        ("second=generation_s", "algbw_gb_s is in GB/s, generation_s in s; take two of one unit"),
    ],
)
def test_measures_without_a_common_axis_are_refused(options: str, message: str) -> None:
    with pytest.raises(InvalidExperimentError, match=message):
        parse_figure(f"two-bars:{options}")
