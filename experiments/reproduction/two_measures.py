"""Figure 14 of the ForestColl paper by two measures: pipelined rate and makespan.

Problem: a schedule's links may be nearly as free as the optimum asks, and its last byte late.
Input:   rows of ``forestcoll-figure14``.
Output:  for each network and method the shares of the optimum, pipelined and by its own end.
Source:  ForestColl (section 6.5), which does not say how it counts. TACCL and TE-CCL report the
         finish of their own clock. MultiTree has no clock: its end is that of steps in lockstep.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from experiments.results.rows import Row, Status

__all__ = ["BothMeasures", "both_measures"]

_METHODS = ("multitree", "taccl", "teccl")
_CLUSTERS = ("dgx_a100", "mi250")


@dataclass(frozen=True, slots=True)
class BothMeasures:
    """One method on one network, of its choices of parameters the best by each measure.

    Parameters
    ----------
    cluster : str
    gpus : int
    optimum_gb_s : float
    method : str
    pipelined, at_end : float
        Shares of the optimum.
    """

    cluster: str
    gpus: int
    optimum_gb_s: float
    method: str
    pipelined: float
    at_end: float


def both_measures(rows: Iterable[Row]) -> list[BothMeasures]:
    """Return the peers of the panels of A100 and MI250, by cluster, GPUs and method."""
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
