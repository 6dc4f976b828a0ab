"""The throughput optimum of a network and the bottleneck cut that proves it.

Problem: 1/x* = max over node sets S that miss a GPU of |GPUs in S| / B+(S).
Input:   a topology (GPUs, switches, directed links).
Output:  the exact fraction, a maximising cut S*, and the smallest k for which trees exist.
Cost:    one warm-started max-flow pass over the GPUs per Newton step (0 to 2 in practice).
Source:  ForestColl sections 4 and 5.2, Theorem 1, Proposition F13; Newton's method on the cut
         ratio stands for the paper's bisection (see docs/architecture.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from forestcoll.bottleneck import Optimum
from forestcoll.errors import CapacityOverflowError
from forestcoll.native import _core
from forestcoll.topology.model import Topology
from forestcoll.topology.validate import validate

__all__ = ["optimum", "optimum_of", "tree_capacities"]


def optimum(topology: Topology, *, progress: Callable[[int, int], None] | None = None) -> Optimum:
    """Find the exact allgather optimum of a network and its bottleneck cut.

    Parameters
    ----------
    topology : Topology
    progress : callable, optional
        Told (GPUs passed, GPUs in all) now and then; may raise to stop the search.

    Returns
    -------
    Optimum
        Of all bottleneck cuts, the one whose far side the search met first.

    Raises
    ------
    InvalidTopologyError
        If the network fails :func:`forestcoll.topology.validate` for an allgather.
    CapacityOverflowError
        If total bandwidth times N does not fit 62 bits after scaling to whole numbers.

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
    validate(topology)
    links = topology.integer_capacities
    if int(links.capacity.sum()) * topology.num_compute >= 2**62:
        raise CapacityOverflowError(
            f"{topology.name}: total bandwidth in whole numbers times {topology.num_compute} GPUs "
            f"is beyond exact 64-bit arithmetic; round the bandwidths to fewer digits or use a "
            f"larger unit"
        )
    gpu = np.array([not node.is_switch for node in topology.nodes])
    p, q, cut, _ = _core.bottleneck(
        len(topology.nodes),
        links.tail,
        links.head,
        links.capacity,
        gpu.astype(np.int64),
        gpu.astype(np.uint8),
        progress,
    )
    return optimum_of(topology, p, q, cut)


def optimum_of(topology: Topology, p: int, q: int, cut: npt.NDArray[np.uint8]) -> Optimum:
    """Return the optimum whose 1/x* is ``p / q`` in lowest terms, in units of whole capacities.

    ``cut`` is 1 for the nodes of the bottleneck cut.
    """
    links = topology.integer_capacities
    divisor = math.gcd(q, *links.capacity.tolist())
    return Optimum(
        topology=topology,
        inverse_rate=Fraction(p, q) * links.denominator,
        cut=tuple(np.flatnonzero(cut).tolist()),
        k=q // divisor,
        congestion=Fraction(p, divisor) * links.denominator,
    )


def tree_capacities(topology: Topology, congestion: Fraction) -> npt.NDArray[np.int64]:
    """Return how many trees each link may carry: floor(U b), exact for the optimal U.

    Parameters
    ----------
    topology : Topology
    congestion : Fraction
        U, trees per GB/s.

    Raises
    ------
    CapacityOverflowError
        If the sum does not fit 62 bits.
    """
    links = topology.integer_capacities
    over, under = congestion.numerator, congestion.denominator * links.denominator
    trees = [capacity * over // under for capacity in links.capacity.tolist()]
    if sum(trees) >= 2**62:
        raise CapacityOverflowError(
            f"{topology.name}: the links must carry {sum(trees)} trees in all, beyond exact "
            f"64-bit arithmetic; round the bandwidths to fewer digits"
        )
    return np.array(trees, dtype=np.int64)
