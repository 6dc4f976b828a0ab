"""What a command does, read from its source: to list the commands, none of them is loaded."""

from __future__ import annotations

import ast
from importlib.metadata import EntryPoint
from importlib.util import find_spec
from pathlib import Path

__all__ = ["summary"]


def summary(command: EntryPoint) -> str | None:
    """Return the help of a command that is not loaded; None if its source does not tell.

    A function's is its docstring, a ``typer.Typer``'s the text given as ``help``.
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
    """Where a module is from; importlib would import the packages around it to say so."""
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
