"""Linear programs: independent oracles and certificates beside the exact core."""

from lp.allgather_optimum import AllgatherOptimum, allgather_rate
from lp.alltoall import AllToAllOptimum, all_to_all_rate
from lp.alltoall_bounds import degree_bound, product_rate
from lp.alltoall_schedule import schedule_of
from lp.concurrent_flow import ApproximateFlow, approximate_flow
from lp.demands import Demands, demands_of
from lp.program import Program, Settings, Solution
from lp.solver import solve

__all__ = [
    "AllToAllOptimum",
    "AllgatherOptimum",
    "ApproximateFlow",
    "Demands",
    "Program",
    "Settings",
    "Solution",
    "all_to_all_rate",
    "allgather_rate",
    "approximate_flow",
    "degree_bound",
    "demands_of",
    "product_rate",
    "schedule_of",
    "solve",
]
