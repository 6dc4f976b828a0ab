"""Figure 14 of the ForestColl paper by two measures: pipelined rate and makespan.

A schedule may reach almost the pipelined optimum and still have a late makespan. The paper (section
6.5) does not state its measure. TACCL and TE-CCL report the makespan of their own clock. MultiTree
and SyCCL's sketches have no clock: their end is that of steps in lockstep.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from experiments.results.rows import Row, Status

__all__ = ["BothMeasures", "both_measures"]

_METHODS = ("multitree", "syccl", "taccl", "teccl")
_CLUSTERS = ("dgx_a100", "mi250")


@dataclass(frozen=True, slots=True)
class BothMeasures:
    """One method on one network: the best of its parameter choices by each measure."""

    cluster: str
    gpus: int
    optimum_gb_s: float
    method: str
    pipelined: float  # shares of the optimum
    at_end: float  # shares of the optimum


def both_measures(rows: Iterable[Row]) -> list[BothMeasures]:
    """Return the baselines of the panels of A100 and MI250, by cluster, GPUs and method."""
    at: dict[tuple[str, int, str], list[Row]] = {}
    for row in rows:
        if row.status is Status.OK and row.gpus and row.cluster in _CLUSTERS:
            at.setdefault((row.cluster, row.gpus, row.method), []).append(row)
    return [_both(*place, its) for place, its in sorted(at.items()) if place[2] in _METHODS]


def _both(cluster: str, gpus: int, method: str, rows: Sequence[Row]) -> BothMeasures:
    optimum = rows[0].optimum_gb_s or 0.0
    pipelined = max(row.algbw_gb_s or 0.0 for row in rows)
    ends = [row.algbw_makespan_gb_s or row.algbw_synchronous_gb_s or 0.0 for row in rows]
    return BothMeasures(cluster, gpus, optimum, method, pipelined / optimum, max(ends) / optimum)
