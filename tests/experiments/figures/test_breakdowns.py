"""Shares of stages: parts of a bar that fill it, with the whole beside, published ones below."""

from dataclasses import replace

import pytest

from experiments.figures.breakdowns import breakdowns
from experiments.results.rows import Status
from tests.experiments.samples import clusters_of_rows


def test_parts_fill_the_bar_and_the_whole_is_reported() -> None:
    """A quarter and three quarters of 40 ms; the paper's 1024 GPUs and its code's stand below."""
    first = replace(clusters_of_rows()[0], stages_s={"optimality": 0.01, "tree packing": 0.03})
    (panel,) = breakdowns([first]).panels
    assert [bar.length for bar in panel.bars[:2]] == pytest.approx([0.25, 0.75])
    assert panel.y.names[0] == "forestcoll, 16 GPUs"
    assert "paper (128 cores), 1024 GPUs" in panel.y.names
    texts = [bar.beside for bar in panel.bars if bar.beside]
    assert texts[0] == "40.0 ms"
    assert len(texts) == len(panel.y.names)
    assert sum(bar.length for bar in panel.bars) == pytest.approx(len(panel.y.names))


def test_a_point_without_a_result_is_a_word() -> None:
    lost = replace(clusters_of_rows()[0], status=Status.TIMEOUT, stages_s={"optimality": 1.0})
    (panel,) = breakdowns([replace(lost, cluster="elsewhere")]).panels
    assert [(one.y, one.status) for one in panel.failures] == [(0, Status.TIMEOUT)]
    assert not panel.bars


def test_a_stage_looks_the_same_in_every_figure() -> None:
    """Whichever stages stand before it."""
    styles = []
    for stages in ({"optimality": 1.0, "routing": 1.0}, {"tight sets": 1.0, "routing": 1.0}):
        row = replace(clusters_of_rows()[0], stages_s=stages, cluster="elsewhere")
        (panel,) = breakdowns([row]).panels
        styles.append((panel.bars[1].style, panel.bars[1].hatch))
    assert styles[0] == styles[1]
