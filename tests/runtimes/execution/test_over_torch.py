"""The same through torch.distributed, where torch is installed."""

import re
import sys
from pathlib import Path

import pytest

from forestcoll import compile_program, generate
from forestcoll.runtimes.execution.execution import execute
from forestcoll.runtimes.execution.launching import Command, run_together
from tests.command_line import ROOT
from tests.runtimes.execution.definition import RANKS
from tests.schedule.made.flows import ring
from tests.schedule.made.types import schedule

pytest.importorskip("torch", reason="torch is no dependency; install it to run these")


def test_collectives_and_messages_do_as_defined(tmp_path: Path) -> None:
    """Parts of 2, 0 and 3 elements, and of 2 each; every rank asserts what it gets."""
    words = [
        sys.executable,
        "-m",
        "tests.runtimes.execution.definition",
        "torch",
        str(tmp_path / "meeting"),
    ]
    home = {"PYTHONPATH": str(ROOT), "WORLD_SIZE": str(RANKS)}
    log = tmp_path / "log"
    run_together([Command(words, {**home, "RANK": str(r)}) for r in range(RANKS)], 120, log)
    text = re.findall(r"<rank (\d+) is content>", log.read_text())
    assert sorted(text) == [str(rank) for rank in range(RANKS)]


PROGRAMS = {
    "allgather": lambda: compile_program(generate("dgx_a100:boxes=1").schedule),
    "reduce-scatter": lambda: compile_program(
        generate("ring:nodes=3", collective="reduce-scatter").schedule, 2
    ),
    "allreduce": lambda: compile_program(generate("ring:nodes=4", collective="allreduce").schedule),
    "broadcast": lambda: compile_program(
        generate("ring:nodes=3", collective="broadcast", root=1).schedule
    ),
    "reduce": lambda: compile_program(
        generate("ring:nodes=3", collective="reduce", root=2).schedule
    ),
    "all-to-all": lambda: compile_program(ring(4)),
    "multicast switch": lambda: compile_program(schedule("step schedule through switches")),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_give_the_results_of_torch(name: str) -> None:
    found = execute(PROGRAMS[name](), backend="torch", size_bytes=10_000, repetitions=1)
    assert found.library.startswith("torch ")
    assert found.time_s > 0
