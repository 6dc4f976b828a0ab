"""Linear programs: independent oracles and certificates beside the exact core.

Names are loaded when they are first asked for: the modelling language takes seconds to import, and
the command line lists this package's commands without it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lp.allgather.fractional_packing import FractionalPacking
    from lp.allgather.linear_optimum import AllgatherOptimum, allgather_rate
    from lp.allreduce.cutting_planes import allreduce_optimum
    from lp.allreduce.result import AllreduceOptimum
    from lp.allreduce.rounding import allreduce_forest
    from lp.alltoall.closed_forms import degree_bound, product_rate
    from lp.alltoall.concurrent_flow import ApproximateFlow, approximate_flow
    from lp.alltoall.demands import Demands, demands_of
    from lp.alltoall.linear_optimum import AllToAllOptimum, all_to_all_rate
    from lp.alltoall.path_schedule import schedule_of
    from lp.groups.result import ConcurrentGroups, ProcessGroup, check_concurrent
    from lp.groups.sharing import concurrent_groups
    from lp.solver.linear_program import Program, Settings, Solution
    from lp.solver.solve import solve

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
    "lp.allgather.linear_optimum": ("AllgatherOptimum", "allgather_rate"),
    "lp.allreduce.cutting_planes": ("allreduce_optimum",),
    "lp.allreduce.result": ("AllreduceOptimum",),
    "lp.allreduce.rounding": ("allreduce_forest",),
    "lp.alltoall.linear_optimum": ("AllToAllOptimum", "all_to_all_rate"),
    "lp.alltoall.closed_forms": ("degree_bound", "product_rate"),
    "lp.alltoall.path_schedule": ("schedule_of",),
    "lp.alltoall.concurrent_flow": ("ApproximateFlow", "approximate_flow"),
    "lp.alltoall.demands": ("Demands", "demands_of"),
    "lp.allgather.fractional_packing": ("FractionalPacking",),
    "lp.groups.sharing": ("concurrent_groups",),
    "lp.groups.result": ("ConcurrentGroups", "ProcessGroup", "check_concurrent"),
    "lp.solver.linear_program": ("Program", "Settings", "Solution"),
    "lp.solver.solve": ("solve",),
}
_HOME = {name: module for module, names in _NAMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
