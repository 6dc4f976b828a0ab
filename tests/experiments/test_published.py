"""Published values: whole, in the units of their measures, and drawn beside what they are of."""

from __future__ import annotations

import csv
import json
from fractions import Fraction
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from experiments import published
from experiments.measures.declared import DRAWN
from experiments.published import marks


def test_published_files_parse_and_agree_with_themselves() -> None:
    """The algbw is N / (1/x*), to the three digits given; the stages add up to the total."""
    folder = resources.files(published)
    optima = list(csv.DictReader(folder.joinpath("forestcoll_optima.csv").read_text().splitlines()))
    assert len(optima) == 14
    for row in optima:
        exact = int(row["gpus"]) / Fraction(row["inverse_rate"])
        assert float(exact) == pytest.approx(float(row["algbw_gb_s"]), abs=5e-4)
    for row in csv.DictReader(
        folder.joinpath("forestcoll_generation.csv").read_text().splitlines()
    ):
        if row["optimality_s"]:
            stages = ("optimality_s", "switch_removal_s", "tree_packing_s")
            total = sum(float(row[stage]) for stage in stages)
            assert total == pytest.approx(float(row["generation_s"]), rel=0.05)
    assert {mark.cluster for mark in marks("algbw_gb_s")} >= {"dgx_a100", "dgx_h100", "mi250"}
    assert max(mark.value for mark in marks("generation_s")) == 2262  # 37.7 minutes


def test_any_measure_has_the_marks_of_its_column(monkeypatch: pytest.MonkeyPatch) -> None:
    """A column with its name in any of the files; an empty cell is none."""
    assert len(marks("k")) >= 14
    assert len(marks("algbw_gb_s")) >= 14
    assert marks("height") == []
    table = [
        {"cluster": "c", "gpus": "8", "height": "3", "label": "a paper", "collectives": "reduce"},
        {"cluster": "c", "gpus": "9", "height": "", "label": "a paper", "collectives": "reduce"},
    ]
    monkeypatch.setattr(published, "_tables", lambda: {"new.csv": table})
    (mark,) = marks("height")
    assert (mark.gpus, mark.value, mark.label) == (8, 3.0, "a paper")


def test_marks_are_only_beside_rows_that_they_are_of() -> None:
    """Optima of allgathers hold for reduce-scatters, and are about twice those of allreduces."""
    assert len(marks("algbw_gb_s", {"allgather", "reduce-scatter"})) >= 14
    assert marks("algbw_gb_s", {"allreduce"}) == []
    assert marks("algbw_gb_s", {"allgather", "allreduce"}) == []


def test_no_column_is_a_measure_by_a_slip() -> None:
    """Those that figures show are the published ones; a slip of the name would hide a value."""
    columns = {name for table in published._tables().values() for name in table[0]}
    assert columns & DRAWN.keys() == {"algbw_gb_s", "generation_s", "k"}


def kept(experiment: str) -> list[dict[str, Any]]:
    """The rows of an experiment that are kept."""
    rows = Path(__file__).parents[2] / "results" / experiment / "rows.jsonl"
    return [json.loads(line) for line in rows.read_text(encoding="utf-8").splitlines()]


def printed_in(name: str) -> list[dict[str, str]]:
    text = resources.files(published).joinpath(name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def test_generalized_kautz_graphs_take_twice_the_least_time_at_most() -> None:
    """Figure 18 of the BFB paper: T_B is 2 (N - 1) / N at most, of all that were looked at."""
    rows = kept("bfb-figure18")
    assert len(rows) == 1994
    for row in rows:
        assert row["status"] == "ok"
        assert row["verified"]
        assert row["bandwidth_runtime"] <= 2 * (1 - 1 / row["gpus"]) * (1 + 1e-12), row["topology"]


def test_bfb_s_all_to_alls_come_out_within_one_percent() -> None:
    """The last column of table 4, in us; one value is beyond what our bound allows.

    Of L^3(C(16,{3,4})): docs/all-to-all.md.
    """
    printed = printed_in("bfb_all_to_all.csv")
    rows = {row["topology"]: row for row in kept("bfb-table4-all-to-all")}
    assert len(printed) == len(rows) == 5
    for cell in printed:
        row = rows[cell["topology"]]
        assert row["verified"]
        ours = 4 / row["algbw_gb_s"] * 83.886
        least = 4 / (1024 * 7.871e-4) * 83.886 if "offsets=3+4" in cell["topology"] else 0.0
        assert ours == pytest.approx(max(least, float(cell["printed_all_to_all_us"])), rel=0.01)


def test_bfb_s_tables_come_out_to_the_printed_digits() -> None:
    """T_L and T_B of tables 4, 5, 7 and 8 in the rows that are kept; each cell is one of ours."""
    folder, found = resources.files(published), {}
    for table in ("4", "5", "7", "8"):
        kept = Path(__file__).parents[2] / "results" / f"bfb-table{table}" / "rows.jsonl"
        for line in kept.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            found[table, row["topology"], row["method"], row["collective"]] = row
    text = folder.joinpath("bfb_topologies.csv").read_text(encoding="utf-8")
    cells = list(csv.DictReader(text.splitlines()))
    assert len(cells) == 49
    for cell in cells:
        row = found[cell["table"], cell["topology"], cell["method"], cell["collective"]]
        assert row["steps"] == int(cell["printed_steps"]), cell
        printed = cell["printed_bandwidth_runtime"]
        digits = len(printed.partition(".")[2]) if "." in printed else 9
        assert row["bandwidth_runtime"] == pytest.approx(
            float(Fraction(printed)), abs=0.501 * 10**-digits
        ), cell
