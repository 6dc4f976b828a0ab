"""The shortcuts of the native core, blocked one by one (``common/shortcuts.hpp``)."""

import contextlib
from collections.abc import Iterator

from forestcoll.native import _core

SHORTCUTS = _core.shortcut_names()
"""By number."""


@contextlib.contextmanager
def blocked(*names: str) -> Iterator[None]:
    """Block shortcuts for this process, and open all again."""
    _core.block_shortcuts(sum(1 << SHORTCUTS.index(name) for name in names))
    try:
        yield
    finally:
        _core.block_shortcuts(0)
