"""Bounds on the rate of any schedule: the column ``optimum`` of every row.

Cost:    a max-flow pass. An allreduce whose rate no cut meets adds the allreduce program; an
all-to-all takes its program, and shortest paths between all GPUs.

Source:  ForestColl sections 2 and 5.7 and its appendix on allreduce. With ``multicast`` switches,
the bound of an allreduce assumes in-network multicast and reduction, so it holds for methods with
and without them. All-to-all: :mod:`forestcoll.problem.price_bound`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.core.optimality import SECONDS, rate_bound
from forestcoll.core.partition_bound import best_known_bound
from forestcoll.errors import SolverError, TimeLimitError
from forestcoll.problem.allreduce_bound import AllreduceBound
from forestcoll.problem.price_bound import PriceBound
from forestcoll.topology import Topology
from forestcoll.topology.symmetry.parallel_planes import merged_planes
from forestcoll.topology.validation import COLLECTIVES

__all__ = ["ALL", "LP_TIME_LIMIT_S", "UpperBound", "upper_bound"]

ALL = (*COLLECTIVES, "all-to-all")
"""Known collectives."""

LP_TIME_LIMIT_S = 30.0
"""Seconds for the program of an allreduce or all-to-all row, besides the method's own."""

_LEAST_SECONDS = 0.001
"""With less, an all-to-all has no bound."""


@dataclass(frozen=True, slots=True)
class UpperBound:
    """A rate that no schedule exceeds.

    ``by`` is "the bottleneck cut", "prices of cuts" (where a switch sends more than it receives, or
    links share a capacity), "a partition or cut" (of an allreduce), "the allreduce program",
    "the allreduce program, unfinished", or "prices of the links" (of an all-to-all).
    """

    algbw_gb_s: Fraction
    by: str


def upper_bound(
    topology: Topology,
    collective: str,
    reached: Fraction,
    root: int | None = None,
    weights: Sequence[int] | None = None,
    *,
    proof: AllreduceBound | None = None,
    seconds: float | None = None,
) -> UpperBound | None:
    """Bound the rate of a collective.

    The bound of an allreduce holds for sums at any GPU, and so for all weights and roots.

    Parameters
    ----------
    topology : Topology
        Of two GPUs or more.
    collective : str
        Any collective of the toolkit.
    reached : Fraction
        An attained rate: a bound equal to it ends the search for a better one.
    root : int, optional
        Rank of the root of a broadcast or reduce.
    weights : sequence of int, optional
        Relative shard sizes of an allgather or reduce-scatter, by rank; equal if not given.
    proof : AllreduceBound, optional
        A bound for this network and model that ``verify`` has checked; it saves the program.
    seconds : float, optional
        Limit for all programs together; each has its own limit, too.

    Returns
    -------
    UpperBound or None
        None for an all-to-all whose program does not finish.
    """
    deadline = math.inf if seconds is None else time.monotonic() + seconds
    if collective == "all-to-all":
        return _priced(topology, _left(deadline, LP_TIME_LIMIT_S))
    if collective != "allreduce":
        if root is not None:
            weights = [int(rank == root) for rank in range(topology.num_compute)]
        reduction = collective in ("reduce-scatter", "reduce")
        best = rate_bound(
            topology,
            weights=weights,
            reduction=reduction,
            multicast=True,
            seconds=_left(deadline, SECONDS),
        )
        by = "the bottleneck cut" if best.is_single_cut else "prices of cuts"
        return UpperBound(best.algbw_gb_s, by)
    return _of_allreduce(merged_planes(topology).merged, reached, proof, deadline)


def _left(deadline: float, most: float) -> float:
    return min(most, max(0.0, deadline - time.monotonic()))


def _of_allreduce(
    topology: Topology, reached: Fraction, proof: AllreduceBound | None, deadline: float
) -> UpperBound:
    """Return the bound by partitions and cuts if it is attained; else try the program, too."""
    multicast = any(node.multicast for node in topology.nodes)
    phases = (
        rate_bound(topology, reduction=reduction, seconds=_left(deadline, SECONDS)).algbw_gb_s
        for reduction in (True, False)
    )
    attained = max(reached, 1 / sum((1 / rate for rate in phases), start=Fraction(0)))
    known = best_known_bound(topology, multicast=multicast, least=attained)
    assert known is not None  # there are two GPUs
    best, remark = proof, ""
    if known.algbw_gb_s > attained and proof is None:
        from forestcoll.allreduce.allreduce_program import proved

        left = _left(deadline, LP_TIME_LIMIT_S)
        found = proved(topology, None, multicast=multicast, seconds=left)
        best, remark = found.bound, found.remark
    if best is None or best.algbw_gb_s >= known.algbw_gb_s:
        return UpperBound(known.algbw_gb_s, "a partition or cut")
    return UpperBound(
        best.algbw_gb_s, "the allreduce program, unfinished" if remark else "the allreduce program"
    )


def _priced(topology: Topology, seconds: float) -> UpperBound | None:
    """Bound an all-to-all by prices of the links, which its program finds.

    Only the search for prices is in floating point: here they are whole numbers, and the bound that
    they prove is exact (:mod:`forestcoll.problem.price_bound`).
    """
    from forestcoll.all_to_all.best_flow import best_flow

    if seconds < _LEAST_SECONDS:
        return None
    try:
        found = best_flow(topology, seconds=seconds)
    except (SolverError, TimeLimitError):
        return None
    bound = PriceBound.of(topology, None, found.price)
    return UpperBound(topology.num_compute / bound.inverse_rate, "prices of the links")
