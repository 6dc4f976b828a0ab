"""Help summaries of commands, read from their source so that no command is loaded."""

from __future__ import annotations

import ast
from importlib.metadata import EntryPoint
from importlib.util import find_spec
from pathlib import Path

__all__ = ["summary"]


def summary(command: EntryPoint) -> str | None:
    """Return the help of a command without loading it; None if its source has none.

    For a function this is the docstring, for a ``typer.Typer`` the text given as ``help``.
    """
    file = _file(command.module)
    body = ast.parse(file.read_text(encoding="utf-8")).body if file is not None else []
    for statement in body:
        match statement:
            case ast.FunctionDef(name=name) if name == command.attr:
                return ast.get_docstring(statement)
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(keywords=given)):
                if name == command.attr:
                    return _help(given)
    return None


def _file(module: str) -> Path | None:
    """Return the file of a module; importlib would import its parent packages to find it."""
    top, *inner = module.split(".")
    spec = find_spec(top)
    if spec is None:
        return None
    places = spec.submodule_search_locations or []
    files = [Path(place, *inner).with_suffix(".py") for place in places if inner]
    files += [Path(spec.origin)] if spec.origin is not None and not inner else []
    return next((file for file in files if file.is_file() and file.suffix == ".py"), None)


def _help(given: list[ast.keyword]) -> str | None:
    for one in given:
        if one.arg == "help" and isinstance(one.value, ast.Constant):
            return str(one.value.value)
    return None
