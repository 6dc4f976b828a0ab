"""Import hook that keeps parts of numpy unloaded when scipy is imported.

Problem: scipy copies all names of numpy, and so loads what numpy itself loads when first used: its
         Fortran compiler, polynomials and tests, half of the import of scipy.sparse.
Input:   nothing; the hook is of the process of a command.
Output:  before scipy is imported, a stand-in for each of these parts, which loads it when used.
Cost:    one comparison an import.
Source:  none.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

__all__ = ["PARTS", "keep_parts_late"]

PARTS = ("ctypeslib", "f2py", "polynomial", "testing")
"""Parts of numpy that scipy.sparse does not use, or only in its tests."""


class _Part(ModuleType):
    """A part of numpy that is loaded when first used."""

    def __getattr__(self, name: str) -> Any:
        value = getattr(import_module(self.__name__), name)
        setattr(self, name, value)
        return value


class _BeforeScipy:
    """Import finder that finds nothing, but sees that scipy is about to be imported."""

    @classmethod
    def find_spec(
        cls, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Put the stand-ins into numpy when scipy is asked for; the search goes on."""
        if name == "scipy":
            sys.meta_path.remove(cls)
            numpy = import_module("numpy")
            for part in PARTS:
                if part not in vars(numpy):
                    setattr(numpy, part, _Part(f"numpy.{part}"))
        return None


def keep_parts_late() -> None:
    """Install the finder first, until scipy is imported."""
    if _BeforeScipy not in sys.meta_path and "scipy" not in sys.modules:
        sys.meta_path.insert(0, _BeforeScipy)
