"""Search for depth-bounded spanning trees of low congestion.

Problem: trees rooted at GPUs, none deeper than h hops from GPU to GPU, on physical links.
Input:   a network; initial batches of trees, or only their roots; h; a bound at which to end.
Output:  a forest within h, with its exact congestion; or None where numbers are too large.
Cost:    a budget of visits to links; some trees are within h at once.
Source:  Own; McMurchie and Ebeling (1995), PathFinder, for link prices that rise with overload.
         See docs/mathematics/depth-bounded-trees.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from forestcoll.core.problem import is_target
from forestcoll.native import _core
from forestcoll.problem.optimum import Optimum
from forestcoll.schedule.forest import Forest, Routes
from forestcoll.schedule.pipelined import loads_of_routes, slowest_of_loads
from forestcoll.topology.model import Topology

__all__ = ["Seeds", "depth_bounded_trees", "fits", "seeds"]

_MOST_TREES = 2**26
_MOST_CAPACITY = 2**40
_PARTS = 8  # most batches of one root
_ALL_PARTS = 32  # batches in all, if there are few roots


@dataclass(frozen=True, slots=True, eq=False)
class Seeds:
    """Initial batches of trees; without parents, the search grows the trees.

    Parameters
    ----------
    k : int
        Trees per unit of weight.
    root, multiplicity : int32 and int64 arrays of length B
    parent : int32 array of shape (B, N), or (0, N) for none
    """

    k: int
    root: npt.NDArray[np.int32]
    multiplicity: npt.NDArray[np.int64]
    parent: npt.NDArray[np.int32]

    @classmethod
    def of(cls, forest: Forest) -> Seeds:
        """Return the trees of a forest."""
        return cls(forest.k, forest.root, forest.multiplicity, forest.parent)


def seeds(weights: Sequence[int], k: int) -> Seeds:
    """Return seeds of roots alone: k w(r) trees of each root r, in a few batches."""
    most = max(_PARTS, _ALL_PARTS // max(1, sum(weight > 0 for weight in weights)))
    parts = [
        (rank, part) for rank, weight in enumerate(weights) for part in _parts(k * weight, most)
    ]
    return Seeds(
        k=k,
        root=np.array([rank for rank, _ in parts], dtype=np.int32),
        multiplicity=np.array([part for _, part in parts], dtype=np.int64),
        parent=np.zeros((0, len(weights)), dtype=np.int32),
    )


def _parts(trees: int, most: int) -> list[int]:
    number = min(trees, most)
    return [(trees + place) // number for place in range(number)]


def fits(network: Topology, weights: Sequence[int], k: int) -> bool:
    """Whether the numbers are small enough for the search."""
    links = network.integer_capacities.capacity
    return k * sum(weights) < _MOST_TREES and int(links.max(initial=0)) < _MOST_CAPACITY


def depth_bounded_trees(
    network: Topology,
    weights: Sequence[int],
    begin: Seeds,
    depth: int,
    bound: Fraction,
    *,
    optimum: Optimum | None = None,
    looks: int,
    progress: Callable[[int, int], None] | None = None,
) -> Forest:
    """Search for trees within a depth.

    Raises InfeasibleError if the depth is below the eccentricity of a root.

    Parameters
    ----------
    network : Topology
        The network on which out-trees are packed.
    depth : int
        In hops from GPU to GPU.
    bound : Fraction
        A lower bound on 1/x, in s/GB per unit of weight; the search ends when it is attained.
    optimum : Optimum, optional
        Claimed if the trees attain it.
    looks : int
        Number of visits to links after which the search ends.
    progress : callable, optional
        Called with (done, total) now and then; may raise to stop.
    """
    links = network.integer_capacities
    least = begin.k * bound / links.denominator
    if max(least.numerator, least.denominator) >= 2**62:
        # A bound of too many digits is left out; the search then uses its whole budget.
        least = Fraction(0)
    parent, tail, head, first_path, multiplicity, first_hop, hop = _core.depth_bounded_trees(
        len(network.nodes),
        links.tail,
        links.head,
        links.capacity,
        is_target(network),
        begin.root,
        begin.multiplicity,
        np.ascontiguousarray(begin.parent).reshape(-1),
        depth,
        least.numerator,
        least.denominator,
        looks,
        progress,
    )
    routes = Routes(tail, head, first_path, multiplicity, first_hop, hop)
    congestion, _ = slowest_of_loads(network, loads_of_routes(network, routes))
    attained = optimum is not None and congestion == begin.k * optimum.inverse_rate
    return Forest(
        topology=network,
        method="forestcoll",
        k=begin.k,
        congestion=congestion,
        root=begin.root,
        multiplicity=begin.multiplicity,
        parent=parent,
        routes=routes,
        optimum=optimum if attained else None,
        weights=tuple(weights),
    )
