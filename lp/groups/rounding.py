"""Round the shares of concurrent groups to exact numbers, and pack forests into them.

Problem: find multiples of a step near the shares of the linear program, which fit the links.
Output:  networks of the groups with their shares for bandwidths; forests on the full networks.
Cost:    an exact optimum for every group and grid, at most 26 grids; then a forest for every group.
Source:  the shares of a vertex are fractions, whose denominators are small as a rule: the grid of
         their common denominator holds them. Failing that, grids from coarse to fine, as in
         :mod:`forestcoll.allreduce.rounding`. All in units of the bandwidths' greatest common
         divisor.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from forestcoll.allreduce.result import AGREEMENT
from forestcoll.allreduce.rounding import GRIDS
from forestcoll.allreduce.shares import common_divisor, fitted, with_bandwidths
from forestcoll.core.balance import trim_to_balance
from forestcoll.core.optimality import optimum
from forestcoll.errors import CapacityOverflowError, DisconnectedError, SolverError
from forestcoll.generation import generate
from forestcoll.schedule import cost
from forestcoll.schedule.forest import Forest
from forestcoll.solver.linear_program import Vector
from forestcoll.topology import Topology
from lp.groups.result import ProcessGroup

__all__ = ["forests_within", "rounded"]

_DENOMINATORS = (60, 1000)
"""Shares are taken for the nearest fractions with a denominator up to this, one after the other."""

_FINEST = 10**7  # common denominator


def rounded(
    topology: Topology,
    groups: Sequence[ProcessGroup],
    networks: Sequence[Topology],
    shares: Vector,
    rate: float,
) -> tuple[Topology, ...]:
    """Round shares down to a grid that preserves their rate.

    Parameters
    ----------
    networks : sequence of Topology
        Of each group.
    shares : float array, a row for each group and a column for each link
        In GB/s.
    rate : float
        The t that they should allow, in GB/s.

    Returns
    -------
    tuple of Topology
        Each group's network, with its shares; the best there are, if none attains the rate to
        :data:`forestcoll.allreduce.result.AGREEMENT`.

    Raises
    ------
    SolverError
        If no grid leaves every group connected.
    """
    best: tuple[Topology, ...] | None = None
    most = Fraction(0)
    for step in _steps(topology, shares):
        taken = _on_grid(topology, networks, shares, step)
        attained = _rate(groups, taken)
        if attained > most:
            best, most = taken, attained
        if most >= rate * (1 - AGREEMENT):
            break
    if best is None:
        raise SolverError(f"{topology.name}: rounded down, the shares leave a group disconnected")
    return best


def forests_within(networks: Sequence[Topology], taken: Sequence[Topology]) -> tuple[Forest, ...]:
    """Pack trees into shares, and return them as forests of the networks with full bandwidths."""
    return tuple(
        _on(network, generate(part).forest) for network, part in zip(networks, taken, strict=True)
    )


def _steps(topology: Topology, shares: Vector) -> Iterator[Fraction]:
    unit = common_divisor([link.bandwidth_gb_s for link in topology.links])
    values = set((shares / float(unit)).ravel().tolist())
    for most in _DENOMINATORS:
        simple = (Fraction(value).limit_denominator(most).denominator for value in values)
        common = math.lcm(*simple)
        if common <= _FINEST:
            yield unit / common
    for grid in GRIDS:
        yield unit / grid


def _on_grid(
    topology: Topology, networks: Sequence[Topology], shares: Vector, step: Fraction
) -> tuple[Topology, ...]:
    taken = []
    for network, steps in zip(networks, fitted(topology, shares, step), strict=True):
        trim_to_balance(network, steps)
        taken.append(with_bandwidths(network, steps, step))
    return tuple(taken)


def _rate(groups: Sequence[ProcessGroup], taken: Sequence[Topology]) -> Fraction:
    """Return the exact t within shares; 0 if a group is disconnected or beyond 64 bits."""
    most = None
    for one, part in zip(groups, taken, strict=True):
        try:
            rate = 1 / (optimum(part).inverse_rate * one.weight)
        except (DisconnectedError, CapacityOverflowError):
            return Fraction(0)  # such a grid is passed over
        most = rate if most is None else min(most, rate)
    assert most is not None  # there are groups
    return most


def _on(network: Topology, forest: Forest) -> Forest:
    moved = replace(forest, topology=network, optimum=None, method="groups-lp")
    return replace(moved, congestion=cost(moved).time_s_per_gb * sum(moved.weights) * moved.k)
