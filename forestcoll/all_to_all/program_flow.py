"""All-to-alls by the linear program, made exact: whole prices prove it, whole paths attain it.

Problem: the program's flow and prices are floats, and a schedule and its proof are not.
Input:   a network, a demand in which every chunk is for one GPU; seconds.
Output:  a flow schedule and a bound, both exact; equal where rounding finds the vertex.
Cost:    that of the program; for large networks without symmetries that of bounds which approach
         each other to 1 %.
Source:  Efficient Direct-Connect Topologies (NSDI 2025), section 6.2, for the program; the rounding
         is ours.

At a vertex of the program a full link carries its bandwidth times the least time. Other amounts
mostly are sums and differences of such amounts and the demand's, so multiples of one part of the
data. Paths rounded to that part carry what the vertex says, without the solver's tolerance. Whether
they attain the bound is then decided exactly.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator

import numpy as np

from forestcoll.all_to_all.attained import Attained
from forestcoll.all_to_all.linear_optimum import AllToAllOptimum
from forestcoll.all_to_all.near_optimum import near_optimum
from forestcoll.all_to_all.path_schedule import loaded_schedules_of
from forestcoll.all_to_all.whole_prices import best_whole_prices
from forestcoll.errors import UnsupportedError
from forestcoll.problem.demand import Demand
from forestcoll.problem.price_bound import PriceBound
from forestcoll.topology.model import Topology

__all__ = ["by_program", "can_be_solved"]

MOST_RATIO = 10**11
"""Of two amounts: the solver's floats hold some 15 digits."""

EPS = 0.01
"""How near the bounds of a large network must come to each other, relative to the rate."""

_TIMES = (1, 2, 3, 4, 6, 12)
"""Multiples of the parts of full links that are tried, for links that are not full."""


def can_be_solved(demand: Demand | None) -> bool:
    """Whether the solver's floats can hold the smallest amount beside the largest."""
    if demand is None:
        return True
    amounts = demand.matrix[demand.matrix > 0]
    return int(amounts.max()) // int(amounts.min()) < MOST_RATIO


def by_program(
    topology: Topology, demand: Demand | None, *, seconds: float, parts: int
) -> Attained:
    """Solve the program and make its result exact.

    Parameters
    ----------
    seconds : float
        For all of it. Once there is a flow, only one rounding of prices and one of paths is made
        beyond the limit.
    parts : int
        As of :func:`forestcoll.all_to_all.best_flow.best_flow`.

    Raises
    ------
    DisconnectedError
        If a GPU has something for one that it cannot reach.
    UnsupportedError
        If the amounts are too different for the solver.
    TimeLimitError
        If the time was over before there was a flow; it carries the bound.
    """
    if demand is not None and not can_be_solved(demand):
        some = demand.matrix[demand.matrix > 0]
        raise UnsupportedError(
            f"{demand.name} has amounts from {some.min()} to {some.max()} bytes, too "
            f"different for the program of {topology.name}; leave the small ones away"
        )
    deadline = time.perf_counter() + seconds
    amounts = None if demand is None else demand.matrix
    flow = near_optimum(topology, amounts, eps=EPS, seconds=seconds)
    bound = best_whole_prices(topology, demand, flow.price.tolist(), deadline=deadline)
    best: Attained | None = None
    wholes: Iterable[int] = (parts,)
    if isinstance(flow, AllToAllOptimum):  # a vertex; approximate flows have no such parts
        wholes = _wholes(topology, demand, bound, parts, deadline)
    for schedule, loads in loaded_schedules_of(flow, wholes, demand=demand):
        found = Attained(schedule, bound, loads)
        if best is None or found.congestion < best.congestion:
            best = found
        if best.is_optimal:
            break
    assert best is not None  # the parts that were asked for come last
    return best


def _wholes(
    topology: Topology, demand: Demand | None, bound: PriceBound, parts: int, deadline: float
) -> Iterator[int]:
    """Yield numbers of parts: while there is time those of full links, then those asked for."""
    unit = 1 if demand is None else int(np.gcd.reduce(demand.size))
    full = [link.bandwidth_gb_s * bound.inverse_rate / unit for link in topology.links]
    under = math.lcm(*{amount.denominator for amount in full})
    for times in _TIMES:
        if under * times < parts and time.perf_counter() < deadline:
            yield under * times
    yield parts
