"""The packages of experiments import one another in one order, and none is too full."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2] / "experiments"

LAYERS = (("measures",), ("config",), ("results",), ("published", "run"), ("plots",))
"""Each imports only those before it; of one layer none imports another. Commands import all."""

MODULES = sorted(ROOT.rglob("*.py"))


def imported(path: Path) -> Iterator[str]:
    """Yield the packages of experiments that a module imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module == "experiments":
            names = [f"experiments.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
        for name in names:
            if name.startswith("experiments."):
                yield name.split(".")[1]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_packages_import_only_those_before_them(path: Path) -> None:
    """So there are no circles. A watchdog, which must start fast, leaves a package's own out."""
    package = path.relative_to(ROOT).parts[0]
    if package.endswith(".py"):
        return  # a command
    (place,) = (number for number, layer in enumerate(LAYERS) if package in layer)
    before = {name for layer in LAYERS[:place] for name in layer}
    assert set(imported(path)) <= before | {package}


def test_every_package_is_in_the_order_and_says_what_it_holds() -> None:
    """In at most ten lines, every module named; no folder has more than 16 files."""
    packages = {path.parent.name: path for path in ROOT.glob("*/__init__.py")}
    assert packages.keys() == {name for layer in LAYERS for name in layer}
    for name, path in packages.items():
        text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        assert len(text.splitlines()) <= 10
        beside = [other for other in path.parent.iterdir() if other.name != "__pycache__"]
        assert len(beside) <= 16, name
        for other in path.parent.glob("[!_]*.py"):
            assert f"``{other.stem}``" in text, f"{name} does not name {other.stem}"


def test_no_module_has_the_name_of_another() -> None:
    stems = [path.stem for path in MODULES if path.stem != "__init__"]
    assert len(stems) == len(set(stems))


def test_the_watchdog_loads_nothing_but_the_standard_library() -> None:
    """And three modules of ours, which import nothing else."""
    ours = {"__init__", "points", "processes", "watchdog"}
    seen, todo = set(), [ROOT / "run" / "watchdog.py"]
    while todo:
        path = todo.pop()
        seen.add(path.stem)
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("experiments."):
                todo.append(ROOT.parent / f"{node.module.replace('.', '/')}.py")
            elif isinstance(node, ast.ImportFrom):
                top = (node.module or "").split(".")[0]
                assert top not in {"forestcoll", "baselines", "lp", "numpy", "pydantic"}, path
    assert seen <= ours
