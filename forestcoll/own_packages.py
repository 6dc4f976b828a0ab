"""Import hook that finds our sibling packages before a user's packages of the same name.

Problem: a researcher's folder may have packages named ``experiments``, ``baselines`` or ``lp``, and
         Python may look there first (``python -m``, PYTHONPATH).
Input:   the name of a package that is about to be imported.
Output:  our package, if it is one of these; Python finds all others as usual.
Cost:    one comparison an import.
Source:  none.

``python -m forestcoll.own_packages MODULE`` runs one of our modules with this hook.
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
    """Import finder that looks for our packages only where the toolkit is installed."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find one of our packages; None for any other name, which leaves it to other finders."""
        return PathFinder.find_spec(name, [_HOME], target) if name in OURS else None


def prefer_ours() -> None:
    """Install the finder first, for the rest of this process."""
    if _Ours not in sys.meta_path:
        sys.meta_path.insert(0, _Ours)


if __name__ == "__main__":
    prefer_ours()
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
