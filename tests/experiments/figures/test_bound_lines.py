"""Bounds of borders by size, and what faults cost, beside the optimum."""

from dataclasses import replace

import pytest

from experiments.figures.bound_lines import cut_bounds, fault_costs
from experiments.results.rows import Row, Status
from tests.experiments.figures.described import lines_of
from tests.experiments.samples import clusters_of_rows


def test_each_kind_of_set_is_a_line_above_the_optimum() -> None:
    """Of a GPU and of a box; no pairs are linked, so there is no line for them."""
    rows = [
        replace(row, optimum_gb_s=best, border_of_gpu_gb_s=gpu, border_of_box_gb_s=box)
        for row, best, gpu, box in zip(
            clusters_of_rows()[:3], (346.0, 266.0, 228.0), (346.0, 335.0, 330.0),
            (400.0, 266.0, 228.0), strict=True,
        )
    ]  # fmt: skip
    (panel,) = cut_bounds(rows, "algbw_gb_s").panels
    assert lines_of(panel) == {
        "optimum": [(2, 346.0), (4, 266.0), (8, 228.0)],
        "one GPU": [(2, 346.0), (4, 335.0), (8, 330.0)],
        "one box": [(2, 400.0), (4, 266.0), (8, 228.0)],
    }
    assert (panel.x.label, panel.x.places) == ("boxes", (2, 4, 8))
    assert panel.y.from_zero
    assert panel.y.label == "bound on theoretical algbw, pipelined (GB/s)"


def test_networks_without_boxes_are_placed_by_gpus() -> None:
    row = replace(clusters_of_rows()[0], topology="ring:nodes=16", cluster="ring")
    (panel,) = cut_bounds([row], "algbw_gb_s").panels
    assert panel.x.label == "GPUs"


def faulty_rows() -> list[Row]:
    """Two boxes with and without a dead NIC, by two methods: optima of 346.667 and 300 GB/s."""
    whole, _, _, ring, *_ = clusters_of_rows()
    dead = {"topology": f"{whole.topology} without b0.gpu0 - ib", "cluster": "dgx_a100 without ..."}
    damaged = [replace(row, optimum_gb_s=300.0, **dead) for row in (whole, ring)]  # type: ignore[arg-type]
    return [whole, ring, replace(damaged[0], algbw_gb_s=300.0), replace(damaged[1], algbw_gb_s=100)]


def test_the_optimum_without_faults_is_one() -> None:
    """346.667 GB/s over 300 and 100."""
    (panel,) = fault_costs(faulty_rows(), "algbw_gb_s").panels
    lines = {name: [y for _, y in points] for name, points in lines_of(panel).items()}
    assert lines["optimum, damaged"] == lines["forestcoll"] == pytest.approx([346.667 / 300])
    assert lines["ring"] == pytest.approx([3.46667])
    assert lines["optimum without faults"] == [1]


def test_a_method_without_a_result_is_reported() -> None:
    rows = faulty_rows()
    rows[3] = replace(rows[3], status=Status.TIMEOUT, algbw_gb_s=None)
    figure = fault_costs(rows, "algbw_gb_s")
    assert [entry.name for entry in figure.legend] == ["ring: timeout at 16 GPUs"]
