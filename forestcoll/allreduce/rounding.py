"""Round the allreduce program's solution to exact shares, and build a schedule from them.

Problem: find whole numbers of trees near x_v, and capacities near c_RE and c_BC, in which they can
         be packed.
Input:   a solution of the allreduce program, in floats.
Output:  an allreduce of two forests with the weights x_v on the network itself, and its exact rate.
Cost:    two exact optima for each grid, at most 24 of them; then two forests by the core.
Source:  ForestColl, appendix on the optimality of allreduce: round x, c_RE and c_BC down to
         multiples of 1/k and pack trees, which comes near the program's value as k grows. Here the
         grids go from coarse to fine and stop where the value is attained, so that simple shares
         give few trees. What is rounded down can leave a switch with more out than in; that much is
         then taken off its out-links (in the reduction, off its in-links). The core packs the
         largest number of trees in the proportions of x that fit, so nothing is lost but that.

The phases run at once, as a pipeline over the data, each within its share of every link:
:func:`forestcoll.schedule.cost_model.measures.cost` adds up their loads and gives the rate that is
attained.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from forestcoll.allreduce.result import AGREEMENT, AllreduceOptimum
from forestcoll.allreduce.shares import common_divisor, down, fitted, with_bandwidths
from forestcoll.core.balance import trim_to_balance
from forestcoll.core.optimality import optimum
from forestcoll.core.pipeline import forest_with
from forestcoll.errors import CapacityOverflowError, DisconnectedError, SolverError
from forestcoll.schedule.allreduce import Allreduce
from forestcoll.schedule.cost_model.measures import cost
from forestcoll.schedule.forest import Forest
from forestcoll.solver.linear_program import Vector
from forestcoll.topology.model import Topology

__all__ = ["GRIDS", "Shares", "allreduce_forest", "natural_grids", "rounded"]

GRIDS = (
    *(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 16, 20, 24, 30, 36, 48, 60),
    *(120, 840, 5040, 27720, 720720),
)
"""Multiples of 1/k of the bandwidths' greatest common divisor, for each of these k in turn."""

_DENOMINATORS = (2000, 10**5)
"""Most of a value, or of the factor that it adds to a common denominator."""

_FINEST = 10**9

_BITS = (8, 12, 16, 20, 24, 28)
"""Of the largest bandwidth, where the unit of all is too small."""


@dataclass(frozen=True, slots=True)
class Shares:
    """Exact parts and shares that fit the network.

    Parameters
    ----------
    weights : tuple of int
        x of each rank, in grid steps.
    reduce, gather : Topology
        The network with the links' shares for bandwidths.
    algbw_gb_s : Fraction
        Rate at which both phases can run within them.
    step_gb_s : Fraction
        Shares and parts are multiples of it.
    """

    weights: tuple[int, ...]
    reduce: Topology = field(repr=False)
    gather: Topology = field(repr=False)
    algbw_gb_s: Fraction
    step_gb_s: Fraction


def allreduce_forest(
    found: AllreduceOptimum, weights: tuple[int, ...] = (), deadline: float = math.inf
) -> Allreduce[Forest]:
    """Build a schedule whose rate is that of :func:`rounded`, or better.

    Parameters
    ----------
    found : AllreduceOptimum
        With shares for the links of its topology: by cutting planes, or without switches.
    weights : tuple of int
        Of the program's roots, if it had any: the parts then are in these proportions.
    deadline : float
        Of ``time.monotonic``: grids are tried until then.

    Raises
    ------
    SolverError
        If there are no shares, or none that connect all GPUs once they are rounded.
    """
    shares = rounded(found, weights=weights, deadline=deadline)
    return Allreduce(
        placed_on(found.topology, forest_with(shares.weights, shares.reduce, reduction=True)),
        placed_on(found.topology, forest_with(shares.weights, shares.gather)),
    )


def rounded(
    found: AllreduceOptimum,
    grids: Sequence[int] = GRIDS,
    weights: tuple[int, ...] = (),
    deadline: float = math.inf,
) -> Shares:
    """Round a solution down to the coarsest grid on which it keeps its rate.

    Returns
    -------
    Shares
        The best there is, if none attains the solution's rate to
        :data:`forestcoll.allreduce.result.AGREEMENT`.

    Raises
    ------
    SolverError
        As :func:`allreduce_forest`.

    Notes
    -----
    Tried in ascending order: the grids given, and those on which all values lie if they are read
    as the nearest fractions of small denominators; then, if the numbers were too large, parts of
    the largest bandwidth.
    """
    if len(found.gather_gb_s) != len(found.topology.links):
        raise SolverError(
            f"{found.topology.name}: the solution has shares of logical links only; take that of "
            f"the cutting planes"
        )
    best: Shares | None = None
    for shares in _tried(found, grids, weights):
        if shares is not None and (best is None or shares.algbw_gb_s > best.algbw_gb_s):
            best = shares
        attained = best is not None and best.algbw_gb_s >= found.algbw_gb_s * (1 - AGREEMENT)
        if attained or time.monotonic() > deadline:
            break
    if best is None:
        raise SolverError(
            f"{found.topology.name}: rounded down, no parts are left, or no shares that "
            f"connect all GPUs"
        )
    return best


def _tried(
    found: AllreduceOptimum, grids: Sequence[int], weights: tuple[int, ...]
) -> Iterator[Shares | None]:
    """Yield what each step gives whose numbers fit; parts of the largest bandwidth if some do not.

    Made one by one as they are asked for, so a caller that has enough pays for no more.
    """
    unit = _unit(found.topology)
    values = np.concatenate([found.parts_gb_s, found.reduce_gb_s, found.gather_gb_s])
    steps = [unit / grid for grid in sorted({*grids, *natural_grids(values / float(unit))})]
    too_large = False
    for step in steps:
        try:
            yield _on_step(found, step, weights)
        except CapacityOverflowError:
            too_large = True
    widest = max(link.bandwidth_gb_s for link in found.topology.links)
    for step in (widest / 2**bits for bits in _BITS if too_large):
        with contextlib.suppress(CapacityOverflowError):
            yield _on_step(found, step, weights)


def _on_step(found: AllreduceOptimum, step: Fraction, weights: tuple[int, ...]) -> Shares | None:
    """Round down to one step; None where a GPU is left without a connection or all weights are 0.

    Raises
    ------
    CapacityOverflowError
        If the whole numbers are beyond 64 bits.
    """
    topology = found.topology
    weights = weights or tuple(down(found.parts_gb_s, step))
    shares = np.stack([found.gather_gb_s, found.reduce_gb_s])
    gather, reduce = fitted(topology, shares, step)
    if not any(weights):
        return None
    # The core removes a switch only if it sends no more than it receives; rounding breaks that.
    trim_to_balance(topology, gather)
    trim_to_balance(topology, reduce, reduction=True)
    networks = {
        True: with_bandwidths(topology, reduce, step),
        False: with_bandwidths(topology, gather, step),
    }
    try:
        times = [
            optimum(network, weights=weights, reduction=reduction).time_s_per_gb
            for reduction, network in networks.items()
        ]
    except DisconnectedError:
        return None
    return Shares(weights, networks[True], networks[False], 1 / max(times), step)


def natural_grids(values: Vector) -> set[int]:
    """Return candidates for a common denominator of values near fractions, unless they are huge.

    The least common multiple of the nearest fractions tolerates noise, but all denominators must
    be small. The other candidate is a product of factors, from simple values on: only the factor
    that each value lacks must be small, but noise grows with the product.
    """
    grids = set()
    for most in _DENOMINATORS:
        near = {
            value: value.limit_denominator(most).denominator
            for value in map(Fraction, set(values.tolist()))
        }
        grids.add(math.lcm(*near.values()))
        grid = 1
        for value in sorted(near, key=lambda value: (near[value], value)):
            if grid <= _FINEST:
                grid *= (value * grid).limit_denominator(most).denominator
        grids.add(grid)
    return {grid for grid in grids if grid <= _FINEST}


def _unit(topology: Topology) -> Fraction:
    limits = [group.bandwidth_gb_s for group in topology.shared]
    return common_divisor([*(link.bandwidth_gb_s for link in topology.links), *limits])


def placed_on(topology: Topology, forest: Forest) -> Forest:
    """Return a forest of a network with lower bandwidths as one of the network itself."""
    moved = replace(forest, topology=topology, optimum=None, method="allreduce-lp")
    # The forest was packed in a smaller network, whose optimum is no claim here. Its congestion is
    # measured again, with the bandwidths of the network itself.
    trees = sum(moved.weights) * moved.k
    return replace(moved, congestion=cost(moved).time_s_per_gb * trees)
