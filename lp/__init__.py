"""Linear programs: independent oracles and certificates beside the exact core.

Names are loaded when they are first asked for: the modelling language takes seconds to import, and
the command line lists this package's commands without it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lp.allgather_optimum import AllgatherOptimum, allgather_rate
    from lp.allreduce_cuts import allreduce_optimum
    from lp.allreduce_result import AllreduceOptimum
    from lp.allreduce_rounding import allreduce_forest
    from lp.program import Program, Settings, Solution
    from lp.solver import solve

__all__ = [
    "AllgatherOptimum",
    "AllreduceOptimum",
    "Program",
    "Settings",
    "Solution",
    "allgather_rate",
    "allreduce_forest",
    "allreduce_optimum",
    "solve",
]

_HOME = {
    "AllgatherOptimum": "lp.allgather_optimum",
    "AllreduceOptimum": "lp.allreduce_result",
    "Program": "lp.program",
    "Settings": "lp.program",
    "Solution": "lp.program",
    "allgather_rate": "lp.allgather_optimum",
    "allreduce_forest": "lp.allreduce_rounding",
    "allreduce_optimum": "lp.allreduce_cuts",
    "solve": "lp.solver",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
