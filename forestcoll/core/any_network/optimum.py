"""Optimum of networks with unbalanced switches or shared capacities, with its proof.

Problem: find the largest rate, its proof, the number of trees that attain it, and the capacities.
Input:   a topology on which the collective can run, weights, a direction, a time limit.
Output:  an optimum with its prices and the capacities that trees may use.
Cost:    a linear program (:mod:`forestcoll.core.any_network.sub_capacities`), and a second one for
         capacities in whole trees (:mod:`forestcoll.core.any_network.whole_capacities`).
Source:  docs/mathematics/any-network.md.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from forestcoll.core.any_network.cut_program import Limits
from forestcoll.core.any_network.sub_capacities import Roles, SubCapacities, balanced_sub_capacities
from forestcoll.core.any_network.whole_capacities import whole_capacities
from forestcoll.errors import TimeLimitError
from forestcoll.problem.optimum import Optimum
from forestcoll.problem.rate_bound import RateBound
from forestcoll.topology.model import Topology

__all__ = ["bound_by_program", "limits_at", "optimum_by_program"]

_MOST_TREES = 2**40
"""Most trees on a link in the integer program; floats could not distinguish larger numbers."""


def optimum_by_program(
    topology: Topology, weights: tuple[int, ...], reduction: bool, seconds: float
) -> Optimum:
    """Find the optimum of a network in which some bandwidth may be unusable.

    Parameters
    ----------
    topology : Topology
        A network on which the collective can run.
    weights : tuple of int
        One for each rank.
    reduction : bool
        Whether data is summed up on its way to the roots.
    seconds : float
        Time limit of the programs.

    Raises
    ------
    TimeLimitError
        If the exact optimum is not found. The error holds a feasible rate as its incumbent (an
        Optimum that is not proved) and a bound on the algorithmic bandwidth.
    SolverError
        If HiGHS fails.
    """
    network = topology.reversed() if reduction else topology
    unit, roles = _unit(network), Roles.of(network, weights)
    deadline = time.monotonic() + seconds
    found = balanced_sub_capacities(network, limits_at(network, unit), roles, deadline)
    best = _attained(topology, found, unit, weights, reduction, deadline) if found.rate else None
    if best is None or not found.is_exact:
        least, most = (sum(weights) * float(one / unit) for one in (found.rate, found.bound))
        raise TimeLimitError(
            f"{topology.name}: the optimum is at least {least:.9g} and at most {most:.9g} GB/s; "
            f"which it is was not found in {seconds:g} s; allow more time, or round the bandwidths",
            incumbent=best,
            bound=found.bound * sum(weights) / unit,
        )
    return best


def _attained(
    topology: Topology,
    found: SubCapacities,
    unit: int,
    weights: tuple[int, ...],
    reduction: bool,
    deadline: float,
) -> Optimum:
    """Return the rate of sub-capacities, with prices that may prove less."""
    network = topology.reversed() if reduction else topology
    rate = found.rate / unit
    k, trees = _in_whole_trees(network, found, rate, unit, weights, deadline)
    congestion = k / rate
    # The trees of a reduction run against the links of ``network``.
    usable = {
        (e.tail, e.head)[:: -1 if reduction else 1]: amount / congestion
        for e, amount in zip(network.links, trees, strict=True)
    }
    prices = replace(found.prices, topology=topology, reduction=reduction)
    return Optimum(
        topology=topology,
        inverse_rate=1 / rate,
        cut=tuple(prices.widest.nodes),
        k=k,
        congestion=congestion,
        weights=weights,
        reduction=reduction,
        prices=prices,
        usable_gb_s=tuple(usable[e.tail, e.head] for e in topology.links),
    )


def _in_whole_trees(
    network: Topology,
    found: SubCapacities,
    rate: Fraction,
    unit: int,
    weights: tuple[int, ...],
    deadline: float,
) -> tuple[int, Sequence[Fraction | int]]:
    """Return trees per unit of weight, and how many each link then carries.

    The number is the least for which U b is whole on every link, if whole capacities are found for
    it. Otherwise it is the least for which the known sub-capacities are whole.
    """
    k = math.lcm(*((width / rate).denominator for width in _widths(network)))
    share = k / (rate * unit)
    if all((share * amount).denominator == 1 for amount in found.capacity):
        return k, [share * amount for amount in found.capacity]
    at = limits_at(network, k / rate)
    if min(max(at.link), k * sum(weights)) <= _MOST_TREES:
        trees = whole_capacities(
            network, at, Roles.of(network, [k * weight for weight in weights]), deadline
        )
        if trees is not None:
            return k, trees.tolist()
    k = math.lcm(*((amount / unit / rate).denominator for amount in found.capacity))
    return k, [k * amount / (rate * unit) for amount in found.capacity]


def bound_by_program(
    topology: Topology,
    weights: tuple[int, ...],
    reduction: bool,
    seconds: float,
    *,
    multicast: bool,
) -> RateBound:
    """Return the best upper bound on the rate that is found in the time given.

    With ``multicast`` it also holds where switches marked ``multicast`` multicast and reduce. Trees
    need not attain it then: they must reach the GPUs only, so they are Steiner trees.
    """
    network = topology.reversed() if reduction else topology
    unit, roles = _unit(network), Roles.of(network, weights, multicast=multicast)
    found = balanced_sub_capacities(
        network, limits_at(network, unit), roles, time.monotonic() + seconds
    )
    return replace(found.prices, topology=topology, reduction=reduction)


def limits_at(network: Topology, congestion: Fraction | int) -> Limits:
    """Return the most trees that links and shared capacities carry at a congestion."""
    trees = [math.floor(congestion * width) for width in _widths(network)]
    links = len(network.links)
    return Limits(tuple(trees[:links]), tuple(trees[links:]))


def _unit(network: Topology) -> int:
    """Return the units per GB/s in which all bandwidths are whole numbers."""
    return math.lcm(*(width.denominator for width in _widths(network)))


def _widths(network: Topology) -> list[Fraction]:
    """Return the bandwidths of the links, then of the shared capacities, in GB/s."""
    links = [link.bandwidth_gb_s for link in network.links]
    return links + [group.bandwidth_gb_s for group in network.shared]
