"""Tables for people and for spreadsheets need nothing but rows."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from experiments.results.rows import Row
from experiments.results.tables import table, write_summary
from tests.experiments.samples import clusters_of_rows as some_rows


def test_the_table_shows_values_or_the_status() -> None:
    """A finished point has its numbers, an unfinished one its status."""
    console = Console(width=120, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    console.print(table(some_rows(), "toy"))
    console.file.close()
    text = console.export_text()
    assert "346.67" in text
    assert "60.0%" in text
    assert "timeout" in text


def test_a_table_has_the_measures_that_its_rows_have() -> None:
    """Rates in steps and by the clock only where there are some; old rows have but one rate.

    Steps are those of a step schedule, or the hops of the tallest tree.
    """

    def head(rows: list[Row]) -> list[str]:
        return [str(column.header) for column in table(rows, "toy").columns]

    old = ["topology", "method", "GPUs", "time", "flowing", "optimal", "k", "trees", "steps"]
    assert head(some_rows()) == old
    stepwise = [replace(row, algbw_in_steps_gb_s=150.0, steps=7) for row in some_rows()]
    assert head(stepwise) == [*old[:5], "in steps", *old[5:]]
    clocked = [replace(row, algbw_at_finish_gb_s=120.0) for row in stepwise]
    assert head(clocked) == [*old[:5], "in steps", "finish", *old[5:]]
    steps = table([some_rows()[0], stepwise[0]], "toy").columns[-1]
    assert list(steps.cells) == ["3", "7"]


def test_the_summary_has_a_line_a_point(tmp_path: Path) -> None:
    """Whole numbers stay whole where others are missing, and fractions stay exact."""
    path = write_summary(some_rows(), tmp_path / "summary.csv")
    rows = list(csv.DictReader(path.read_text().splitlines()))
    assert len(rows) == 6
    assert (rows[0]["k"], rows[0]["algbw"], rows[-1]["k"]) == ("13", "1040/3", "")
    assert rows[-1]["status"] == "timeout"


def test_names_in_tables_are_never_markup() -> None:
    """A title of [/red] and a method of [red] are printed as they are written."""
    rows = [replace(row, topology="[/red]", parameters={"note": "[red]"}) for row in some_rows()]
    console = Console(width=120)
    with console.capture() as printed:
        console.print(table(rows, "[/red]"))
    assert printed.get().count("[/red]") == 2
    assert "ring (note=[red])" in printed.get()
