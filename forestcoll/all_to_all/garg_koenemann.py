"""Max concurrent flow by multiplicative weights (Garg and Koenemann), with proved convergence.

Problem: as in :mod:`forestcoll.all_to_all.concurrent_flow`, which uses this after its own search.
Output:  after each phase, prices and the average of all routings so far. The caller computes the
         bounds that these prove; they are valid in any case.
Cost:    a phase is one Dijkstra search of each source, O(N |E| log |V|), and more if a source's
         tree would fill a link more than once. ln(|E| / MIXED) / step^2 phases bring the bounds to
         within 1 + O(step), with any network and demands.
Source:  Garg and Koenemann (FOCS 1998); a tree for each source as in Fleischer (SIAM J. Discrete
         Math. 2000) and Karakostas (SODA 2002), sources taken together.

In a phase every source in turn sends its demands, times the rate, along its cheapest tree, each
time at most until one link is full. Each link's weight then grows by the factor 1 + step * share of
its bandwidth. A link's price is its weight over its bandwidth. After the phases for a step, the
step is halved, and weights and average start again from the best known prices, mixed with equal
spending so that no weight is 0: the weights add up to 1, each at least MIXED / |E|. Proof:
docs/mathematics/all-to-all.md.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from forestcoll.all_to_all.flow_problem import FlowProblem
from forestcoll.solver.linear_program import Vector

__all__ = ["MIXED", "Phase", "phases"]

MIXED = 0.1
"""Share of equal spending on all links in the initial weights of an epoch."""

FIRST_STEP = 0.1

_LEAST_WEIGHT = 1e-250
"""Least weight of a link relative to the largest, near the end of the range of floats."""


@dataclass(frozen=True, slots=True)
class Phase:
    """The state after a phase.

    Parameters
    ----------
    price : float array, one entry a link
    flow : float array of shape (N, E)
        That meets the demands as they are, of each source on each link; bandwidths may be
        exceeded. Overwritten in the next phase.
    """

    price: Vector
    flow: Vector


def phases(
    demands: FlowProblem, best_price: Callable[[], Vector], rate_gb_s: float, deadline: float
) -> Iterator[Phase]:
    """Run phases until the deadline, by ``time.perf_counter``.

    Parameters
    ----------
    best_price : callable
        Returns prices to start an epoch from.
    rate_gb_s : float
        A feasible rate, preferably near the largest.
    """
    step, links = FIRST_STEP, len(demands.tail)
    while True:
        spending = best_price() * demands.bandwidth
        weight = (1 - MIXED) * spending / spending.sum() + MIXED / links
        total = np.zeros((len(demands.sources), links))
        for done in range(1, math.ceil(math.log(links / MIXED) / step**2) + 1):
            for rank in range(len(demands.sources)):
                if time.perf_counter() > deadline:
                    return
                total[rank] += _sent(demands, rank, weight, step, rate_gb_s)
            weight = np.maximum(weight / weight.max(), _LEAST_WEIGHT)
            yield Phase(weight / demands.bandwidth, total / done)
        step /= 2


def _sent(demands: FlowProblem, rank: int, weight: Vector, step: float, rate_gb_s: float) -> Vector:
    """Return the flow of one source for its demands; weights grow in place."""
    sent, left = np.zeros(len(weight)), 1.0
    while left > 0:
        load = _tree_load(demands, rank, weight / demands.bandwidth)
        share = rate_gb_s * load / demands.bandwidth
        part = min(left, 1 / max(float(share.max()), 1.0))
        sent += part * load
        weight *= 1 + step * part * share
        left = left - part if left - part > 1e-9 else 0.0
    return sent


def _tree_load(demands: FlowProblem, rank: int, price: Vector) -> Vector:
    from scipy.sparse.csgraph import dijkstra  # here, as programs need none of it

    source = int(demands.sources[rank])
    before = dijkstra(demands.lengths(price), indices=source, return_predecessors=True)[1]
    at: npt.NDArray[np.int64] = np.flatnonzero(demands.amount[rank])
    amount, load = demands.amount[rank, at], np.zeros(len(price))
    nodes = len(demands.topology.nodes)
    keys = demands.tail * nodes + demands.head  # ascending: links are sorted
    while len(at):
        link = np.searchsorted(keys, before[at].astype(np.int64) * nodes + at)
        load += np.bincount(link, weights=amount, minlength=len(load))
        at = demands.tail[link]
        onward = at != source
        at, amount = at[onward], amount[onward]
    return load
