"""The rows of a test that ``make test`` runs, counted by a session in another process's place."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

TESTS = """
import pytest


@pytest.mark.first_rows(2)
@pytest.mark.parametrize("row", [pytest.param(0, marks=pytest.mark.slow), 1, 2, 3])
def test_some(row):
    pass


@pytest.mark.parametrize("row", range(3))
def test_all(row):
    pass
"""


def test_the_first_that_are_not_slow_are_run(tmp_path: Path) -> None:
    """Rows 1 and 2 of four; all of a test without the mark."""
    (tmp_path / "test_rows.py").write_text(TESTS)
    (tmp_path / "conftest.py").write_text(
        "from tests.selection.first_rows import leave_later_rows_slow\n"
        "import pytest\n"
        "@pytest.hookimpl(tryfirst=True)\n"
        "def pytest_collection_modifyitems(items):\n"
        "    leave_later_rows_slow(items)\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "--collect-only", "-m", "not slow"]
    command += ["-c", str(ROOT / "pyproject.toml"), "--rootdir", str(tmp_path), str(tmp_path)]
    told = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    names = [line.split("::")[1] for line in told.stdout.splitlines() if "::" in line]
    assert names == ["test_some[1]", "test_some[2]", "test_all[0]", "test_all[1]", "test_all[2]"]
