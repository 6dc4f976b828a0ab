"""Ways to reach other processes: each has a module, which is loaded when it is asked for."""

import ast
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest

from forestcoll.runtimes.execution.transport import Backend, Transport, open_transport

OFFERED = {name for name in vars(Transport) if not name.startswith("_")}


@pytest.mark.parametrize("backend", Backend)
def test_backends_open_by_module(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    module = SimpleNamespace(joined=lambda meeting: ("joined", meeting))
    monkeypatch.setitem(sys.modules, f"forestcoll.runtimes.execution.over_{backend}", module)
    assert open_transport(backend, "there") == ("joined", "there")


@pytest.mark.parametrize("backend", Backend)
def test_a_backend_has_all_that_is_asked_of_it(backend: Backend) -> None:
    """Read from its source, for torch may not be there: methods, or set at the beginning."""
    spec = find_spec(f"forestcoll.runtimes.execution.over_{backend}")
    tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
    (kind,) = (node for node in tree.body if isinstance(node, ast.ClassDef))
    methods = {node.name for node in kind.body if isinstance(node, ast.FunctionDef)}
    fields = {node.attr for node in ast.walk(kind) if isinstance(node, ast.Attribute)}
    assert methods | fields >= OFFERED
    assert methods >= OFFERED - {"rank", "size", "library"}


def test_processes_load_little() -> None:
    """A worker starts without schedules, topologies and the command line.

    ``lazy_loading`` keeps the names of ``forestcoll`` from being loaded; it imports nothing.
    """
    code = "import sys, forestcoll.runtimes.execution.one_rank\n"
    code += "print([m for m in sys.modules if m.startswith('forestcoll.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[1] for name in ast.literal_eval(done.stdout)}
    assert loaded == {"lazy_loading", "runtimes"}
