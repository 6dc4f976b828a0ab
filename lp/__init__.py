"""Linear programs: independent oracles and certificates beside the exact core."""

from lp.allgather_optimum import AllgatherOptimum, allgather_rate
from lp.program import Program, Settings, Solution
from lp.solver import solve

__all__ = ["AllgatherOptimum", "Program", "Settings", "Solution", "allgather_rate", "solve"]
