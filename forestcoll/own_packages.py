"""The packages beside this one, found before a user's own of the same name.

Problem: ``experiments``, ``baselines`` and ``lp`` are names that a researcher's folder has, too,
         and Python may look there first (``python -m``, PYTHONPATH).
Input:   the name of a package that is about to be imported.
Output:  ours, if it is one of these; everything else is found as ever.
Cost:    one comparison an import.
Source:  none.

``python -m forestcoll.own_packages MODULE`` runs a module of ours so, in a process of its own.
"""

from __future__ import annotations

import runpy
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType

__all__ = ["OURS", "prefer_ours"]

OURS = ("lp", "baselines", "experiments")
"""The packages that are installed beside ``forestcoll``."""

_HOME = str(Path(__file__).resolve().parents[1])


class _Ours:
    """Finds our packages at home, wherever else Python would look for them."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find one of ours; nothing, for the others to find, of any other name."""
        return PathFinder.find_spec(name, [_HOME], target) if name in OURS else None


def prefer_ours() -> None:
    """Find our packages first from now on, in this process."""
    if _Ours not in sys.meta_path:
        sys.meta_path.insert(0, _Ours)


if __name__ == "__main__":
    prefer_ours()
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
