"""Every cut of a small network, enumerated.

Problem: 1/x* = max over X that meets the targets of (Q - q(X)) / d(X), where q(X) is the number of
         trees rooted in X, Q that of all trees, and d(X) the capacity into X. For an allgather
         that is max over S that misses a GPU of |GPUs in S| / B+(S), with S the complement of X.
Input:   at most ``MAX_NODES`` nodes.
Output:  the exact fraction with a maximising S; or a set with too little capacity, if there is one.
Cost:    one vector operation over all 2^n sets per link and node.
Source:  ForestColl section 4, the bound (*), and Theorem 8.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from forestcoll.errors import DisconnectedError
from forestcoll.topology.model import Topology
from tests.reference.flow import integer_graph

MAX_NODES = 16
"""Where enumeration stops being a matter of milliseconds (10 nodes take less than one)."""

Booleans = npt.NDArray[np.bool_]
Integers = npt.NDArray[np.int64]


def enumerate_optimum(
    topology: Topology,
    weights: Mapping[int, int] | None = None,
    targets: Collection[int] | None = None,
) -> tuple[Fraction, tuple[int, ...]]:
    """Return 1/x* in seconds per GB and a bottleneck cut S*, as positions in the topology.

    Parameters
    ----------
    topology : Topology
    weights : mapping of int to int, optional
        Data that each node starts with; 1 at every GPU (an allgather) if not given.
    targets : collection of int, optional
        Nodes that want all the data; all GPUs if not given.
    """
    capacity, factor = integer_graph(topology)
    if weights is None:
        weights = dict.fromkeys(topology.compute, 1)
    ratio, cut = worst_cut(capacity, weights, topology.compute if targets is None else targets)
    return ratio * factor, tuple(sorted(cut))


def worst_cut(
    capacity: Mapping[tuple[int, int], int],
    trees: Mapping[int, int],
    targets: Collection[int] | None = None,
) -> tuple[Fraction, frozenset[int]]:
    """Return max (Q - q(X)) / d(X) over the X that meet the targets, and S, the rest, for one X.

    Raises
    ------
    DisconnectedError
        If data outside some X has no way in.
    """
    sets = AllSets.of(capacity, trees, targets)
    best, best_set = Fraction(0), len(sets.meets) - 1
    for wanted in np.unique(sets.wanted[sets.meets & (sets.wanted > 0)]).tolist():
        # Among the sets that want as much, only the narrowest matters.
        candidates = np.flatnonzero(sets.meets & (sets.wanted == wanted))
        narrowest = int(candidates[np.argmin(sets.entering[candidates])])
        room = int(sets.entering[narrowest])
        if room == 0:
            raise DisconnectedError(f"no link enters {sorted(sets.members(narrowest))}")
        if Fraction(wanted, room) > best:
            best, best_set = Fraction(wanted, room), narrowest
    return best, frozenset(sets.nodes) - sets.members(best_set)


def violated_set(
    capacity: Mapping[tuple[int, int], int],
    trees: Mapping[int, int],
    targets: Collection[int] | None = None,
) -> frozenset[int] | None:
    """Return a set X that meets the targets with d(X) < Q - q(X), or None if there is none.

    Parameters
    ----------
    capacity : mapping of (int, int) to int
        Trees that each link may carry.
    trees : mapping of int to int
        Trees rooted at each node (q).
    targets : collection of int, optional
        Nodes every tree must span; the keys of ``trees`` if not given.

    Notes
    -----
    Of several such sets it is one that lacks most.
    """
    sets = AllSets.of(capacity, trees, targets)
    surplus = np.where(sets.meets, sets.surplus, 0)
    worst = int(np.argmin(surplus))
    return sets.members(worst) if surplus[worst] < 0 else None


@dataclass(frozen=True, slots=True)
class AllSets:
    """All sets X of nodes; bit i of a set's number says whether it holds ``nodes[i]``.

    Of each set: ``entering`` d(X), ``wanted`` Q - q(X), and whether it ``meets`` the targets. The
    empty set and the set of all nodes are among them.
    """

    nodes: list[int]
    entering: Integers
    wanted: Integers
    meets: Booleans

    @classmethod
    def of(
        cls,
        capacity: Mapping[tuple[int, int], int],
        trees: Mapping[int, int],
        targets: Collection[int] | None,
    ) -> AllSets:
        targets = trees.keys() if targets is None else targets
        nodes = sorted({end for link in capacity for end in link} | set(trees) | set(targets))
        assert len(nodes) <= MAX_NODES, f"{len(nodes)} nodes have too many cuts to enumerate"
        assert sum(capacity.values()) + sum(trees.values()) < 2**62, "int64 would overflow"
        numbers = np.arange(2 ** len(nodes))
        holds = {node: (numbers >> i & 1).astype(np.bool_) for i, node in enumerate(nodes)}
        entering, wanted = np.zeros_like(numbers), np.zeros_like(numbers)
        for (tail, head), room in capacity.items():
            entering[~holds[tail] & holds[head]] += room
        for node, count in trees.items():
            wanted[~holds[node]] += count
        meets = np.zeros(len(numbers), dtype=np.bool_)
        for node in targets:
            meets |= holds[node]
        return cls(nodes, entering, wanted, meets)

    @property
    def surplus(self) -> Integers:
        """h(X) = d(X) - (Q - q(X)) of each set; tight sets have none."""
        return self.entering - self.wanted

    def number(self, members: Collection[int]) -> int:
        """Return the number of a set of nodes."""
        return sum(1 << i for i, node in enumerate(self.nodes) if node in members)

    def members(self, number: int) -> frozenset[int]:
        return frozenset(node for i, node in enumerate(self.nodes) if number >> i & 1)
