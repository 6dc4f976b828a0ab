"""Throughput optimum of a network, with the bottleneck cut that proves it.

Problem: 1/x* = max over node sets S that miss a GPU of w(S) / B+(S), w the weights of the GPUs:
         all 1 in an allgather, a single 1 in a broadcast. A reduction has B-(S) in place of B+(S).
         Where a switch sends more than it receives, or links share a capacity, not all bandwidth
         may be usable, and a linear program replaces the cut.
Input:   a topology (GPUs, switches, directed links), weights, a direction.
Output:  the exact fraction, a maximising cut S* or prices, the smallest k for which trees exist.
Cost:    one warm-started max-flow pass over the GPUs per Newton step (0 to 2 in practice); where
         needed, that of :mod:`forestcoll.core.any_network.sub_capacities`.
Source:  ForestColl sections 4 and 5.2, Theorem 1, Proposition F13. Newton's method on the cut
         ratio replaces the paper's bisection (see docs/mathematics/optimality.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from forestcoll.core.bottleneck_cut import narrowest_cut_over
from forestcoll.core.problem import is_target, rooted
from forestcoll.errors import CapacityOverflowError
from forestcoll.problem.collective import collective_of
from forestcoll.problem.optimum import Optimum
from forestcoll.problem.rate_bound import RateBound
from forestcoll.problem.weights import Weights, whole_weights
from forestcoll.topology.model import Topology
from forestcoll.topology.validation import uses_all_bandwidth, validate

__all__ = ["SECONDS", "narrowest_cut", "optimum", "optimum_of", "rate_bound"]

SECONDS = 60.0
"""Default time limit of the linear program of networks that need one."""


def optimum(
    topology: Topology,
    *,
    weights: Weights | None = None,
    reduction: bool = False,
    threads: int = 1,
    progress: Callable[[int, int], None] | None = None,
    seconds: float = SECONDS,
) -> Optimum:
    """Find the exact optimum of a network and its proof.

    Parameters
    ----------
    topology : Topology
    weights : mapping or sequence, optional
        How much data each GPU roots, as for :func:`forestcoll.problem.weights.whole_weights`; if
        not given, equal weights: an allgather or reduce-scatter.
    reduction : bool
        Whether data is summed up on its way to the roots.
    threads : int
        Threads that share the GPUs, at most; the cut does not depend on it.
    progress : callable, optional
        Called with (GPUs passed, GPUs in all) now and then; may raise to stop the search.
    seconds : float
        Time limit of the linear program of networks that need one.

    Returns
    -------
    Optimum
        With the bottleneck cut whose far side the search met first.

    Raises
    ------
    InvalidTopologyError
        If the network fails :func:`forestcoll.topology.validate` for this collective.
    InvalidParameterError
        If the weights are not a number from 0 up for every GPU.
    CapacityOverflowError
        If total bandwidth times total weight does not fit 62 bits after scaling to whole numbers.
    TimeLimitError
        If the program does not end with the exact optimum. The error holds a feasible rate as its
        incumbent (an :class:`Optimum` that is not proved) and a bound on the algorithmic bandwidth.

    Notes
    -----
    The smallest k and U follow from 1/x* = p/q in lowest terms (Proposition after Theorem 1):
    U = p / g and k = q / g with g = gcd(q, all bandwidths).

    Examples
    --------
    >>> from forestcoll.topology import load_topology
    >>> best = optimum(load_topology("dgx_a100:boxes=4"))
    >>> best.inverse_rate, best.k, float(best.algbw_gb_s)
    (Fraction(3, 25), 1, 266.6666666666667)
    """
    whole = whole_weights(topology, weights)
    roots = [rank for rank, weight in enumerate(whole) if weight]
    validate(topology, collective_of(whole, reduction), roots)
    if not uses_all_bandwidth(topology, reduction):
        from forestcoll.core.any_network.optimum import (
            optimum_by_program,  # imported here: its libraries load slowly
        )

        return optimum_by_program(topology, whole, reduction, seconds)
    return optimum_of(
        topology, *narrowest_cut(topology, whole, reduction, threads, progress), whole, reduction
    )


def rate_bound(
    topology: Topology,
    *,
    weights: Weights | None = None,
    reduction: bool = False,
    multicast: bool = False,
    threads: int = 1,
    seconds: float = SECONDS,
) -> RateBound:
    """Return the best upper bound on the rate that is found in the time given.

    The bound is the optimum itself; for a network that needs a program it may be a little more.

    Parameters
    ----------
    multicast : bool
        Whether the bound must also hold where switches marked ``multicast`` multicast and reduce.
        Such schedules need not attain it.
    topology, weights, reduction, threads, seconds
        As for :func:`optimum`.

    Raises
    ------
    ForestCollError
        As for :func:`optimum`, but no TimeLimitError.
    """
    whole = whole_weights(topology, weights)
    roots = [rank for rank, weight in enumerate(whole) if weight]
    validate(topology, collective_of(whole, reduction), roots)
    if not uses_all_bandwidth(topology, reduction, multicast=multicast):
        from forestcoll.core.any_network.optimum import bound_by_program

        return bound_by_program(topology, whole, reduction, seconds, multicast=multicast)
    _, _, cut = narrowest_cut(topology, whole, reduction, threads)
    return RateBound.of_cut(topology, np.flatnonzero(cut).tolist(), whole, reduction)


def narrowest_cut(
    topology: Topology,
    weights: tuple[int, ...],
    reduction: bool = False,
    threads: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[int, int, npt.NDArray[np.uint8]]:
    """Return the largest w(S) / B+(S) as p and q, in units of whole capacities, and its cut.

    Where a switch sends more than it receives, or links share a capacity, this is only a bound.
    Raises CapacityOverflowError as :func:`optimum` does.
    """
    links = topology.integer_capacities
    links = links.reversed() if reduction else links
    if int(links.capacity.sum()) * sum(weights) >= 2**62:
        equal = set(weights) <= {1}
        weight = f"{sum(weights)} GPUs" if equal else f"a total weight of {sum(weights)}"
        raise CapacityOverflowError(
            f"{topology.name}: total bandwidth in whole numbers times {weight} is beyond exact "
            f"64-bit arithmetic; round the numbers to fewer digits or use a larger unit"
        )
    return narrowest_cut_over(
        links.tail,
        links.head,
        links.capacity,
        rooted(topology, np.array(weights, dtype=np.int64)),
        is_target(topology),
        threads=threads,
        progress=progress,
    )


def optimum_of(
    topology: Topology,
    p: int,
    q: int,
    cut: npt.NDArray[np.uint8],
    weights: tuple[int, ...] = (),
    reduction: bool = False,
) -> Optimum:
    """Return the optimum whose 1/x* is ``p / q`` in lowest terms, in units of whole capacities.

    ``cut`` is 1 for the nodes of the bottleneck cut; weights are as :class:`Optimum` wants them.
    """
    links = topology.integer_capacities
    divisor = math.gcd(q, int(np.gcd.reduce(links.capacity)))
    return Optimum(
        topology=topology,
        inverse_rate=Fraction(p, q) * links.denominator,
        cut=tuple(np.flatnonzero(cut).tolist()),
        k=q // divisor,
        congestion=Fraction(p, divisor) * links.denominator,
        weights=weights,
        reduction=reduction,
    )
