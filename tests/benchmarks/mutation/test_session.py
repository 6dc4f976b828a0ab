"""A suite of a toy module, mutant by mutant, in forks and in processes of their own."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]

TOY = """
LIMIT = 7

def sign(a):
    if a > 0:
        return 1
    return 0

def grow(a):
    while a < LIMIT:
        a += 1
    return a

def nobody(a):
    return a + 1

def kept(a):
    return a * 2
"""

TESTS = """
import functools
import toy_of_session
from toy_of_session import grow, sign

@functools.lru_cache
def made():
    return toy_of_session.kept(3)

def test_sign():
    assert sign(5) == 1
    assert sign(-5) == 0

def test_grow():
    assert grow(3) == 7

def test_first():
    assert made() == 6

def test_second():
    assert made() == 6
"""

# As the project's own conftest.py: objects that are frozen are in no list of live ones.
FREEZE = """
import gc

def pytest_collection_finish():
    gc.freeze()
"""

WORK = """
import json, sys
from pathlib import Path
from benchmarks.mutation.mutants import Mutants
from benchmarks.mutation.session import Plan, run_suite

path = Path("toy_of_session.py").resolve()
every = Mutants(path.read_text()).all
plan = Plan(path, tuple(range(len(every))))
results = run_suite([plan], ["test_toy_of_session.py"], 2, 60.0, print)
found = {one.mutant.name: [one.status, one.by] for one in results}
Path("found.json").write_text(json.dumps(found))
"""


@pytest.mark.slow
def test_mutants_of_a_toy_are_killed_or_not(tmp_path: Path) -> None:
    """Each by the test that reads its value; what no test runs, and what no test can see, stay.

    ``a > 0`` may be ``a >= 0``, since nobody tries 0. A loop that does not end is stopped. What a
    cache keeps from before does not hide a mutant. A constant of the module needs a restart.
    """
    (tmp_path / "toy_of_session.py").write_text(TOY)
    (tmp_path / "test_toy_of_session.py").write_text(TESTS)
    (tmp_path / "conftest.py").write_text(FREEZE)
    command = [sys.executable, "-c", WORK]
    path = f"{ROOT}:{tmp_path}"
    done = subprocess.run(
        command, cwd=tmp_path, env={"PYTHONPATH": path}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads((tmp_path / "found.json").read_text())
    sign, grow = (f"test_toy_of_session.py::test_{name}" for name in ("sign", "grow"))
    assert found.pop("kept: a * 2 -> a // 2 #0")[0] == "killed"
    assert found.pop("kept: 2 -> 3 #0")[0] == "killed"
    assert found.pop("kept: return a * 2 -> return None #0")[0] == "killed"
    assert found == {
        "import: 7 -> 8 #0": ["restart", ""],
        "sign: a > 0 -> True #0": ["killed", sign],
        "sign: a > 0 -> False #0": ["killed", sign],
        "sign: a > 0 -> a >= 0 #0": ["survived", ""],
        "sign: 0 -> 1 #0": ["survived", ""],
        "sign: 1 -> 2 #0": ["killed", sign],
        "sign: 0 -> 1 #1": ["killed", sign],
        "grow: a < LIMIT -> False #0": ["killed", grow],
        "grow: a < LIMIT -> a <= LIMIT #0": ["killed", grow],
        "grow: a += 1 -> pass #0": ["timeout", "the process ended"],
        "grow: 1 -> 2 #0": ["survived", ""],
        "grow: return a -> return None #0": ["killed", grow],
        "nobody: return a + 1 -> return None #0": ["unreached", ""],
        "nobody: a + 1 -> a - 1 #0": ["unreached", ""],
        "nobody: 1 -> 2 #0": ["unreached", ""],
    }
