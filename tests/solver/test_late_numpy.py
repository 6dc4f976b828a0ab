"""Parts of numpy that stay unloaded until they are used."""

import subprocess
import sys

from forestcoll.solver.late_numpy import PARTS

_PROGRAM = """
import sys
from forestcoll.solver.late_numpy import PARTS, keep_parts_late
finders = list(sys.meta_path)
{before}
import scipy.sparse
print(*(f"numpy.{{part}}" in sys.modules for part in PARTS), sys.meta_path == finders)
{after}
"""


def _output(before: str, after: str = "") -> list[str]:
    program = _PROGRAM.format(before=before, after=after)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_scipy_loads_none_of_the_parts() -> None:
    """Nor is there a finder afterwards. Numpy itself may be there before."""
    assert _output("keep_parts_late()") == ["False " * len(PARTS) + "True"]
    assert _output("import numpy; keep_parts_late()") == ["False " * len(PARTS) + "True"]


def test_a_part_is_loaded_when_it_is_used() -> None:
    """By any of its names; then it is the part itself."""
    use = """
import numpy as np
print(np.polynomial.Polynomial([1, 2])(3), "numpy.polynomial" in sys.modules)
import numpy.polynomial as part
from numpy import polynomial
print(np.polynomial is part is polynomial is sys.modules["numpy.polynomial"])
print(hasattr(np.f2py, "no_such_name"), "numpy.f2py" in sys.modules)
"""
    assert _output("keep_parts_late()", use)[1:] == ["7.0 True", "True", "False True"]


def test_a_part_that_is_there_stays() -> None:
    loaded = [str(part == "f2py") for part in PARTS]
    assert _output("import numpy.f2py; keep_parts_late()")[0].split() == [*loaded, "True"]


def test_the_hook_stays_away_once_scipy_is_there() -> None:
    assert _output("import scipy; keep_parts_late()")[0].split()[-1] == "True"
