"""Failures and upgrades as bars."""

import pytest

from forestcoll.draw.charts.outcomes import draw_outcomes
from forestcoll.errors import InvalidParameterError
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
