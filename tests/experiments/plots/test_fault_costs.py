"""What faults cost: times over the optimum of the same network without them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from experiments.plots.drawing import style
from experiments.plots.fault_costs import fault_costs
from experiments.results.rows import Row, Status
from tests.experiments.samples import clusters_of_rows


def some_rows() -> list[Row]:
    """Two boxes with and without a dead NIC, by two methods: optima of 346.667 and 300 GB/s."""
    whole, _, _, ring, *_ = clusters_of_rows()
    dead = {"topology": f"{whole.topology} without b0.gpu0 - ib", "cluster": "dgx_a100 without ..."}
    damaged = [replace(row, optimum_gb_s=300.0, **dead) for row in (whole, ring)]  # type: ignore[arg-type]
    return [whole, ring, replace(damaged[0], algbw_gb_s=300.0), replace(damaged[1], algbw_gb_s=100)]


def test_the_optimum_without_faults_is_one() -> None:
    with style():
        (axes,) = fault_costs(some_rows(), "algbw_gb_s").axes
    lines = {line.get_label(): list(line.get_ydata()) for line in axes.get_lines()}
    assert lines["optimum, damaged"] == lines["forestcoll"] == pytest.approx([346.667 / 300])
    assert lines["ring"] == pytest.approx([3.46667])
    assert lines["optimum without faults"] == [1, 1]


def test_a_method_without_a_result_is_told() -> None:
    rows = some_rows()
    rows[3] = replace(rows[3], status=Status.TIMEOUT, algbw_gb_s=None)
    with style():
        (axes,) = fault_costs(rows, "algbw_gb_s").axes
    _, labels = axes.get_legend_handles_labels()
    assert "ring: timeout at 16 GPUs" in labels


def test_without_the_whole_network_there_is_nothing_to_compare_with() -> None:
    with style():
        (axes,) = fault_costs(some_rows()[2:], "algbw_gb_s").axes
    assert [line.get_label() for line in axes.get_lines()] == ["optimum without faults"]


def test_what_is_not_damaged_is_not_called_so() -> None:
    """With the rows of whole networks alone, the band is their own optimum."""
    with style():
        (axes,) = fault_costs(some_rows()[:2], "algbw_gb_s").axes
    lines = {line.get_label(): list(line.get_ydata()) for line in axes.get_lines()}
    assert lines["optimum, undamaged"] == [1]
    assert "optimum, damaged" not in lines
