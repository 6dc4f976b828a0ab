"""The shortcuts of the native core, blocked in a build that has switches for them.

The released ``_core`` always takes its shortcuts (``common/shortcuts.hpp``). ``_core_testing`` is
the same with switches. It stands in for ``_core`` while some shortcuts are blocked.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from forestcoll.native import _core

SHORTCUTS = (
    "both ends",
    "alike",
    "turning",
    "one of orbit",
    "plain copies",
    "exchanges",
    "rotated boxes",
)
"""By number, as in ``kShortcutNames``."""

BUILD = Path(__file__).parents[2] / "build" / str(sys.implementation.cache_tag)


@functools.cache
def switched_core(build: Path = BUILD) -> ModuleType:
    """Load the build with switches.

    Raises
    ------
    FileNotFoundError
        If it is missing, or older than the released module that was built beside it.
    """
    found = [*build.glob("_core_testing.*.so")]
    released = max((path.stat().st_mtime for path in build.glob("_core.*.so")), default=0.0)
    if not found or found[0].stat().st_mtime < released:
        raise FileNotFoundError(f"no current _core_testing in {build}: run `make testing-core`")
    spec = importlib.util.spec_from_file_location("_core_testing", found[0])
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@contextlib.contextmanager
def blocked(*names: str) -> Iterator[None]:
    """Block shortcuts for this process, and open them again."""
    testing = switched_core()
    testing.block_shortcuts(sum(1 << SHORTCUTS.index(name) for name in names))
    _replace(_core, testing)
    try:
        yield
    finally:
        _replace(testing, _core)
        testing.block_shortcuts(0)


def _replace(one: ModuleType, other: ModuleType) -> None:
    """Let every module that calls one core call the other, those just imported too."""
    for name, module in [*sys.modules.items()]:
        # Not by getattr: some packages import what they are asked for.
        if name != __name__ and getattr(module, "__dict__", {}).get("_core") is one:
            vars(module)["_core"] = other
