"""Tables for people and for spreadsheets need nothing but rows."""

import csv
from dataclasses import replace
from pathlib import Path

from baselines.registry import METHODS
from experiments.results.rows import Row, Status
from experiments.results.tables import losses, notes, table, write_summary
from tests.experiments.samples import clusters_of_rows as some_rows


def test_the_table_shows_values_or_the_status() -> None:
    """A finished point has its numbers, an unfinished one its status and nothing more."""
    grid = table(some_rows(), "toy")
    cells = {cell for row in grid.rows for cell in row}
    assert {"346.67", "60.0%"} <= cells
    assert (grid.rows[-1][-1], len(grid.rows[-1])) == ("timeout", 4)


def test_a_table_has_the_measures_that_its_rows_have() -> None:
    """Rates in steps and by the clock only where there are some; old rows have but one rate.

    Steps are those of a step schedule, or the hops of the deepest tree.
    """

    def head(rows: list[Row]) -> list[str]:
        return list(table(rows, "toy").heads)

    old = ["topology", "method", "GPUs", "time", "pipelined", "optimal", "k", "trees", "steps"]
    assert head(some_rows()) == old
    stepwise = [replace(row, algbw_synchronous_gb_s=150.0, steps=7) for row in some_rows()]
    assert head(stepwise) == [*old[:5], "in sync", *old[5:]]
    clocked = [replace(row, algbw_makespan_gb_s=120.0) for row in stepwise]
    assert head(clocked) == [*old[:5], "in sync", "makespan", *old[5:]]
    both = [some_rows()[0], replace(stepwise[0], topology="other")]
    assert [row[-1] for row in table(both, "toy").rows] == ["3", "7"]


def test_the_summary_has_a_line_a_point(tmp_path: Path) -> None:
    """Whole numbers stay whole where others are missing, and fractions stay exact."""
    path = write_summary(some_rows(), tmp_path / "summary.csv")
    rows = list(csv.DictReader(path.read_text().splitlines()))
    assert len(rows) == 6
    assert (rows[0]["k"], rows[0]["algbw"], rows[-1]["k"]) == ("13", "1040/3", "")
    assert rows[-1]["status"] == "timeout"


def test_repetitions_are_a_line_with_median_and_spread() -> None:
    """Times of 1, 4 and 1.5 s: the median is 1.5 s; a point that ran once has no spread."""
    once, other = some_rows()[:2]
    times = (1.0, 4.0, 1.5)
    runs = [replace(once, repetition=i, generation_s=time) for i, time in enumerate(times)]
    failed = replace(once, repetition=3, status=Status.TIMEOUT, generation_s=None)
    grid = table([*runs, failed, other], "toy")
    assert grid.heads[2:6] == ("GPUs", "time", "spread", "runs")
    assert [row[3:6] for row in grid.rows][:2] == [("1.5 s", "1.0 s..4.0 s", "3"), ("timeout",)]
    assert grid.rows[2][4:6] == ("", "1")
    assert "the median of the runs" in grid.note
    assert "runs" not in table([once, other], "toy").heads


def test_losses_say_why_there_is_no_schedule() -> None:
    lost = replace(some_rows()[0], status=Status.FAILED, reason="no [red] chunks")
    assert losses([some_rows()[0], lost]) == [
        f"failed: {lost.series} on {lost.topology}: no [red] chunks"
    ]


def test_missing_simulations_are_noted() -> None:
    row = replace(some_rows()[0], unsimulated="too many units")
    assert notes([row, row]) == ["not simulated: forestcoll on dgx_a100:boxes=2: too many units"]


def test_differences_of_successful_baselines_are_noted_once() -> None:
    """ForestColl has no search to report, nor has a method that found nothing."""
    row = some_rows()[0]
    made, lost = replace(row, method="ring"), replace(row, method="tacos", status=Status.FAILED)
    text = f"differs from its source: ring: {METHODS['ring'].notes}"
    assert notes([row, made, made, lost]) == [text]
