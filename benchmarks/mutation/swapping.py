"""Swap a mutant into the running program by exchanging the code of functions in place.

All live functions of that name and place run the mutated code, whoever imported them. This cannot
mutate code that runs at import (``restart`` does that), nor a function whose closure has changed.
"""

from __future__ import annotations

import functools
import gc
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

__all__ = ["LiveFunctions", "code_of", "find_caches"]

Key = tuple[str, str, int]
"""File, qualified name and first line of a function."""


class LiveFunctions:
    """The functions of some files that are alive now."""

    def __init__(self, files: set[Path]) -> None:
        names = {str(path) for path in files}
        self._found: dict[Key, list[FunctionType]] = defaultdict(list)
        for one in gc.get_objects():
            if isinstance(one, FunctionType) and one.__code__.co_filename in names:
                code = one.__code__
                key = (code.co_filename, code.co_qualname, code.co_firstlineno)
                self._found[key].append(one)

    def swap(self, path: Path, function: str, start: int, module: CodeType) -> bool:
        """Exchange the code of a function for that in a compiled module; say whether it could."""
        new = code_of(module, function, start)
        live = self._found.get((str(path), function, start), [])
        if new is None or not live:
            return False
        if any(one.__code__.co_freevars != new.co_freevars for one in live):
            return False
        for one in live:
            one.__code__ = new
        return True


def code_of(module: CodeType, function: str, start: int) -> CodeType | None:
    """Find the code of a function in a compiled module."""
    for code in _codes(module):
        if (code.co_qualname, code.co_firstlineno) == (function, start):
            return code
    return None


def _codes(code: CodeType) -> Iterator[CodeType]:
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield one
            yield from _codes(one)


def find_caches() -> list[Any]:
    """Return all functions that keep their results; what they keep hides a mutant."""
    kind = type(functools.lru_cache(maxsize=1)(_codes))
    return [one for one in gc.get_objects() if isinstance(one, kind)]
