"""ForestColl paper's own algorithms for the stages of the core, for comparison.

Problem: those of the core's stages. The optimum is unique, so both find the same one.
Input:   as the core's stages, without tight sets.
Output:  as the core's stages: optimum, logical links with their splits, batches of trees.
Cost:    with N GPUs and B the least ingress of one: log2(N B^2) probes of N max-flows; 2 N for
         every pair of links at a switch, fewer once nothing is left to split; one for every edge
         tried. Each max-flow starts from zero and ends at the value asked for. All run on one
         thread; the paper runs the first two sorts, and guesses of the third, in parallel.
Source:  ForestColl sections 5.2 to 5.4, Algorithms 1 to 4, Theorems 6 and 10, appendix E.1 to
         E.3; docs/mathematics/paper.md lists our interpretations of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from forestcoll.core.edge_splitting import LogicalTopology, Splits, ranks
from forestcoll.core.optimality import optimum_of
from forestcoll.core.problem import Problem, is_target
from forestcoll.core.tight_sets import TightSets
from forestcoll.native import _core
from forestcoll.problem.optimum import Optimum
from forestcoll.schedule.factored import Links
from forestcoll.topology.model import Topology
from forestcoll.topology.validation import validate

__all__ = ["Batches", "optimum", "pack_trees", "remove_switches"]


@dataclass(frozen=True, slots=True)
class Batches:
    """Packed trees: ``multiplicity[i]`` equal trees rooted at rank ``root[i]``.

    ``parent[i]`` gives the parent's rank of every rank, -1 at the root; shape (B, N), int32.
    ``links`` are the logical links in use.
    """

    root: npt.NDArray[np.int32]
    multiplicity: npt.NDArray[np.int64]
    parent: npt.NDArray[np.int32]
    links: Links


def optimum(topology: Topology, *, progress: Callable[[int, int], None] | None = None) -> Optimum:
    """Find the optimum by bisection: Algorithm 1.

    Parameters
    ----------
    progress : callable, optional
        Called with (probes done, probes in all) now and then; may raise to stop the search.

    Returns
    -------
    Optimum
        With the cut that starved the last failing probe, which is a bottleneck.

    Raises
    ------
    InvalidTopologyError
        If the network fails :func:`forestcoll.topology.validate` for an allgather.
    CapacityOverflowError
        If N B^2 times total bandwidth, in whole numbers, does not fit 62 bits; the core's search
        asks for less.

    Examples
    --------
    >>> from forestcoll.topology import load_topology
    >>> optimum(load_topology("dgx_a100:boxes=4")).inverse_rate
    Fraction(3, 25)
    """
    validate(topology)
    links = topology.integer_capacities
    p, q, cut, _ = _core.paper_optimality(
        len(topology.nodes), links.tail, links.head, links.capacity, is_target(topology), progress
    )
    return optimum_of(topology, p, q, cut)


def remove_switches(
    problem: Problem,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> LogicalTopology:
    """Split off every switch, one pair of links at a time: Algorithms 2 and 3.

    Raises InfeasibleError if the capacities cannot carry the trees, or a switch sends more than it
    receives.

    Parameters
    ----------
    progress : callable, optional
        Called with (switches removed, switches in all) now and then; may raise to stop.

    Returns
    -------
    LogicalTopology
        Its only tight set is the whole network: the paper does not search for tight sets.
    """
    tail, head, logical, via, from_node, to_node, amount = _core.paper_split_off_switches(
        *problem.arrays, progress
    )
    rank = ranks(problem.topology)
    whole = TightSets(np.zeros(len(problem.trees), dtype=np.int32), np.array([-1], dtype=np.int32))
    return LogicalTopology(
        tail=rank[tail],
        head=rank[head],
        capacity=logical,
        sets=whole,
        splits=Splits(via, from_node, to_node, amount),
    )


def pack_trees(
    logical: LogicalTopology,
    trees: npt.NDArray[np.int64],
    *,
    progress: Callable[[int, int], None] | None = None,
) -> Batches:
    """Pack spanning out-trees batch by batch: Algorithm 4.

    Raises InfeasibleError if some set of GPUs receives less than the trees rooted outside it
    (Theorem 7).

    Parameters
    ----------
    trees : int64 array, one entry a GPU
        Trees rooted at each rank.
    progress : callable, optional
        Called with (trees built, trees in all) now and then; may raise to stop.
    """
    root, multiplicity, parent, load = _core.paper_pack_trees(
        len(trees), logical.tail, logical.head, logical.capacity, trees, progress
    )
    used = load > 0
    links = Links(logical.tail[used], logical.head[used], load[used])
    return Batches(root, multiplicity, parent, links)
