"""Restricted master program of a fractional tree packing, and pricing of further trees.

Problem: state the trees' weights, the roots' sums and the links' loads; find the cheapest tree of
         every root under prices of the links.
Output:  the matrix program; the bound that the prices prove; trees with the weights of a solution.
Cost:    for prices: shortest paths from every GPU and a cheapest tree for each.
Source:  :mod:`lp.allgather.fractional_packing`, in units of a first bound on x: a GPU cannot
         receive the shards of all others faster than its links allow.
"""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.csgraph import dijkstra

from forestcoll.topology import Topology
from lp.allgather.arborescence import cheapest_arborescence
from lp.solver.linear_program import Program, Vector

__all__ = ["PackedTree", "PackingProgram", "Priced"]


@dataclass(frozen=True, slots=True)
class PackedTree:
    """A spanning out-tree of the GPUs with its weight.

    Parameters
    ----------
    root : int
        Its rank.
    parent : tuple of int
        Rank of each rank's parent; -1 at the root.
    paths : tuple of tuples of int
        Positions of the nodes from each rank's parent to it, both included; empty at the root.
    weight_gb_s : float
        y_T: the rate of the root's data on this tree.
    """

    root: int
    parent: tuple[int, ...]
    paths: tuple[tuple[int, ...], ...] = field(repr=False)
    weight_gb_s: float = 0.0

    @property
    def hops(self) -> Counter[tuple[int, int]]:
        """The number of its paths over each link, by the positions of the link's ends."""
        return Counter(hop for path in self.paths for hop in itertools.pairwise(path))


@dataclass(frozen=True, slots=True)
class Priced:
    """The bound that the cheapest trees of all roots prove at given prices.

    Parameters
    ----------
    cost : float
        Total cost of these trees.
    bound : float
        Upper bound on x.
    """

    cost: float
    bound: float


class PackingProgram:
    """The program over the trees found so far, in units of ``scale_gb_s``."""

    def __init__(self, topology: Topology) -> None:
        self.topology = topology
        self.num_roots = topology.num_compute
        least = min(topology.ingress_gb_s[v] for v in topology.compute)
        self.scale_gb_s = float(least) / (self.num_roots - 1)
        # Rows of the links, and then of the shared capacities.
        limits = [link.bandwidth_gb_s for link in topology.links]
        limits += [group.bandwidth_gb_s for group in topology.shared]
        self._bandwidth = np.array(list(map(float, limits))) / self.scale_gb_s
        self._rows = {(e.tail, e.head): [i] for i, e in enumerate(topology.links)}
        for row, group in enumerate(topology.shared, start=len(topology.links)):
            for ends in group.links:
                self._rows[ends].append(row)
        # Paths start at the GPUs and end at copies of them, which nothing leaves.
        self._tail = np.array([e.tail for e in topology.links])
        end = {v: len(topology.nodes) + rank for v, rank in topology.rank_of.items()}
        self._head = np.array([end.get(e.head, e.head) for e in topology.links])
        self._trees: dict[tuple[object, ...], PackedTree] = {}
        self._first: Vector | None = None

    @property
    def num_columns(self) -> int:
        """Trees found so far."""
        return len(self._trees)

    def first_prices(self) -> Vector:
        """Return initial prices, which are higher for narrower links."""
        if self._first is None:
            plain = 1 / self._bandwidth
            self._first = plain / self.price(plain).cost
        return self._first

    def price(self, prices: Vector) -> Priced:
        """Add the cheapest tree of every root, unless already present, and return the bound."""
        distance, before = self._paths(prices)
        cost = 0.0
        for root in range(self.num_roots):
            parent = cheapest_arborescence(distance, root)
            cost += sum(float(distance[u, v]) for v, u in enumerate(parent) if u >= 0)
            self._add(root, parent, before)
        return Priced(cost, float(prices @ self._bandwidth) / cost)

    def stated(self) -> Program:
        """Return the program of the largest x over the trees so far."""
        trees = list(self._trees.values())
        entries = [(tree.root, j, 1.0) for j, tree in enumerate(trees)]
        entries += [(root, len(trees), -1.0) for root in range(self.num_roots)]
        entries += [
            (self.num_roots + row, j, float(count))
            for j, tree in enumerate(trees)
            for hop, count in tree.hops.items()
            for row in self._rows[hop]
        ]
        rows, columns, values = zip(*entries, strict=True)
        size = (self.num_roots + len(self._bandwidth), len(trees) + 1)
        upper = np.concatenate([np.zeros(self.num_roots), self._bandwidth])
        lower = np.append(np.zeros(self.num_roots), np.full(len(self._bandwidth), -np.inf))
        cost = np.zeros(size[1])
        cost[-1] = 1
        return Program(
            cost,
            sp.coo_array((values, (rows, columns)), shape=size).tocsr(),
            lower,
            upper,
            np.zeros(size[1]),
            self._beyond(len(trees)),
            maximise=True,
        )

    def _beyond(self, trees: int) -> Vector:
        """Return column bounds beyond any solution, so that all prices stay on the links' rows."""
        return np.append(np.full(trees, 2 * self._bandwidth.max()), 2.0)

    def weighted(self, x: Vector) -> list[PackedTree]:
        """Return the trees with a positive weight; trees added later have none yet."""
        weights = (x[:-1] * self.scale_gb_s).tolist()
        return [
            replace(tree, weight_gb_s=weight)
            for tree, weight in zip(self._trees.values(), weights, strict=False)
            if weight > 0
        ]

    def _paths(self, prices: Vector) -> tuple[Vector, npt.NDArray[np.int32]]:
        """Return the price of the cheapest path from GPU to GPU, and each node's before."""
        size = len(self.topology.nodes) + self.num_roots
        of_links = [sum(prices[row] for row in rows) for rows in self._rows.values()]
        graph = sp.csr_array((of_links, (self._tail, self._head)), shape=(size, size))
        distance, before = dijkstra(
            graph, indices=list(self.topology.compute), return_predecessors=True
        )
        return distance[:, len(self.topology.nodes) :], before

    def _add(self, root: int, parent: list[int], before: npt.NDArray[np.int32]) -> None:
        paths = tuple(self._path(before, above, v) for v, above in enumerate(parent))
        key = (root, paths)
        if key not in self._trees:
            self._trees[key] = PackedTree(root, tuple(parent), paths)

    def _path(self, before: npt.NDArray[np.int32], above: int, rank: int) -> tuple[int, ...]:
        if above < 0:
            return ()
        path, at = [self.topology.compute[rank]], len(self.topology.nodes) + rank
        while at != self.topology.compute[above]:
            at = int(before[above, at])
            path.append(at)
        return tuple(reversed(path))
