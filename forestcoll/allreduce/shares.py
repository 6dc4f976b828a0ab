"""Round link shares from floats to exact multiples that fit the bandwidths.

Problem: several users share every link; round their shares to whole multiples of a step that fit
         the links.
Input:   a topology, a share of every link for every user, a step.
Output:  networks with these shares as bandwidths.
Cost:    linear in the links.
Source:  rounding down as ForestColl's appendix on allreduce rounds the solutions of its program;
         :mod:`forestcoll.core.balance` then balances what comes out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from forestcoll.solver.linear_program import Vector
from forestcoll.topology import Topology
from forestcoll.topology.link_columns import LinkColumns

__all__ = ["common_divisor", "down", "fitted", "with_bandwidths"]

NEAR = 1e-3
"""Of a step: shares that miss a multiple by less stand for it."""


def down(values: Vector, step: Fraction) -> list[int]:
    """Return the whole steps in each value; negligible values give 0."""
    return [int(value) for value in np.floor(np.maximum(values, 0) / float(step) + NEAR)]


def fitted(topology: Topology, shares: Vector, step: Fraction) -> list[list[int]]:
    """Round shares down to whole steps that fit the bandwidths and the shared capacities.

    Parameters
    ----------
    topology : Topology
    shares : float array, a row for each user and a column for each link
        In GB/s.
    step : Fraction
        In GB/s.

    Returns
    -------
    list of int, for each user
        Steps of each link.
    """
    links = topology.integer_capacities
    over, under = step.denominator, step.numerator * links.denominator
    left = [capacity * over // under for capacity in links.capacity.tolist()]
    found = []
    for row in shares:
        taken = list(map(min, down(row, step), left))
        left = [most - got for most, got in zip(left, taken, strict=True)]
        found.append(taken)
    for places, limit in topology.shared_places:
        excess = sum(row[i] for row in found for i in places) - int(limit / step)
        _lower(found, places, excess)
    return found


def _lower(found: Sequence[list[int]], places: Sequence[int], excess: int) -> None:
    """Reduce these links in proportion to their values, rounded up, until the excess is gone."""
    total = sum(row[i] for row in found for i in places)
    left = excess
    for row in found:
        for i in places:
            taken = max(0, min(-(-row[i] * excess // total), left)) if left > 0 else 0
            row[i] -= taken
            left -= taken


def with_bandwidths(topology: Topology, steps: Sequence[int], step: Fraction) -> Topology:
    """Return the network with these bandwidths, links without any left out.

    Shared capacities are left out: shares of links that fit them need no other limit.
    """
    columns = topology.columns
    latencies = list(dict.fromkeys(latency for _, latency in columns.kinds))
    latency_of = [latencies.index(latency) for _, latency in columns.kinds]
    place: dict[tuple[int, int], int] = {}
    used = columns.take(np.flatnonzero([bool(count) for count in steps]))
    kind = [
        place.setdefault((count, latency_of[old]), len(place))
        for count, old in zip(filter(None, steps), used.kind.tolist(), strict=True)
    ]
    kinds = tuple((count * step, latencies[i]) for count, i in place)
    lowered = LinkColumns(used.tail, used.head, np.array(kind, dtype=np.int32), kinds)
    return topology.like(topology.name, topology.nodes, lowered, shared=())


def common_divisor(numbers: Sequence[Fraction]) -> Fraction:
    """Return the greatest common divisor of fractions.

    Examples
    --------
    >>> common_divisor([Fraction(1, 2), Fraction(1, 3)])
    Fraction(1, 6)
    """
    few = {id(number): number for number in numbers}.values()  # links share their numbers
    under = math.lcm(*(number.denominator for number in few))
    return Fraction(math.gcd(*(int(number * under) for number in few)), under)
