"""Collectives as the core sees them: weights of the roots and a direction of the data.

Problem: use one algorithm for all collectives.
Input:   weights of the ranks and a direction.
Output:  the name of the collective.
Cost:    linear in the ranks.
Source:  ForestColl sections 2 and 5.7 (reduction is broadcast with every link reversed).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from forestcoll.errors import UnsupportedError

__all__ = ["algbw_of", "collective_of"]


def collective_of(weights: Sequence[int], reduction: bool) -> str:
    """Return the name of the collective of a forest with these weights.

    Examples
    --------
    >>> collective_of((1, 1, 1), False), collective_of((0, 1, 0), True)
    ('allgather', 'reduce')
    """
    rooted = len(weights) - weights.count(0)
    if rooted == 1 and len(weights) > 1:
        return "reduce" if reduction else "broadcast"
    return "reduce-scatter" if reduction else "allgather"


def algbw_of(time_s_per_gb: Fraction) -> Fraction:
    """Return the algorithmic bandwidth in GB/s, 1 over the time.

    Raises UnsupportedError if the time is 0: a single GPU has nothing to exchange.
    """
    if time_s_per_gb == 0:
        raise UnsupportedError("a schedule of a single GPU takes no time; it has no bandwidth")
    return 1 / time_s_per_gb
