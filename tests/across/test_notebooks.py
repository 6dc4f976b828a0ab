"""The notebooks run from top to bottom, and define nothing that belongs in a package."""

import ast
import os
import re
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
SOON = [path for path in NOTEBOOKS if path.stem[:2] in ("01", "05", "10")]
"""What ``make test`` runs: the core, an allreduce and a method of one's own."""

OWN_METHODS = ("10_your_own_method",)
"""Notebooks in which a reader's own functions are the subject."""


def read(path: Path) -> Any:
    return nbformat.read(path, as_version=4)


class ThisInterpreter(AsyncKernelManager):
    """Kernels of this very interpreter, whatever else the machine knows."""

    @default("kernel_spec_manager")
    def _only_the_native_kernel(self) -> KernelSpecManager:
        return KernelSpecManager(kernel_dirs=[])


def execute(notebook: Any, **options: Any) -> None:
    client = NotebookClient(
        notebook, kernel_manager_class=ThisInterpreter, timeout=120, record_timing=False, **options
    )
    client.extra_arguments = ["--log-level=ERROR"]
    client.execute(env=os.environ | {"PYTHONPATH": str(ROOT)}, cwd=str(ROOT / "notebooks"))


def code(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def text_of(cell: Any) -> str:
    """What a cell prints or returns; pictures differ between versions of matplotlib."""
    shown = (one.get("text") or one.get("data", {}).get("text/plain", "") for one in cell.outputs)
    return "".join(shown)


@pytest.mark.first_rows(1)
@pytest.mark.parametrize("paths", [SOON, NOTEBOOKS], ids=["some", "all"])
def test_notebooks_run_and_print_what_is_stored(paths: list[Path]) -> None:
    """From top to bottom, in one kernel: ten of them would take half a minute to start.

    Names are deleted in between, so that no notebook needs another.
    """
    stored = {path.stem: code(read(path)) for path in paths}
    together = nbformat.v4.new_notebook()
    for cells in stored.values():
        together.cells += [nbformat.v4.new_code_cell(cell.source) for cell in cells]
        together.cells.append(nbformat.v4.new_code_cell("%reset -f"))
    execute(together)
    ran = iter(together.cells)
    for name, cells in stored.items():
        for cell, again in zip(cells, ran, strict=False):
            assert text_of(again) == text_of(cell), f"{name}: {cell.source}"
        next(ran)  # the names are deleted


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_defines_no_function_and_no_class(path: Path) -> None:
    """What could be used twice lives in a package, where it is typed and tested."""
    if path.stem in OWN_METHODS:
        return
    for cell in code(read(path)):
        kinds = {type(node) for node in ast.walk(ast.parse(cell.source))}
        assert not kinds & {ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_stored_small_and_in_the_order_it_ran(path: Path) -> None:
    """Kept with its outputs, so that it can be read on the web; 400 kB at most, no error."""
    cells = code(read(path))
    assert path.stat().st_size < 400_000
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [one for cell in cells for one in cell.outputs]
    assert not [one for one in outputs if one.output_type == "error"]
    assert any("image/svg+xml" in one.get("data", {}) for one in outputs)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_has_a_title_and_its_links_lead_somewhere(path: Path) -> None:
    """The title has its number; links are to files of the repository."""
    texts = [cell.source for cell in read(path).cells if cell.cell_type == "markdown"]
    assert texts[0].startswith(f"# {int(path.stem[:2])}. ")
    for link in re.findall(r"\]\(([^)#:]+)\)", "\n".join(texts)):
        assert (path.parent / link).is_file(), link


def test_the_list_of_notebooks_is_complete() -> None:
    """Of notebooks/README.md, in order."""
    listed = re.findall(r"\]\(([^)]+[.]ipynb)\)", (ROOT / "notebooks/README.md").read_text())
    assert listed == [path.name for path in NOTEBOOKS]


def test_there_is_a_notebook() -> None:
    """So that the tests above do not pass for lack of anything to test."""
    assert NOTEBOOKS


def test_a_failing_assert_in_a_cell_is_noticed() -> None:
    """The runner itself can fail: 1 + 1 is not 3."""
    cell = nbformat.v4.new_code_cell("assert 1 + 1 == 3")
    with pytest.raises(Exception, match="AssertionError"):
        execute(nbformat.v4.new_notebook(cells=[cell]))
