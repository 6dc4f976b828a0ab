"""ForestColl's lead in simulation, beside the ratios that are printed."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from experiments.results.rows import Row, Status, read_rows
from experiments.speedups import PAGE, page_tables, speedups, updated
from tests.experiments.samples import clusters_of_rows

ALPHA_US = 26.7
"""As fitted: test_fit_alpha.py sees to it."""

EXPERIMENT = "forestcoll-figure11-allreduce"


def row(method: str, rates: Mapping[int, float], **parameters: int) -> Row:
    sizes = {str(size): {"algbw_simulated_gb_s": rate} for size, rate in rates.items()}
    first = clusters_of_rows()[0]
    return replace(first, method=method, parameters=parameters, sizes=sizes)


def test_the_best_of_a_library_counts_at_each_size() -> None:
    """NCCL: its tree at 1 MiB, its ring at 1 GiB. 4 / 2 and 15 / 10: 1.75 on the average."""
    rows = [
        row("forestcoll", {2**20: 4.0, 2**30: 12.0}, k=1),
        row("forestcoll", {2**20: 3.0, 2**30: 15.0}, k=2),
        row("ring", {2**20: 1.0, 2**30: 10.0}),
        row("nccl-tree", {2**20: 2.0, 2**30: 8.0}),
        row("multitree", {2**20: 9.0, 2**30: 90.0}),
        replace(row("ring", {2**20: 99.0}), status=Status.TIMEOUT),
    ]
    (found,) = speedups({EXPERIMENT: rows})
    assert (found.ours, found.methods) == ("forestcoll", "ring nccl-tree")
    assert (found.at_bytes, found.average_over) == (2**30, (2**20, 2**30))
    assert (found.simulated, found.simulated_average) == (1.5, 1.75)
    assert (found.printed, found.printed_average) == ("1.26", "1.27")


def test_without_rows_there_is_no_ratio() -> None:
    assert speedups({}) == []
    rows = [row("forestcoll", {2**20: 4.0}), row("ring", {2**20: 1.0})]
    (found,) = speedups({EXPERIMENT: rows})
    assert (found.simulated, found.simulated_average) == (None, 4.0)
    other = [replace(one, topology="mi250:boxes=2") for one in rows]
    assert speedups({EXPERIMENT: other}) == []


def test_bfb_s_leads_over_the_torus_are_the_printed_ones_at_large_sizes() -> None:
    """From 128 MB on: 1.29, 1 and 1.42 printed, in the rows that are kept; within 7 %."""
    rows = read_rows(PAGE.parents[2] / "results" / "bfb-figure11" / "rows.jsonl")
    found = [
        one
        for one in speedups({"bfb-figure11": rows})
        if one.average_over and one.average_over[0] >= 10**8
    ]
    assert len(found) == 3
    for one in found:
        assert one.simulated_average == pytest.approx(float(one.printed_average), rel=0.07)


def test_no_simulation_that_is_kept_is_beyond_its_bound() -> None:
    files = [
        file
        for file in (PAGE.parents[2] / "results").glob("*-figure1*/rows.jsonl")
        if '"simulated"' in file.read_text(encoding="utf-8")
    ]
    assert len(files) == 13 + 2
    for row in (row for file in files for row in read_rows(file)):
        assert row.status is not Status.FAILED, row.series
        assert row.sizes or row.status is not Status.OK, row.series
        for values in row.sizes.values():
            assert values["simulated_over_bound"] >= 1 - 1e-9


def test_tables_stand_between_their_marks() -> None:
    mark = "<!-- fit: python -m experiments.speedups -->"
    page = f"before\n{mark}\nold\n<!-- end -->\nafter"
    assert updated(page, {"fit": ["a", "b"]}) == f"before\n{mark}\n\na\nb\n\n<!-- end -->\nafter"


def test_the_page_equals_the_tables_of_the_rows() -> None:
    """As ``python -m experiments.speedups`` writes it."""
    page = PAGE.read_text(encoding="utf-8")
    tables = page_tables(PAGE.parents[2] / "results", ALPHA_US)
    assert tables["speedups"][2:]
    assert updated(page, tables) == page, "python -m experiments.speedups brings it up to date"


@pytest.mark.parametrize("name", ["fit", "speedups"])
def test_the_page_has_both_places(name: str) -> None:
    assert f"<!-- {name}: python -m experiments.speedups -->" in PAGE.read_text(encoding="utf-8")
