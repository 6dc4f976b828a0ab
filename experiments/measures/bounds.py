"""What no schedule can beat: the column ``optimum`` of every row.

Problem: an upper bound on the algorithmic bandwidth, flowing, that holds for every method alike.
Input:   a topology, a collective, the rate of the row.
Output:  an exact rate, with what proves it.
Cost:    a max-flow pass; of an allreduce whose rate no cut meets the allreduce program.
Source:  ForestColl sections 2 and 5.7 and its appendix on allreduce. Where switches are marked
         ``multicast``, the bound of an allreduce is for such as copy and add, so that it holds for
         methods with and without in-network computing.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from forestcoll.allreduce_partition import best_known_bound
from forestcoll.optimality import optimum
from forestcoll.topology import Topology
from lp.allreduce_best import proved

__all__ = ["PROGRAM_S", "UpperBound", "upper_bound"]

PROGRAM_S = 30.0
"""Seconds for the allreduce program of a row, on top of what the method took."""


@dataclass(frozen=True, slots=True)
class UpperBound:
    """A rate that no schedule exceeds.

    ``by`` is "the bottleneck cut", "a partition or cut" (of an allreduce), "the allreduce program",
    or "the allreduce program, unfinished".
    """

    algbw_gb_s: Fraction
    by: str


def upper_bound(topology: Topology, collective: str, reached: Fraction) -> UpperBound:
    """Bound a collective among all GPUs with equal shards.

    Parameters
    ----------
    topology : Topology
        Of two GPUs or more.
    collective : str
        "allgather", "reduce-scatter" or "allreduce".
    reached : Fraction
        A rate that is attained: a bound equal to it needs no better one.
    """
    if collective != "allreduce":
        best = optimum(topology, reduction=collective == "reduce-scatter")
        return UpperBound(best.algbw_gb_s, "the bottleneck cut")
    copying = any(node.multicast for node in topology.nodes)
    phases = (optimum(topology, reduction=reduction).time_s_per_gb for reduction in (True, False))
    attained = max(reached, 1 / sum(phases, start=Fraction(0)))
    known = best_known_bound(topology, copying=copying, least=attained)
    assert known is not None  # there are two GPUs
    if known.algbw_gb_s == attained:
        return UpperBound(known.algbw_gb_s, "a partition or cut")
    found = proved(topology, None, copying=copying, seconds=PROGRAM_S)
    if found.bound is None or found.bound.algbw_gb_s >= known.algbw_gb_s:
        return UpperBound(known.algbw_gb_s, "a partition or cut")
    return UpperBound(
        found.bound.algbw_gb_s,
        "the allreduce program, unfinished" if found.remark else "the allreduce program",
    )
