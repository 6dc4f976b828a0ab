"""Failures and upgrades as bars."""

import pandas as pd
import pytest

import forestcoll
from forestcoll.bounded_depth.depth_limit import DepthPoints, rate_by_depth
from forestcoll.draw.rate_charts import draw_choices, draw_depths, draw_frame, draw_outcomes
from forestcoll.errors import InvalidParameterError
from forestcoll.k_scan import best_k
from forestcoll.topology import load_topology
from forestcoll.what_if.single_changes import failures, upgrades


def test_each_outcome_is_a_bar_with_its_name_and_number() -> None:
    boxes = load_topology("dgx_a100:boxes=4")
    figure = draw_outcomes(failures(boxes), upgrades(boxes))
    lost, won = figure.axes
    names = [label.get_text() for label in lost.get_yticklabels()]
    assert names[0] == "switch ib"
    assert names[-1] == "any of 32 NICs, b*.gpu* - ib"
    assert [round(bar.get_width(), 3) for bar in lost.patches] == [
        0,
        25.806,
        25.806,
        226.042,
        233.333,
    ]
    assert lost.texts[0].get_text() == "stops"
    assert lost.texts[-1].get_text() == "233.3 (-12.5 %)"
    assert [label.get_text() for label in won.get_yticklabels()] == ["all 32 NICs, b*.gpu* - ib"]


def test_upgrades_that_bring_nothing_are_left_out() -> None:
    ring = load_topology("ring:nodes=4")
    assert len(draw_outcomes(failures(ring), upgrades(ring)).axes) == 2
    box = load_topology("dgx_a100:boxes=4").with_links({"b0.gpu0 - b1.gpu0": 1})
    idle = [one for one in upgrades(box) if one.gain <= 0]
    assert len(draw_outcomes(failures(box), idle).axes) == 1
    with pytest.raises(InvalidParameterError, match="no outcomes"):
        draw_outcomes([], idle)


def test_depths_have_points_below_their_bounds() -> None:
    figure = draw_depths(rate_by_depth("dgx_a100:boxes=2"))
    found, bound = figure.axes[0].lines
    assert found.get_xdata().tolist() == bound.get_xdata().tolist() == [1, 2]
    assert [round(y, 3) for y in found.get_ydata()] == [50, 346.667]
    assert figure.axes[0].texts[1].get_text() == "346.7, k = 13"
    with pytest.raises(InvalidParameterError, match="no depths"):
        draw_depths(DepthPoints())


def test_allreduces_have_no_bound_for_a_depth() -> None:
    figure = draw_depths(rate_by_depth("ring:nodes=4", collective="allreduce"))
    assert [line.get_label() for line in figure.axes[0].lines] == ["found"]


def test_choices_of_k_mark_those_that_none_dominates() -> None:
    tried = best_k("mi250:boxes=2", 4)
    every, front = draw_choices(tried).axes[0].lines
    assert every.get_xdata().tolist() == [1, 2, 3, 4]
    assert front.get_xdata().tolist() == [one.k for one in tried.pareto] == [1, 2, 3]


def test_a_frame_has_a_line_for_each_column_and_a_panel_for_each_group() -> None:
    frame = pd.DataFrame({"a": [1, 2], "b": [3.0, None]}, index=pd.Index([10, 20], name="boxes"))
    (axes,) = forestcoll.draw(frame, title="rates", y="GB/s").axes
    assert [line.get_label() for line in axes.lines] == ["a", "b"]
    assert (axes.get_title(), axes.get_xlabel(), axes.get_ylabel()) == ("rates", "boxes", "GB/s")
    grouped = pd.concat({"A100": frame, "H100": frame}, axis=1)
    panels = draw_frame(grouped).axes
    assert [one.get_title() for one in panels] == ["A100", "H100"]
    assert [len(one.lines) for one in panels] == [2, 2]
