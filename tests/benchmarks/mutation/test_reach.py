"""The lines that run, and no others."""

import importlib.util
import sys
import threading
from pathlib import Path

from benchmarks.mutation.reach import reached

TOY = """
def f(a):
    if a:
        return 1
    return 2
"""


def test_lines_that_run_are_reported_by_file(tmp_path: Path) -> None:
    """A call runs line 2 as its beginning, the condition and one of the returns."""
    path, other = tmp_path / "toy_of_reach.py", tmp_path / "other.py"
    path.write_text(TOY)
    spec = importlib.util.spec_from_file_location("toy_of_reach", path)
    assert spec is not None
    assert spec.loader is not None
    toy = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(toy)
    before = sys.gettrace()
    with reached({path, other}) as lines:
        toy.f(True)
    toy.f(False)
    assert lines == {str(path): {2, 3, 4}, str(other): set()}
    assert sys.gettrace() is before
    with reached({path}) as lines:
        thread = threading.Thread(target=toy.f, args=(False,))
        thread.start()
        thread.join()
    assert lines == {str(path): {2, 3, 5}}
