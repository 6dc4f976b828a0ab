"""Tables of docs/simulation.md, and the rows behind them."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from experiments.simulation_fit.leads import Lead
from experiments.simulation_fit.mirrored import Mirrored
from experiments.simulation_fit.simulation_page import (
    COMMAND,
    PAGE,
    RESULTS,
    fit_table,
    leads_table,
    mirrored_table,
    residuals_table,
    write_results,
)
from forestcoll.schedule.simulate import Priority
from tests.experiments.simulation_fit.test_fit_report import FOUND

EQUAL, FIRST = Priority
LEAD = Lead("net", "allgather", ("ring",), 2**30, 1.2, {"as fitted": 1.0, "barriers": 1.18})
MIRROR = Mirrored(
    "net", 2**20, {EQUAL: 2.0, FIRST: 2.0}, {EQUAL: 3.0, FIRST: 1.8}, {EQUAL: 4.0, FIRST: 3.0}
)


def test_each_table_has_a_row_for_each_result() -> None:
    assert fit_table({"NVLink": FOUND})[-1] == (
        "| NVLink | alpha 9.5 us, 90.0% of each bandwidth, window 1, pipeline chunks: best | "
        "0.0% | 69.3% |"
    )
    assert residuals_table(FOUND)[-1] == "| reduce-scatter/ring | held back | -50% |"
    assert leads_table([LEAD])[-1] == (
        "| `net` | allgather | `ring` | 1.20 | 1.00 | 1.00 to 1.18 | barriers: 1.18 | yes |"
    )
    assert mirrored_table([MIRROR])[-1] == "| `net` | +50.0% | -10.0% | +25.0% to +25.0% |"


def test_rows_and_figure_are_stored(tmp_path: Path) -> None:
    write_results({"NVLink": FOUND}, [LEAD], [MIRROR], tmp_path)
    assert {file.name for file in tmp_path.iterdir()} == {
        "allgather.pdf", "allgather.png", "reduce-scatter.pdf", "reduce-scatter.png",
        "leads.csv", "priorities.csv", "residuals.csv",
    }  # fmt: skip
    rows = list(csv.DictReader((tmp_path / "priorities.csv").read_text().splitlines()))
    assert rows[1]["reduce_scatter_us"] == "1.8e+06"


@pytest.mark.parametrize("name", ["fit", "residuals", "leads", "priorities"])
def test_the_page_has_a_place_for_each_table(name: str) -> None:
    assert f"<!-- {name}: {COMMAND} -->" in PAGE.read_text(encoding="utf-8")


def test_the_page_says_what_the_rows_have() -> None:
    """With priorities reduce-scatters take no longer than allgathers, and nothing than before."""
    rows = list(csv.DictReader((RESULTS / "priorities.csv").read_text().splitlines()))
    equal = {
        (row["topology"], row["size_bytes"]): row for row in rows if row["priority"] == "equal"
    }
    for row in rows:
        if row["priority"] == "critical-path":
            due = float(equal[row["topology"], row["size_bytes"]]["allgather_us"])
            assert float(row["reduce_scatter_us"]) <= due * (1 + 1e-5)
            for name in ("allgather_us", "reduce_scatter_us", "allreduce_us"):
                without = equal[row["topology"], row["size_bytes"]][name]
                assert float(row[name]) <= float(without) * (1 + 1e-5)
    ratios = list(csv.DictReader((RESULTS / "leads.csv").read_text().splitlines()))
    page = PAGE.read_text(encoding="utf-8")
    for row in ratios:
        if row["settings"] == "as fitted":
            assert f"| {float(row['printed']):.2f} | {float(row['simulated']):.2f} |" in page
