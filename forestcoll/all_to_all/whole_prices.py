"""Whole prices from those of a solver, which prove an exact bound.

Problem: a program's prices are floats; a proof needs exact numbers, and small ones are checked
         most easily.
Input:   prices from 0 up.
Output:  whole prices, with the best bound of those tried.
Cost:    a search from every GPU for each try.
Source:  ours. Any prices prove a bound. Those of an optimal vertex are often small whole numbers
         over one common divisor, so multiples of the largest price are tried first.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from forestcoll.problem.demand import Demand
from forestcoll.problem.price_bound import PriceBound
from forestcoll.topology.model import Topology

__all__ = ["best_whole_prices"]

_SCALES = (1, 2, 3, 4, 5, 6, 8, 10, 12, 24, 60, 120, 360, 720, 2520, 5040, 55440, 720720, 2**24)
"""Numbers that the largest price becomes in turn."""

_LARGE = 300
"""GPUs beyond which only the finest scale and a few others are tried."""

_NEGLIGIBLE = 1e-7


def best_whole_prices(
    topology: Topology, demand: Demand | None, prices: Sequence[float]
) -> PriceBound:
    """Return the best bound of several roundings of the prices.

    Parameters
    ----------
    prices : sequence of float
        Of the links and then of the shared capacities; not all 0.
    """
    given = np.maximum(np.asarray(prices, dtype=np.float64), 0.0)
    given = given / given.max()
    given[given < _NEGLIGIBLE] = 0.0
    few = given[given > 0].min()
    scales = [*_SCALES] if topology.num_compute <= _LARGE else [1, 12, 2520, 2**24]
    # Where the least price divides the others, its inverse is the scale.
    scales.insert(0, max(round(1 / few), 1))
    tried = {}
    for scale in scales:
        whole = tuple(np.rint(given * scale).astype(np.int64).tolist())
        if any(whole) and whole not in tried and max(whole) <= 2**32:
            tried[whole] = PriceBound.of(topology, demand, whole)
    best = max(bound.inverse_rate for bound in tried.values())
    return next(bound for bound in tried.values() if bound.inverse_rate == best)
