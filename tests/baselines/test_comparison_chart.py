"""The chart of a comparison."""

import pytest

import forestcoll
from baselines.comparison_chart import draw_comparison
from baselines.method_comparison import compare
from forestcoll.errors import UnsupportedError

BOXES = "dgx_a100:boxes=2"


def test_a_bar_is_a_method_beside_the_optimum() -> None:
    found = compare(BOXES, ["ring", "forestcoll", "torus"])
    figure = forestcoll.draw(found)
    (axes,) = figure.axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["forestcoll", "ring"]
    assert [round(bar.get_width(), 2) for bar in axes.patches] == [346.67, 213.33]
    assert [text.get_text() for text in axes.texts] == ["346.7 (100 %)", "213.3 (61.5 %)"]
    lines = {line.get_label(): line for line in axes.lines}
    assert list(lines) == ["in synchronous steps", "optimum"]
    assert round(lines["optimum"].get_xdata()[0], 2) == 346.67


def test_flows_have_bars_without_steps_and_no_optimum() -> None:
    found = compare("ring:nodes=4", ["all-to-all-lp"], "all-to-all")
    (axes,) = draw_comparison(found).axes
    assert not axes.lines
    assert len(axes.patches) == 1


def test_each_model_has_its_optimum() -> None:
    found = compare("dgx_h100:boxes=2", ["nccl-nvls", "ring"], "allreduce")
    (axes,) = draw_comparison(found).axes
    labels = [line.get_label() for line in axes.lines]
    assert labels == ["in synchronous steps", "optimum", "optimum, switches reduce"]


def test_a_table_without_a_schedule_has_no_chart() -> None:
    with pytest.raises(UnsupportedError, match="no method has a schedule"):
        draw_comparison(compare(BOXES, ["torus"]))
