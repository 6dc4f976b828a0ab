"""Whole prices from those of a solver, which prove an exact bound.

Problem: a program's prices are floats; a proof needs exact numbers, and small ones are checked
         most easily.
Input:   prices from 0 up.
Output:  whole prices, with the best bound of those tried.
Cost:    a search from every GPU for each try.
Source:  ours. Any prices prove a bound. Those of an optimal vertex are often small whole numbers
         over one common divisor, so small scales often prove as much as a fine one.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from forestcoll.problem.demand import Demand
from forestcoll.problem.price_bound import PriceBound
from forestcoll.topology.model import Topology

__all__ = ["best_whole_prices"]

_FINEST = 2**24
_SCALES = (1, 2, 3, 4, 5, 6, 8, 10, 12, 24, 60, 120, 360, 720, 2520, 5040, 55440, 720720)
"""Numbers that the largest price becomes in turn, after the finest."""

_LARGE = 300
"""GPUs beyond which only some scales are tried."""


def best_whole_prices(
    topology: Topology,
    demand: Demand | None,
    prices: Sequence[float],
    *,
    deadline: float = math.inf,
) -> PriceBound:
    """Return the best bound of several roundings of the prices; of equal ones the smallest prices.

    Parameters
    ----------
    prices : sequence of float
        Of the links and then of the shared capacities; not all 0. Negative ones count as 0.
    deadline : float
        By ``time.perf_counter``: then only the finest rounding is tried.
    """
    given = np.maximum(np.asarray(prices, dtype=np.float64), 0.0)
    given = given / given.max()
    tried: dict[tuple[int, ...], PriceBound] = {}
    for scale in (_FINEST, *_scales(given, topology.num_compute)):
        whole = tuple(np.rint(given * scale).astype(np.int64).tolist())
        if whole not in tried:
            tried[whole] = PriceBound.of(topology, demand, whole)
        if time.perf_counter() > deadline:
            break
    return max(tried.values(), key=lambda bound: (bound.inverse_rate, -max(bound.price)))


def _scales(given: npt.NDArray[np.float64], gpus: int) -> Iterator[int]:
    """Yield the scales to try; where the least price divides the others, its inverse is one."""
    least = np.rint(given * _FINEST)
    yield round(1 / given[least > 0].min())
    yield from _SCALES if gpus <= _LARGE else (1, 12, 2520)
