"""The tables, from two runs by hand; those of the page are of what is stored."""

import shutil
from dataclasses import replace
from pathlib import Path

from benchmarks.mutation import table
from benchmarks.mutation.stored import save_run
from benchmarks.mutation.table import tables, write_tables
from tests.benchmarks.mutation.test_stored import REASONS, ROWS, RUN


def test_areas_modules_and_survivors_are_listed(tmp_path: Path) -> None:
    """Of the two survivors without a reason one is killed now: 3 of 4 instead of 2."""
    killed = replace(ROWS[3], status="killed", by="test_a.py::test_g")
    save_run(tmp_path / "toy-before.json", RUN)
    save_run(tmp_path / "toy-after.json", replace(RUN, tried=(*ROWS[:3], killed, ROWS[4])))
    found = tables(tmp_path, REASONS).splitlines()
    assert "| toy | 2 | 10 | 5 | 1 | 50.0 | 75.0 | 85 |" in found
    assert "| `a.py` | 9 | 4 | 1 | 2 | 3 | 100.0 |" in found
    assert "| `a.py` `` f: 3 -> 4 #0 `` | any limit will do |" in found
    assert "| `b.py`:3 `` g: 1 -> 2 #0 `` | constant |" in found


def test_the_page_has_the_tables_of_the_stored_runs(tmp_path: Path) -> None:
    """Run ``python -m benchmarks.mutation table`` after a new run."""
    page = tmp_path / "README.md"
    shutil.copy(table.HERE / "README.md", page)
    write_tables(page)
    assert page.read_text() == (table.HERE / "README.md").read_text()
