"""Figures need nothing but rows."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import matplotlib as mpl
import pytest
from matplotlib.axes import Axes
from matplotlib.transforms import Bbox

from experiments.config.kinds import KINDS
from experiments.plots.drawing import finish, gpu_axis, panels, style
from experiments.plots.figures import draw, plot
from experiments.plots.labels import label
from experiments.plots.lines import lines
from experiments.plots.maps import heat_map
from experiments.plots.scatters import front
from experiments.results.columns import quantity
from experiments.results.rows import Status
from forestcoll.errors import ExportError, InvalidExperimentError
from tests.experiments.samples import clusters_of_rows as some_rows


@pytest.mark.parametrize("kind", KINDS)
def test_a_figure_is_a_png_and_a_pdf(kind: str, tmp_path: Path) -> None:
    """Both begin as their formats do and hold a picture; matplotlib's settings are left alone."""
    before = dict(mpl.rcParams)
    png, pdf = draw(kind, some_rows(), tmp_path / kind)
    assert png.read_bytes().startswith(b"\x89PNG")
    assert pdf.read_bytes().startswith(b"%PDF")
    assert png.stat().st_size > 5000
    assert dict(mpl.rcParams) == before


def test_equal_rows_give_equal_bytes(tmp_path: Path) -> None:
    """No date, no name, no random number gets into a file of any format."""
    names = [[tmp_path / f"{name}.{ending}" for ending in ("png", "pdf", "svg")] for name in "ab"]
    once, again = (plot("time-against-algbw", some_rows(), files, "A title") for files in names)
    assert [file.read_bytes() for file in once] == [file.read_bytes() for file in again]


@pytest.mark.parametrize("sized", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_rows_without_a_value_leave_a_figure_without_a_line(
    kind: str, sized: bool, tmp_path: Path
) -> None:
    """An experiment in which everything failed, maybe before it had a size, can be drawn."""
    rows = [replace(row, status=Status.FAILED, optimum_gb_s=None) for row in some_rows()]
    rows = rows if sized else [replace(row, gpus=None) for row in rows]
    (file,) = plot(kind, rows, [tmp_path / "a.svg"])
    assert file.stat().st_size > 3000


def test_options_are_part_of_the_kind_and_of_the_file_name(tmp_path: Path) -> None:
    """A file's name has nothing that an artefact store or a spreadsheet would refuse."""
    files = draw("pareto:x=height,y=k", some_rows(), tmp_path / "pareto:x=height,y=k")
    assert [file.name for file in files] == ["pareto-x-height-y-k.png", "pareto-x-height-y-k.pdf"]


def test_what_cannot_be_drawn_is_a_typed_error(tmp_path: Path) -> None:
    """Unknown kinds and parameters, no rows, and cells that would mix several runs."""
    file = tmp_path / "a.png"
    with pytest.raises(InvalidExperimentError, match='did you mean "pareto"'):
        plot("paretto", some_rows(), [file])
    with pytest.raises(InvalidExperimentError, match="no rows"):
        plot("lines", [], [file])
    with pytest.raises(InvalidExperimentError, match="no row has 'effort'"):
        plot("heat-map:x=effort", some_rows(), [file])
    with pytest.raises(InvalidExperimentError, match="choose other sides"):
        plot("heat-map:x=ib_switches", some_rows(), [file])
    with pytest.raises(ExportError, match="unknown ending"):
        plot("lines", some_rows(), [tmp_path / "a.gif"])
    assert not list(tmp_path.iterdir())


def test_lines_hold_the_median_of_finished_points() -> None:
    """Of 1, 2 and 9 ms the median is 2; the method that timed out ends one size earlier."""
    rows = some_rows()
    rows += [replace(rows[0], repetition=i, generation_s=t) for i, t in ((1, 0.001), (2, 0.009))]
    rows[0] = replace(rows[0], generation_s=0.002)
    with style():
        (axes,) = lines(rows, "generation_s").axes
    drawn = {line.get_label(): line for line in axes.get_lines()}
    assert drawn["forestcoll"].get_ydata()[0] == 0.002
    assert list(drawn["forestcoll"].get_xdata()) == [16, 32, 64]
    assert list(drawn["ring"].get_xdata()) == [16, 32]


def letters(axes: Axes) -> dict[str, list[tuple[float, float]]]:
    """Where each letter of a loss stands, by letter."""
    found: dict[str, list[tuple[float, float]]] = {}
    for line in axes.get_lines():
        if str(line.get_marker()).startswith("$"):
            found.setdefault(line.get_marker()[-3], []).append(tuple(line.get_xydata()[0]))
    return found


def test_a_point_without_a_result_is_a_letter_not_a_gap() -> None:
    """A timeout stands at its limit of 60 s where time is drawn, else above the panel."""
    rows = some_rows()
    rows[0] = replace(rows[0], status=Status.UNSUPPORTED)
    with style():
        (times,) = lines(rows, "generation_s").axes
        (algbw,) = lines(rows, "algbw_gb_s").axes
    assert letters(times)["T"] == [(64, 60)]
    assert letters(algbw)["T"][0] == (64, letters(algbw)["U"][0][1])
    assert letters(algbw)["U"][0][0] == letters(times)["U"][0][0] == 16
    assert "limit" in {line.get_label() for line in times.get_lines()}


def test_a_point_that_died_early_stands_at_the_size_of_its_topology() -> None:
    """A crash before the topology was read leaves no size; another method's row has it."""
    rows = some_rows()
    rows[-1] = replace(rows[-1], status=Status.FAILED, gpus=None)
    with style():
        (axes,) = lines(rows, "algbw_gb_s").axes
    assert [x for x, _ in letters(axes)["F"]] == [64]


@pytest.mark.parametrize("kind", ["time-against-algbw", "pareto"])
def test_a_scatter_says_in_words_what_it_cannot_show(kind: str, tmp_path: Path) -> None:
    """The method that timed out has no place there: a note above the panel names it."""
    (file,) = plot(kind, some_rows(), [tmp_path / "a.svg"])
    assert "ring: timeout" in file.read_text()


def test_labels_keep_clear_of_marks_and_of_each_other(tmp_path: Path) -> None:
    """Three marks at one spot: their labels share no pixel and cover no mark."""
    with style():
        figure, (axes,) = panels(["crowded"])
        axes.plot([1, 1.01, 1.02, 3], [1, 1.01, 1.0, 3], "o")
        for x, y in ((1, 1), (1.01, 1.01), (1.02, 1.0)):
            label(axes, "128", (x, y), "black")
        finish(figure, "")
        figure.draw_without_rendering()
        boxes = [text.get_window_extent() for text in axes.texts]
    assert len(boxes) == 3
    for one, other in itertools.combinations(boxes, 2):
        shared = Bbox.intersection(one, other)
        assert shared is None or shared.width * shared.height < 1
    mark = axes.transData.transform((1, 1))
    assert not any(box.contains(*mark) for box in boxes)


def test_a_long_legend_does_not_crush_the_panel() -> None:
    """Twelve methods in one panel: it stays as tall as with two, the figure grows to the side."""
    heights = []
    for count in (2, 12):
        with style():
            figure, (axes,) = panels(["many"])
            for number in range(count):
                axes.plot([1, 2], [1, number], label=f"a method (effort={number})")
            finish(figure, "")
        heights.append(axes.get_position().height * figure.get_figheight())
    assert heights[1] >= heights[0]


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        ("algbw_gb_s", "generation_s", [(1, 1), (3, 2)]),  # much and quickly
        ("height", "generation_s", [(1, 1)]),  # low and quickly
        ("algbw_gb_s", "ratio", [(2, 4), (3, 2)]),  # much of both
        ("height", "ratio", [(1, 1), (2, 4)]),  # low and much
    ],
)
def test_the_front_is_what_none_beats(x: str, y: str, expected: list[tuple[int, int]]) -> None:
    """(1, 1), (2, 4), (3, 2) by hand, for each choice of what is better."""
    assert front([(1, 1), (2, 4), (3, 2)], x, y) == expected


def test_a_heat_map_has_a_cell_a_point() -> None:
    """Two methods and three sizes are six cells, five with a number, one with a T."""
    with style():
        axes, bar = heat_map(some_rows(), "gpus", "method", "ratio").axes
    assert sorted(text.get_text() for text in axes.texts) == ["0.6", "0.6", "1", "1", "1"]
    assert list(letters(axes)) == ["T"]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["16", "32", "64"]
    assert bar.get_ylabel() == "share of the optimum, flowing"


def test_sides_of_a_heat_map_may_be_parameters() -> None:
    """Of the topology, its defaults included, and of the method."""
    row = replace(some_rows()[0], topology="mi250:boxes=2", parameters={"effort": 3})
    found = [quantity(row, name) for name in ("boxes", "gpus_per_box", "effort", "colour")]
    assert found == [2, 16, 3, None]


@pytest.mark.parametrize(
    ("column", "measure"),
    [
        ("algbw_gb_s", "theoretical algbw, flowing (GB/s)"),
        ("algbw_in_steps_gb_s", "theoretical algbw in steps (GB/s)"),
        ("algbw_at_finish_gb_s", "theoretical algbw at the finish (GB/s)"),
    ],
)
def test_a_figure_says_which_algbw_it_shows(column: str, measure: str) -> None:
    """On its axis; the optimum is a bound of each, so that it is drawn with all of them."""
    rows = [replace(row, **{column: 100.0}) for row in some_rows()]  # type: ignore[arg-type]
    with style():
        (axes,) = lines(rows, column).axes
    assert axes.get_ylabel() == measure
    drawn = {line.get_label(): list(line.get_ydata()) for line in axes.lines}
    assert drawn["optimum"] == [346.667] * 3
    assert drawn["forestcoll"] == [100.0] * 3


def test_published_values_are_marks_at_the_sizes_shown() -> None:
    """A100 at 16 to 64 GPUs has the published optima of 2, 3, 4 and 8 boxes, none of 1024 GPUs."""
    with style():
        (algbw,) = lines(some_rows(), "algbw_gb_s").axes
        (times,) = lines(some_rows(), "generation_s").axes
    marks = {c.get_label(): c.get_offsets().tolist() for c in algbw.collections}
    assert [x for x, _ in marks["published optimum"]] == [16, 24, 32, 64]
    labels = {c.get_label() for c in times.collections}
    assert labels == {"ForestColl, public code (2 cores)"}


def test_published_values_of_allgathers_are_not_marks_beside_allreduces() -> None:
    """Their optima are about twice those of allreduces."""
    both = [replace(row, collective="allreduce") for row in some_rows()]
    with style():
        figures = [lines(both, y) for y in ("algbw_gb_s", "generation_s")]
    assert not [c for figure in figures for axes in figure.axes for c in axes.collections]


def test_crowded_sizes_leave_ticks_out_but_the_ends_stay() -> None:
    """Of 1 to 128 one by one there is room for the doublings or so; both ends are there."""
    with style():
        _figure, (axes,) = panels(["many"])
        gpu_axis(axes, range(1, 129))
    ticks = [int(tick) for tick in axes.get_xticks()]
    assert ticks[0] == 1
    assert ticks[-1] == 128
    assert len(ticks) <= 10
    assert all(b / a > 1.6 for a, b in itertools.pairwise(ticks))


@pytest.mark.parametrize("kind", KINDS)
def test_names_are_never_parsed_as_mathematics(kind: str, tmp_path: Path) -> None:
    """A file a$b_{$.yaml, a parameter $x_{$ and such a title are drawn as they are written."""
    odd = "a$b_{$"
    rows = [
        replace(row, cluster=odd, topology=f"{odd}{row.gpus}", parameters={"note": "$x_{$"})
        for row in some_rows()
    ]
    (file,) = plot(kind, rows, [tmp_path / "a.svg"], title=odd)
    assert odd in file.read_text()


def test_decimals_along_a_side_of_a_heat_map_stand_by_size() -> None:
    """Rows keep them as text, exactly; 2.5 comes before 10 all the same."""
    row = some_rows()[0]
    rows = [replace(row, parameters={"unit": unit}) for unit in (10, "2.5", "0.50")]
    (axes, *_) = heat_map(rows, "gpus", "unit", "k").axes
    assert [text.get_text() for text in axes.get_yticklabels()] == ["0.5", "2.5", "10"]
