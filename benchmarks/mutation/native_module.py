"""Pytest plugin that loads the native module named by ``FORESTCOLL_MUTATED_CORE``."""

from __future__ import annotations

import importlib.abc
import importlib.util
import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

__all__ = ["OtherCore"]

NAME = "forestcoll.native._core"


class OtherCore(importlib.abc.MetaPathFinder):
    """Finds the native module in another file."""

    def __init__(self, path: str) -> None:
        self._path = path

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Claim the one module."""
        if fullname != NAME:
            return None
        return importlib.util.spec_from_file_location(fullname, self._path)


if "FORESTCOLL_MUTATED_CORE" in os.environ:
    if NAME in sys.modules:
        raise RuntimeError(f"{NAME} was imported before this plugin")
    sys.meta_path.insert(0, OtherCore(os.environ["FORESTCOLL_MUTATED_CORE"]))
