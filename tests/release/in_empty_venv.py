"""Use an installed wheel: no compiler, no extra, no source of the toolkit in sight."""

import shutil
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import forestcoll

TOPOLOGY = "dgx_a100:boxes=2"
COMPILERS = ("cc", "gcc", "g++", "clang", "cmake", "ninja", "make")


def command(*words: str) -> str:
    """Run the installed command."""
    program = str(Path(sys.executable).with_name("forestcoll"))
    return subprocess.run([program, *words], check=True, capture_output=True, text=True).stdout


found = [name for name in COMPILERS if shutil.which(name)]
assert not found, found
assert Path(forestcoll.__file__).is_relative_to(Path(sys.prefix)), forestcoll.__file__

best = forestcoll.optimum(TOPOLOGY)
assert best.algbw_gb_s == Fraction(1040, 3), best  # of the two boxes' 200 GB/s each
forest = forestcoll.generate(TOPOLOGY).schedule
assert forestcoll.verify(forest).optimal
forestcoll.write_schedule(forest, "forest.json")

assert "optimal" in command("verify", "forest.json")
assert "1040/3" in command("generate", TOPOLOGY, "-o", "again.npz")
assert "verified" in command("baselines", "run", "multitree", TOPOLOGY)  # native code of its own
assert "topology" in command("schema")  # files that are installed beside the modules

# In a folder with packages of the same names, ours are found.
for name in ("baselines", "experiments", "lp"):
    Path(name).mkdir()
    Path(name, "__init__.py").write_text("raise AssertionError('not the installed one')")
own = [sys.executable, "-m", "forestcoll", "baselines", "list"]
listed = subprocess.run(own, check=True, capture_output=True, text=True).stdout
assert "multitree" in listed

print(f"forestcoll {command('--version').split()[-1]}: optimum, generate, verify and the command")
