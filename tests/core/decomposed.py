"""A network at the optimum, decomposed and without its switches, for the tests of both."""

from __future__ import annotations

import random
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from forestcoll.core.edge_splitting import LogicalTopology, remove_switches
from forestcoll.core.optimality import optimum
from forestcoll.core.problem import Problem
from forestcoll.core.tight_sets import TightSets, decompose
from forestcoll.topology import Topology

Capacity = dict[tuple[int, int], int]


@dataclass(frozen=True, slots=True)
class Decomposed:
    """A network up to the removal of its switches; links in dictionaries.

    ``before`` joins all nodes, ``after`` GPUs only; both by position in the topology.
    """

    topology: Topology
    trees: dict[int, int]
    before: Capacity
    sets: TightSets
    after: Capacity

    @classmethod
    def of(cls, topology: Topology, *, sparse_exchange: bool = False) -> Decomposed:
        best = optimum(topology)
        trees = np.full(topology.num_compute, best.k, dtype=np.int64)
        parts = decompose(Problem.at(topology, best.congestion, trees))
        logical = remove_switches(parts.problem, parts.sets, sparse_exchange=sparse_exchange)
        return cls(
            topology,
            dict.fromkeys(topology.compute, best.k),
            links_of(topology, parts.problem.capacity),
            parts.sets,
            logical_links(topology, logical),
        )

    def surplus(self, capacity: Capacity, inside: Collection[int]) -> int:
        """h(X), counted link by link."""
        outside = sum(count for node, count in self.trees.items() if node not in inside)
        return entering(capacity, inside) - outside


def links_of(topology: Topology, capacity: npt.NDArray[np.int64]) -> Capacity:
    ends = ((link.tail, link.head) for link in topology.links)
    return dict(zip(ends, capacity.tolist(), strict=True))


def logical_links(topology: Topology, logical: LogicalTopology) -> Capacity:
    gpus = np.array(topology.compute)
    ends = zip(gpus[logical.tail].tolist(), gpus[logical.head].tolist(), strict=True)
    return dict(zip(ends, logical.capacity.tolist(), strict=True))


def entering(capacity: Capacity, inside: Collection[int]) -> int:
    """d(X)."""
    return sum(
        room for (tail, head), room in capacity.items() if head in inside and tail not in inside
    )


def members(sets: TightSets) -> list[set[int]]:
    """Return the nodes of each set: those of the sets inside it, and its own."""
    found: list[set[int]] = [set() for _ in range(len(sets))]
    for node, number in enumerate(sets.set_of.tolist()):
        while number >= 0:
            found[number].add(node)
            number = int(sets.parent[number])
    return found


def some_trees(topology: Topology, chance: random.Random) -> dict[int, int]:
    """Root trees at GPUs; at some of them none."""
    return {gpu: chance.choice([0, 1, 1, 2, 5]) for gpu in topology.compute}
