"""Heat maps: a cell for each pair of sides."""

import itertools
from dataclasses import replace

import pytest

from experiments.figures.maps import heat_map
from experiments.figures.matplotlib_renderer import render, style
from experiments.results.rows import Status
from tests.experiments.figures.described import marks_of
from tests.experiments.samples import clusters_of_rows as some_rows


def test_a_heat_map_has_a_cell_a_point() -> None:
    """Two methods and three sizes are six cells, five with a number, one with a T."""
    figure = heat_map(some_rows(), "gpus", "method", "ratio")
    (panel,) = figure.panels
    assert sorted(cell.words for cell in panel.cells) == ["", "100", "100", "100", "60", "60"]
    assert marks_of(panel) == {"T": [(2, 1)]}
    assert panel.x.names == ("16", "32", "64")
    assert panel.y.downwards
    assert figure.colours
    assert figure.colours.label == "share of the optimum, pipelined (%)"


def test_successful_rows_without_the_value_are_empty_cells() -> None:
    """Of a search gap only searches know; it is no failure."""
    (panel,) = heat_map(some_rows()[:1], "gpus", "method", "gap").panels
    assert [(cell.value, cell.words) for cell in panel.cells] == [(None, "")]
    assert not panel.failures


def test_decimals_along_a_side_of_a_heat_map_stand_by_size() -> None:
    """Rows keep them as text, exactly; 2.5 comes before 10 all the same."""
    row = some_rows()[0]
    rows = [replace(row, parameters={"unit": unit}) for unit in (10, "2.5", "0.50")]
    (panel,) = heat_map(rows, "gpus", "unit", "k").panels
    assert panel.y.names == ("0.5", "2.5", "10")
    assert not panel.y.downwards


def test_all_topologies_are_in_one_panel_and_shares_are_in_percent() -> None:
    """Where the topology is a side; long names stand upright below it."""
    rows = some_rows()
    rows[1] = replace(rows[1], topology="mi250:boxes=2", cluster="mi250", ratio=0.9961)
    with style():
        axes, bar = render(heat_map(rows[:2], "topology", "method", "ratio")).axes
    assert sorted(text.get_text() for text in axes.texts) == ["100", "100"]
    assert [text.get_text() for text in axes.get_xticklabels()] == [
        "dgx_a100:boxes=2", "mi250:boxes=2",
    ]  # fmt: skip
    assert {text.get_rotation() for text in axes.get_xticklabels()} == {90}
    assert bar.get_ylabel().replace("\n", " ") == "share of the optimum, pipelined (%)"


@pytest.mark.parametrize("sides", [("topology", "method"), ("method", "topology")])
def test_long_names_are_neither_cut_off_nor_over_each_other(sides: tuple[str, str]) -> None:
    """One of 20 letters and two of 170, below the cells and beside them."""
    long = "cartesian_product:of=" + "(ring:nodes=8,bidirectional=false)" * 4
    names = ["generalized_kautz:a=1", f"{long},a=1", f"{long},b=1"]
    rows = [replace(some_rows()[0], topology=name) for name in names]
    with style():
        figure = render(heat_map(rows, *sides, "ratio"))
        axes = figure.axes[0]
        labels = [*axes.get_xticklabels(), *axes.get_yticklabels()]
        boxes = [label.get_window_extent() for label in labels]
    assert all(figure.bbox.x0 <= box.x0 and figure.bbox.y0 <= box.y0 for box in boxes)
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))
    assert {"".join(label.get_text().split("\n")) for label in labels} >= set(names)


def test_methods_without_any_result_have_no_row() -> None:
    """A note names them, or counts many."""
    rows = some_rows()
    lost = replace(rows[0], status=Status.UNSUPPORTED, ratio=None)
    for count, words in ((2, "m0, m1"), (9, "9 methods")):
        never = [replace(lost, method=f"m{i}") for i in range(count)]
        (panel,) = heat_map([*rows, *never], "gpus", "method", "ratio").panels
        assert panel.y.names == ("forestcoll", "ring")
        assert [note.text for note in panel.notes] == [f"without any result here: {words}"]


def test_sizes_along_a_side_have_their_units() -> None:
    """1MB, as in the experiment's file, and not its bytes."""
    rows = [replace(some_rows()[0], size_bytes=size) for size in (1 << 20, 1000, 1 << 30)]
    (panel,) = heat_map(rows, "size_bytes", "method", "ratio").panels
    assert panel.x.names == ("1000", "1MB", "1GB")
