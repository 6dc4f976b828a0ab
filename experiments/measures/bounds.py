"""Bounds on the rate of any schedule: the column ``optimum`` of every row.

Problem: an upper bound on the algorithmic bandwidth, pipelined, that holds for every method alike.
Input:   a topology, a collective with its root, the rate of the row.
Output:  an exact rate, with what proves it; none where a program would have to, and did not finish.
Cost:    a max-flow pass; of an allreduce whose rate no cut meets the allreduce program; of an
         all-to-all its program, and shortest paths between all GPUs.
Source:  ForestColl sections 2 and 5.7 and its appendix on allreduce. Where switches are marked
         ``multicast``, the bound of an allreduce is for such as copy and add, so that it holds for
         methods with and without in-network computing. All-to-all: the dual of
         :mod:`lp.alltoall.linear_optimum`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from forestcoll.core.optimality import SECONDS, rate_bound
from forestcoll.core.partition_bound import best_known_bound
from forestcoll.errors import SolverError, TimeLimitError
from forestcoll.problem.allreduce_bound import AllreduceBound
from forestcoll.topology import Topology
from forestcoll.topology.symmetry.parallel_planes import merged_planes

__all__ = ["LP_TIME_LIMIT_S", "UpperBound", "upper_bound"]

LP_TIME_LIMIT_S = 30.0
"""Seconds for the program of a row, of an allreduce or all-to-all, on top of the method's."""

_FINEST = (1, 2, 12, 60, 2**30)
"""Into how many parts the dearest link's price is cut: the best bound is often one of few parts."""


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
    """Bound a collective.

    The bound of an allreduce is for any, wherever sums are made: it holds for weights and roots.

    Parameters
    ----------
    topology : Topology
        Of two GPUs or more.
    collective : str
        Any of the toolkit.
    reached : Fraction
        A rate that is attained: a bound equal to it needs no better one.
    root : int, optional
        Rank of the root of a broadcast or reduce.
    weights : sequence of int, optional
        Of an allgather or reduce-scatter, by rank; all the same if not given.
    proof : AllreduceBound, optional
        Of this network and model, added up by ``verify``: no program is asked for another.
    seconds : float, optional
        For all programs together; each has its own limit, too.

    Returns
    -------
    UpperBound or None
        None of an all-to-all whose program does not finish.
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
            copying=True,
            seconds=_left(deadline, SECONDS),
        )
        by = "the bottleneck cut" if best.is_single_cut else "prices of cuts"
        return UpperBound(best.algbw_gb_s, by)
    return _of_allreduce(merged_planes(topology).merged, reached, proof, deadline)


def _left(deadline: float, most: float) -> float:
    """Return the seconds until a deadline, at most so many."""
    return min(most, max(0.0, deadline - time.monotonic()))


def _of_allreduce(
    topology: Topology, reached: Fraction, proof: AllreduceBound | None, deadline: float
) -> UpperBound:
    """Take what partitions and cuts prove, if it is attained; else the program's bound, too."""
    copying = any(node.multicast for node in topology.nodes)
    phases = (
        rate_bound(topology, reduction=reduction, seconds=_left(deadline, SECONDS)).algbw_gb_s
        for reduction in (True, False)
    )
    attained = max(reached, 1 / sum((1 / rate for rate in phases), start=Fraction(0)))
    known = best_known_bound(topology, copying=copying, least=attained)
    assert known is not None  # there are two GPUs
    best, remark = proof, ""
    if known.algbw_gb_s > attained and proof is None:
        from lp.allreduce.best import proved

        left = _left(deadline, LP_TIME_LIMIT_S)
        found = proved(topology, None, copying=copying, seconds=left)
        best, remark = found.bound, found.remark
    if best is None or best.algbw_gb_s >= known.algbw_gb_s:
        return UpperBound(known.algbw_gb_s, "a partition or cut")
    return UpperBound(
        best.algbw_gb_s, "the allreduce program, unfinished" if remark else "the allreduce program"
    )


def _priced(topology: Topology, seconds: float) -> UpperBound | None:
    """Bound an all-to-all by prices of the links, which its program finds.

    Whatever the prices, a pair's data at rate f costs f times the cheapest way from end to end, and
    no more than the links' prices times their bandwidths can be paid for. Only the search is in
    floating point: prices are whole numbers here, and the sums exact.
    """
    from lp.alltoall.linear_optimum import all_to_all_rate
    from lp.solver.linear_program import Settings

    try:
        settings = Settings(seconds=seconds, method="highs-ipm")
        found = all_to_all_rate(topology, settings=settings).price
    except (SolverError, TimeLimitError):
        return None
    prices = (np.rint(found / found.max() * parts).astype(np.int64) for parts in _FINEST)
    rates = [_rate_at(topology, price.tolist()) for price in prices]
    known = [rate for rate in rates if rate is not None]
    if not known:
        return None
    return UpperBound(min(known) * topology.num_compute, "prices of the links")


def _rate_at(topology: Topology, prices: Sequence[int]) -> Fraction | None:
    """Return the rate of every pair, in GB/s, that whole prices of the links prove none exceeds.

    Behind them stand the prices of the shared capacities, which all their links have in addition.
    None if prices have been rounded to 0 along a way of every pair: these prove nothing.
    """
    import scipy.sparse as sp
    from scipy.sparse.csgraph import dijkstra

    own = list(prices[: len(topology.links)])
    paid: Fraction = sum(
        (price * link.bandwidth_gb_s for price, link in zip(own, topology.links, strict=True)),
        Fraction(0),
    )
    for price, (places, limit) in zip(prices[len(own) :], topology.shared_places, strict=True):
        paid += price * limit
        for i in places:
            own[i] += price
    tails, heads = zip(*((link.tail, link.head) for link in topology.links), strict=True)
    graph = sp.csr_matrix((own, (tails, heads)), shape=(len(topology.nodes),) * 2)
    gpus = list(topology.compute)
    ways = dijkstra(graph, indices=gpus)[:, gpus].astype(np.int64)  # whole, far below 2**53
    worth = sum(map(int, ways.sum(axis=1)))
    return Fraction(paid) / worth if worth else None
