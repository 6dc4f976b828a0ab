"""Bars of a single network."""

from __future__ import annotations

from dataclasses import replace

import pytest

from experiments.plots.panels import palette_of
from experiments.report.bar_panels import bars
from experiments.results.rows import Status
from tests.experiments.samples import clusters_of_rows, rings_of_rows

RINGS = rings_of_rows()[:2]


def test_a_bar_for_a_result_and_a_word_for_a_loss() -> None:
    """Under the optimum; names stand above the bars, escaped, and not parsed."""
    rows = [replace(row, method="<b>$x") if row.method == "ring" else row for row in RINGS]
    (panel,) = bars(rows, "algbw_gb_s", palette_of(rows))
    optimum, bar, word = panel.parts
    assert optimum.sign.name == "optimum"
    assert bar.trace["x"] == [800 / 3]
    assert word.trace["text"] == ["unsupported"]
    assert panel.layout["annotations"][0]["text"].startswith("&lt;b&gt;$x (effort=2")


def test_times_that_are_far_apart_go_by_decades() -> None:
    """Bars begin at a decade: 10 ms and 10 s at 1 ms."""
    ring = clusters_of_rows()[0]
    rows = [replace(ring, generation_s=0.01), replace(ring, method="ring", generation_s=10.0)]
    (panel,) = bars(rows, "generation_s", palette_of(rows))
    assert panel.layout["xaxis"]["type"] == "log"
    first = panel.parts[0].trace
    assert (first["base"][0], first["x"][0] + first["base"][0]) == pytest.approx((0.001, 0.01))


def test_collectives_are_apart_and_what_has_no_value_is_left_out() -> None:
    """What ended well without the measure has no bar, a panel without bars is not there."""
    other = [replace(row, collective="allreduce") for row in RINGS]
    palette = palette_of(RINGS)
    titles = [panel.title for panel in bars([*RINGS, *other], "algbw_gb_s", palette)]
    assert titles == ["ring:nodes=3, allgather", "ring:nodes=3, allreduce"]
    assert bars(RINGS, "algbw_in_steps_gb_s", palette) == []
    lost = [replace(row, status=Status.FAILED) for row in RINGS]
    assert bars(lost, "algbw_gb_s", palette) == []


def test_names_tell_choices_of_parameters_apart() -> None:
    """What all choices of a method have alike is left out; of one alone, nothing."""
    ring = RINGS[0]
    chosen = [replace(ring, parameters={"way": "a", "chunks": n}) for n in (1, 2)]
    rows = [*chosen, replace(ring, method="other", parameters={"way": "a"})]
    (panel,) = bars(rows, "algbw_gb_s", palette_of(rows))
    names = [note["text"] for note in panel.layout["annotations"]]
    assert names == ["ring (chunks=1)", "ring (chunks=2)", "other (way=a)"]
