"""The bench of whole commands: what is measured, compared and fitted."""

import sys
from itertools import pairwise
from pathlib import Path

import pytest
from rich.console import Console

from benchmarks.bench_commands import (
    ROWS,
    Measured,
    Row,
    as_document,
    exponents,
    least,
    pairs,
    table,
)


def test_names_are_unique_and_verified_files_were_written_before() -> None:
    names = [row.name for row in ROWS]
    assert len(set(names)) == len(names)
    for before, row in pairwise(ROWS):
        if row.words[0] == "verify":
            assert before.words[0] == "generate"
            assert (before.size, before.large) == (row.size, row.large)


def test_the_least_of_each_figure_counts_and_failures_do_not() -> None:
    runs = [Measured(3, 2, 90, 5), Measured(2, 4, 80, 5), Measured(1, 1, 1, None, "error: no")]
    assert least(runs) == Measured(2, 2, 80, 5)
    assert least(runs[2:]) is None


def test_exponents_are_of_series_of_three_sizes() -> None:
    """Seconds that double where sizes quadruple grow as the square root."""
    rows = [Row(f"{size}", (), "root", size) for size in (1, 4, 16)]
    two = [Row(f"two {size}", (), "two", size) for size in (1, 4)]
    found = [(row, Measured(row.size**0.5, 1, 1)) for row in rows + two]
    assert exponents([*found, (Row("none", (), "root", 64), None)]) == {"root": pytest.approx(0.5)}


@pytest.mark.slow
def test_a_command_is_run_here_and_in_another_checkout(tmp_path: Path) -> None:
    """The other checkout has an interpreter of its own: here a script that runs this one."""
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    rows = [Row("make", ("generate", "ring:nodes=3", "-o", "{file}")), Row("bad", ("optimum", "x"))]
    made, failed = pairs(rows, tmp_path, 1, 60)
    for runs in made[1:]:
        assert isinstance(runs, list)
        (only,) = runs
        assert only.file_mb
        assert min(only.cpu_s, only.wall_s, only.peak_mb) > 0
    assert failed[1][0].complaint.startswith("error: ")
    good, bad = as_document([made, failed])
    assert good["after"]["file_mb"] == good["before"]["file_mb"] > 0
    assert bad["after"] is bad["before"] is None
    console = Console(width=200)
    with console.capture() as shown:
        console.print(table([made, failed]))
    assert "error: " in shown.get()


def test_a_command_that_takes_too_long_is_ended() -> None:
    (_, [stopped], _) = next(pairs([Row("slow", ("--help",))], None, 1, 0.01))
    assert stopped.complaint == "ended with -9"
