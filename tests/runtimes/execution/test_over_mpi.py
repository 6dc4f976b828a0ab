"""MPI's own collectives, which real runs are compared with, and its messages."""

import re
import sys
from pathlib import Path

from forestcoll.runtimes.execution.execution import launcher
from forestcoll.runtimes.execution.launching import Command, run_together
from tests.command_line import ROOT
from tests.runtimes.execution.definition import RANKS


def test_collectives_and_messages_do_as_defined(tmp_path: Path) -> None:
    """Parts of 2, 0 and 3 elements, and of 2 each; every rank asserts what it gets."""
    words = [
        sys.executable,
        "-m",
        "tests.runtimes.execution.definition",
        "mpi",
        str(tmp_path / "meeting"),
    ]
    home = {"PYTHONPATH": str(ROOT)}
    log = tmp_path / "log"
    run_together([Command([launcher(), "-n", str(RANKS), *words], home)], 60, log)
    text = re.findall(r"<rank (\d+) is content>", log.read_text())
    assert sorted(text) == [str(rank) for rank in range(RANKS)]
