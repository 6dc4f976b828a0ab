"""Lazy loading of a package's public names.

Problem: ``import forestcoll`` and ``forestcoll --help`` must start in milliseconds.
Input:   a package whose stub ``__init__.pyi`` has a line ``from HOME import NAME as NAME`` a name;
         or the modules of the few names that are loaded late.
Output:  ``__getattr__`` and ``__dir__`` of the package (PEP 562).
Cost:    the first access reads the stub; the first access to a module's name imports the module.
Source:  as ``attach_stub`` of lazy_loader (SPEC 1 of scientific-python.org).
"""

from __future__ import annotations

import sys
from importlib import import_module

TYPE_CHECKING = False  # the import of typing would take longer than the rest of this module
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

__all__ = ["attach", "homes"]


def homes(package: str) -> dict[str, str]:
    """Return the module of each public name of a package, read from its stub."""
    stub = f"{str(sys.modules[package].__file__).removesuffix('.py')}.pyi"
    with open(stub, encoding="utf-8") as lines:
        words = [line.split() for line in lines if line.startswith("from ")]
    return {name: home for _, home, _, name, *_ in words}


def attach(
    package: str, late: Mapping[str, str] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make ``__getattr__`` and ``__dir__`` of a package.

    A found name is set in the package, so each name is looked up only once. ``dir`` lists the names
    of the stub alone, without modules that happen to be loaded.

    Parameters
    ----------
    package : str
    late : mapping, optional
        Modules of the names that are loaded late, if the package imports its other names at once.
        Without it, the package's stub lists all names.
    """

    def known() -> Mapping[str, str]:
        return homes(package) if late is None else late

    def find(name: str) -> Any:
        if name == "__all__":
            return sorted(known())
        home = None if name.startswith("__") else known().get(name)
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(f"{package}.{name}" if home == package else home)
        value = module if home == package else getattr(module, name)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        loaded = () if late is None else vars(sys.modules[package])
        return sorted({*loaded, *known()})

    return find, names
