"""The throughput optimum of a network and the bottleneck cut that proves it.

Problem: 1/x* = max over node sets S that miss a GPU of w(S) / B+(S), w the weights of the GPUs:
         all 1 in an allgather, a single 1 in a broadcast. In a reduction B-(S) stands for B+(S).
Input:   a topology (GPUs, switches, directed links), weights, a direction.
Output:  the exact fraction, a maximising cut S*, and the smallest k for which trees exist.
Cost:    one warm-started max-flow pass over the GPUs per Newton step (0 to 2 in practice).
Source:  ForestColl sections 4 and 5.2, Theorem 1, Proposition F13; Newton's method on the cut
         ratio stands for the paper's bisection (see docs/mathematics/optimality.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from forestcoll.core.problem import is_target, rooted
from forestcoll.errors import CapacityOverflowError
from forestcoll.native import _core
from forestcoll.problem.collective import collective_of
from forestcoll.problem.optimum import Optimum
from forestcoll.problem.weights import Weights, whole_weights
from forestcoll.topology.model import Topology
from forestcoll.topology.validate import validate

__all__ = ["optimum", "optimum_of"]


def optimum(
    topology: Topology,
    *,
    weights: Weights | None = None,
    reduction: bool = False,
    threads: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Optimum:
    """Find the exact optimum of a network and its bottleneck cut.

    Parameters
    ----------
    topology : Topology
    weights : mapping or sequence, optional
        How much data each GPU roots, as of :func:`forestcoll.problem.weights.whole_weights`; all
        the same, an allgather or reduce-scatter, if not given.
    reduction : bool
        Whether data is summed up on its way to the roots.
    threads : int
        At most so many share the GPUs; the cut does not depend on their number.
    progress : callable, optional
        Told (GPUs passed, GPUs in all) now and then; may raise to stop the search.

    Returns
    -------
    Optimum
        Of all bottleneck cuts, the one whose far side the search met first.

    Raises
    ------
    InvalidTopologyError
        If the network fails :func:`forestcoll.topology.validate` for this collective.
    InvalidParameterError
        If the weights are not a number from 0 up for every GPU.
    CapacityOverflowError
        If total bandwidth times total weight does not fit 62 bits after scaling to whole numbers.

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
    links = (topology.reversed() if reduction else topology).integer_capacities
    if int(links.capacity.sum()) * sum(whole) >= 2**62:
        weight = f"{sum(whole)} GPUs" if weights is None else f"a total weight of {sum(whole)}"
        raise CapacityOverflowError(
            f"{topology.name}: total bandwidth in whole numbers times {weight} is beyond exact "
            f"64-bit arithmetic; round the numbers to fewer digits or use a larger unit"
        )
    p, q, cut, _ = _core.bottleneck(
        len(topology.nodes),
        links.tail,
        links.head,
        links.capacity,
        rooted(topology, np.array(whole, dtype=np.int64)),
        is_target(topology),
        threads,
        progress,
    )
    return optimum_of(topology, p, q, cut, whole, reduction)


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
    divisor = math.gcd(q, *links.capacity.tolist())
    return Optimum(
        topology=topology,
        inverse_rate=Fraction(p, q) * links.denominator,
        cut=tuple(np.flatnonzero(cut).tolist()),
        k=q // divisor,
        congestion=Fraction(p, divisor) * links.denominator,
        weights=weights,
        reduction=reduction,
    )
