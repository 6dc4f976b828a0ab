"""The notebooks run from top to bottom, and define nothing that belongs in a package."""

import ast
import os
from pathlib import Path
from typing import Any

import nbformat
import pytest
from jupyter_client import AsyncKernelManager
from jupyter_client.kernelspec import KernelSpecManager
from nbclient import NotebookClient
from traitlets import default

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def read(path: Path) -> Any:
    return nbformat.read(path, as_version=4)


class ThisInterpreter(AsyncKernelManager):
    """Kernels of this very interpreter, whatever else the machine knows."""

    @default("kernel_spec_manager")
    def _only_the_native_kernel(self) -> KernelSpecManager:
        return KernelSpecManager(kernel_dirs=[])


def execute(notebook: Any) -> None:
    client = NotebookClient(notebook, kernel_manager_class=ThisInterpreter, timeout=60)
    client.extra_arguments = ["--log-level=ERROR"]
    client.execute(env=os.environ | {"PYTHONPATH": str(ROOT)}, cwd=str(ROOT / "notebooks"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_cell_runs_and_its_asserts_hold(path: Path) -> None:
    """Executed as a reader would; a failing assert in a cell fails here."""
    notebook = read(path)
    execute(notebook)
    ran = [cell.execution_count for cell in notebook.cells if cell.cell_type == "code"]
    assert ran == list(range(1, len(ran) + 1))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_defines_no_function_and_no_class(path: Path) -> None:
    """What could be used twice lives in a package, where it is typed and tested."""
    for cell in read(path).cells:
        if cell.cell_type == "code":
            python = "\n".join(line for line in cell.source.splitlines() if line[:1] != "%")
            kinds = {type(node) for node in ast.walk(ast.parse(python))}
            assert not kinds & {ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_stored_small_and_in_the_order_it_ran(path: Path) -> None:
    """Kept with its outputs, so that it can be read on the web; 400 kB at most, no error."""
    cells = [cell for cell in read(path).cells if cell.cell_type == "code"]
    assert path.stat().st_size < 400_000
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    assert not [o for cell in cells for o in cell.outputs if o.output_type == "error"]


def test_there_is_a_notebook() -> None:
    """So that the tests above do not pass for lack of anything to test."""
    assert NOTEBOOKS


def test_a_failing_assert_in_a_cell_is_noticed() -> None:
    """The runner itself can fail: 1 + 1 is not 3."""
    cell = nbformat.v4.new_code_cell("assert 1 + 1 == 3")
    with pytest.raises(Exception, match="AssertionError"):
        execute(nbformat.v4.new_notebook(cells=[cell]))
