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
    from lp.alltoall import AllToAllOptimum, all_to_all_rate
    from lp.alltoall_bounds import degree_bound, product_rate
    from lp.alltoall_schedule import schedule_of
    from lp.concurrent_flow import ApproximateFlow, approximate_flow
    from lp.demands import Demands, demands_of
    from lp.fractional_packing import FractionalPacking
    from lp.groups import concurrent_groups
    from lp.groups_result import ConcurrentGroups, ProcessGroup, check_concurrent
    from lp.program import Program, Settings, Solution
    from lp.solver import solve

__all__ = [
    "AllToAllOptimum",
    "AllgatherOptimum",
    "AllreduceOptimum",
    "ApproximateFlow",
    "ConcurrentGroups",
    "Demands",
    "FractionalPacking",
    "ProcessGroup",
    "Program",
    "Settings",
    "Solution",
    "all_to_all_rate",
    "allgather_rate",
    "allreduce_forest",
    "allreduce_optimum",
    "approximate_flow",
    "check_concurrent",
    "concurrent_groups",
    "degree_bound",
    "demands_of",
    "product_rate",
    "schedule_of",
    "solve",
]

_NAMES = {
    "lp.allgather_optimum": ("AllgatherOptimum", "allgather_rate"),
    "lp.allreduce_cuts": ("allreduce_optimum",),
    "lp.allreduce_result": ("AllreduceOptimum",),
    "lp.allreduce_rounding": ("allreduce_forest",),
    "lp.alltoall": ("AllToAllOptimum", "all_to_all_rate"),
    "lp.alltoall_bounds": ("degree_bound", "product_rate"),
    "lp.alltoall_schedule": ("schedule_of",),
    "lp.concurrent_flow": ("ApproximateFlow", "approximate_flow"),
    "lp.demands": ("Demands", "demands_of"),
    "lp.fractional_packing": ("FractionalPacking",),
    "lp.groups": ("concurrent_groups",),
    "lp.groups_result": ("ConcurrentGroups", "ProcessGroup", "check_concurrent"),
    "lp.program": ("Program", "Settings", "Solution"),
    "lp.solver": ("solve",),
}
_HOME = {name: module for module, names in _NAMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
