"""Edge splitting: replace switches by logical links and keep the throughput optimum.

Problem: replace pairs of links (u, w), (w, t) at every switch w by logical links (u, t) so that
         every cut still receives the trees rooted outside it.
Input:   a topology, the number of trees each link may carry, the trees rooted at each node.
Output:  links between GPUs only, and the splits in order: the table that leads back.
Cost:    one max-flow pass over the GPUs per switch where the first guess holds; a pass per
         repair; a pass per pair of ports where a switch must be split exactly.
Source:  ForestColl section 5.3, Theorems 4 to 6, Algorithms 2 and 3. Instead of one split at a
         time, whole matrices are guessed and repaired (see docs/mathematics/edge-splitting.md).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from forestcoll.core.problem import Problem
from forestcoll.core.tight_sets import TightSets
from forestcoll.native import _core
from forestcoll.topology.model import Topology

__all__ = ["LogicalTopology", "Splits", "ranks", "remove_switches"]


@dataclass(frozen=True, slots=True)
class Splits:
    """The routing table: ``amount`` trees over from -> via -> to now use a logical link.

    Four arrays of one length, in the order of the splits; nodes are positions in the topology.
    """

    via: npt.NDArray[np.int32]
    from_node: npt.NDArray[np.int32]
    to_node: npt.NDArray[np.int32]
    amount: npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class LogicalTopology:
    """The logical links between GPUs that remain after switch removal.

    Parameters
    ----------
    tail, head : int32 arrays
        Ends of the logical links as ranks of GPUs, sorted by (tail, head).
    capacity : int64 array
        Trees each link may carry.
    sets : TightSets
        The tight sets, over ranks.
    """

    tail: npt.NDArray[np.int32]
    head: npt.NDArray[np.int32]
    capacity: npt.NDArray[np.int64]
    sets: TightSets
    splits: Splits


def remove_switches(
    problem: Problem,
    sets: TightSets,
    *,
    sparse_exchange: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> LogicalTopology:
    """Split off every switch of a network.

    Raises InfeasibleError if the capacities cannot carry the trees, or a switch may send more than
    it receives.

    Parameters
    ----------
    sparse_exchange : bool
        Whether each of several equal boxes exchanges with few others instead of all. This gives
        fewer logical links and deeper trees with the same throughput.
    progress : callable, optional
        Called with (sets finished, sets in all) now and then; may raise to stop.
    """
    tail, head, logical, via, from_node, to_node, amount = _core.split_off_switches(
        *problem.arrays, sets.set_of, sets.parent, sparse_exchange, progress
    )
    return LogicalTopology(
        tail=tail,
        head=head,
        capacity=logical,
        # A split never widens a cut, and condition (C) keeps tight ones from narrowing: sets stay
        # tight.
        sets=TightSets(sets.set_of[list(problem.topology.compute)], sets.parent),
        splits=Splits(via, from_node, to_node, amount),
    )


def ranks(topology: Topology) -> npt.NDArray[np.int32]:
    """Return the rank of every node, -1 for switches."""
    rank = np.full(len(topology.nodes), -1, dtype=np.int32)
    rank[list(topology.compute)] = np.arange(topology.num_compute, dtype=np.int32)
    return rank
