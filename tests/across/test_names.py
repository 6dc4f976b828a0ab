"""What ``import forestcoll`` offers, though nothing is loaded by it."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import forestcoll

LAZY = dict(forestcoll._HOME)


def test_names_are_those_that_type_checkers_see() -> None:
    """The imports under TYPE_CHECKING, ``__all__`` and the table of homes name the same."""
    tree = ast.parse(Path(forestcoll.__file__).read_text(encoding="utf-8"))
    seen = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("forestcoll")
        for alias in node.names
    }
    assert seen == set(forestcoll.__all__) == {*LAZY, "draw", "networkx"}


@pytest.mark.parametrize("name", LAZY)
def test_each_name_is_what_its_home_has(name: str) -> None:
    assert getattr(forestcoll, name) is getattr(importlib.import_module(LAZY[name]), name)


def test_functions_stay_functions_when_modules_of_their_name_load() -> None:
    """``forestcoll.generate`` is also the name of a module; so are three others."""
    same = ("best_k", "generate", "latency", "multicast")
    code = f"import forestcoll\nfor name in {same}: __import__('forestcoll.' + name)\n"
    code += f"assert all(callable(getattr(forestcoll, name)) for name in {same})\n"
    code += "import forestcoll.draw\nassert callable(forestcoll.draw.draw_tree)"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_dir_shows_every_name_before_it_is_loaded() -> None:
    """Also drawing, and the version of the installed distribution."""
    assert {*forestcoll.__all__, "__version__", "draw"} <= set(dir(forestcoll))
    assert forestcoll.__version__ == version("forestcoll")
    assert callable(forestcoll.draw.draw_topology)
    with pytest.raises(AttributeError, match="module 'forestcoll' has no attribute 'generated'"):
        forestcoll.generated  # noqa: B018
