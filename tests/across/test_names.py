"""What ``import forestcoll`` offers, and that every module is reached by its dotted path."""

import ast
import importlib
import pkgutil
import sys
from importlib.metadata import version
from pathlib import Path
from types import ModuleType

import pytest

import baselines
import forestcoll
import lp
from forestcoll.lazy_loading import homes

LISTED = [forestcoll, lp, baselines]
LAZY = [(package, name) for package in LISTED for name in homes(package.__name__)]


@pytest.mark.parametrize("package", LISTED, ids=lambda one: one.__name__)
def test_the_stub_of_type_checkers_equals_the_list(package: ModuleType) -> None:
    """Parsed as Python, it imports each name once, under its own name, and nothing else."""
    stub = Path(str(package.__file__)).with_suffix(".pyi")
    seen = [
        (alias.name, alias.asname, node.module)
        for node in ast.parse(stub.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    ]
    listed = homes(package.__name__)
    assert seen == [(name, name, listed[name]) for name in listed]
    assert sorted(listed) == package.__all__


@pytest.mark.parametrize(("package", "name"), LAZY, ids=lambda one: getattr(one, "__name__", one))
def test_lazy_names_are_the_objects_of_their_modules(package: ModuleType, name: str) -> None:
    home = importlib.import_module(homes(package.__name__)[name])
    assert getattr(package, name) is getattr(home, name)


def test_dir_shows_every_name_before_it_is_loaded() -> None:
    """Also drawing, and the version of the installed distribution; but no module."""
    assert set(dir(forestcoll)) == {*forestcoll.__all__, "__version__"}
    assert "draw" in dir(forestcoll)
    assert callable(forestcoll.draw)
    assert forestcoll.__version__ == version("forestcoll")
    assert callable(forestcoll.draw.draw_topology)
    with pytest.raises(AttributeError, match="module 'forestcoll' has no attribute 'generated'"):
        forestcoll.generated  # noqa: B018


PACKAGES = ("forestcoll", "lp", "baselines", "experiments")
NEEDS_A_LICENCE = {"forestcoll.solver.backends.gurobi"}


def paths(package: str) -> list[str]:
    """The dotted paths of all modules below a package."""
    found = importlib.import_module(package)
    return [one.name for one in pkgutil.walk_packages(found.__path__, f"{package}.")]


@pytest.mark.parametrize("package", PACKAGES)
def test_a_dotted_path_leads_to_the_module_itself(package: str) -> None:
    """``import a.b.c as d`` gives d what ``a.b`` calls c: a function of that name would hide it.

    All modules are imported before the first is looked up, since a package may set a name late.
    """
    names = set(paths(package)) - NEEDS_A_LICENCE
    modules = {name: importlib.import_module(name) for name in names}
    assert len(modules) > 20
    hidden = [name for name, module in modules.items() if reached(name) is not module]
    assert hidden == []


def reached(name: str) -> object:
    """What ``import a.b.c as d`` binds to d."""
    top, *rest = name.split(".")
    found: object = sys.modules[top]
    for part in rest:
        found = getattr(found, part)
    return found


def test_a_function_of_a_modules_name_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """``forestcoll.generation`` replaced by a function: not the module any more."""
    module = importlib.import_module("forestcoll.generation")
    assert isinstance(reached("forestcoll.generation"), ModuleType)
    monkeypatch.setattr("forestcoll.generation", module.generate)
    assert reached("forestcoll.generation") is not module


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("forestcoll.generation", "generate"),
        ("forestcoll.k_scan", "best_k"),
        ("forestcoll.tree_latency", "latency"),
        ("forestcoll.in_network.pruning", "multicast"),
        ("forestcoll.schedule.verification.verdict", "Verdict"),
        ("forestcoll.schedule.cost_model.measures", "cost"),
        ("forestcoll.topology.validation", "validate"),
    ],
)
def test_modules_once_hidden_by_functions_are_imported_by_their_path(path: str, name: str) -> None:
    scope: dict[str, object] = {}
    exec(f"import {path} as module\nvalue = module.{name}", scope)
    assert callable(scope["value"])
