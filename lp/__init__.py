"""Linear programs: independent oracles and certificates beside the exact core."""

from lp.allgather_optimum import AllgatherOptimum, allgather_rate

__all__ = ["AllgatherOptimum", "allgather_rate"]
