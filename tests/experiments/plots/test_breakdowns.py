"""Shares of stages: parts of a bar that fill it, with the whole beside, published ones below."""

from __future__ import annotations

from dataclasses import replace

import pytest

from experiments.plots.breakdowns import breakdowns
from experiments.plots.drawing import style
from experiments.results.rows import Status
from tests.experiments.samples import clusters_of_rows


def test_parts_fill_the_bar_and_the_whole_is_told() -> None:
    """A quarter and three quarters of 40 ms; the paper's 1024 GPUs and its code's stand below."""
    first = replace(clusters_of_rows()[0], stages_s={"optimality": 0.01, "tree packing": 0.03})
    with style():
        (axes,) = breakdowns([first]).axes
    widths = [bar.get_width() for bar in axes.patches]
    assert widths[:2] == pytest.approx([0.25, 0.75])
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names[0] == "forestcoll, 16 GPUs"
    assert "paper (128 cores), 1024 GPUs" in names
    texts = [text.get_text() for text in axes.texts]
    assert texts[0] == "40.0 ms"
    assert len(texts) == len(names)
    whole = sum(widths)
    assert whole == pytest.approx(len(names))


def test_a_point_without_a_result_is_a_word() -> None:
    lost = replace(clusters_of_rows()[0], status=Status.TIMEOUT, stages_s={"optimality": 1.0})
    with style():
        (axes,) = breakdowns([replace(lost, cluster="elsewhere")]).axes
    assert [text.get_text() for text in axes.texts] == ["timeout"]
    assert not axes.patches


def test_a_stage_looks_the_same_in_every_figure() -> None:
    """Whichever stages stand before it."""
    looks = []
    for stages in ({"optimality": 1.0, "routing": 1.0}, {"tight sets": 1.0, "routing": 1.0}):
        row = replace(clusters_of_rows()[0], stages_s=stages, cluster="elsewhere")
        with style():
            (axes,) = breakdowns([row]).axes
        bar = axes.patches[1]
        looks.append((bar.get_facecolor(), bar.get_hatch()))
    assert looks[0] == looks[1]
