"""Rates by depth and by k."""

import pytest

from forestcoll.bounded_depth.depth_limit import DepthPoints, rate_by_depth
from forestcoll.draw.charts.trade_offs import draw_choices, draw_depths
from forestcoll.errors import InvalidParameterError
from forestcoll.k_scan import best_k


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
