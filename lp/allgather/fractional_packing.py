"""Optimal fractional tree packing by column generation: an oracle for the exact core.

Problem: over all spanning out-trees T of the GPUs, whose edges are paths through switches,

             max  x
             s.t. sum of y_T over the T rooted at v  = x      for every GPU v
                  sum of y_T load_T(e)              <= b_e    for every link e
                  y >= 0

         where load_T(e) counts the edges of T whose path uses e. There are too many trees to state
         them all. With prices p_e of the links, the best tree to add from v is the cheapest, and

             x <= sum_e p_e b_e / sum_v (price of the cheapest tree from v)

         for any prices (weak duality). So the best bound so far and the value of the trees found so
         far enclose the optimum.
Output:  x and its bound in GB/s as floats, with the trees and their weights; N x is the algorithmic
         bandwidth, the core's N x*.
Cost:    per round one linear program, shortest paths from every GPU, and N cheapest trees of
         O(N^3) each (times: docs/mathematics/allgather-programs.md).
Source:  Edmonds' theorem on disjoint branchings in its fractional form, as ForestColl section 5
         uses it; pricing by Chu-Liu/Edmonds (:mod:`lp.allgather.arborescence`). Prices are smoothed
         (Wentges 1997).

An edge from u to v costs as much as the cheapest path through switches, which do not multicast. A
path through another GPU is unnecessary: that GPU is in the tree anyway, and splitting the path
there costs no more.
"""

from __future__ import annotations

import itertools
import time
from collections import Counter
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.csgraph import dijkstra

from forestcoll.errors import SolverError, TimeLimitError
from forestcoll.solver.linear_program import Program, Settings, Solution, Vector
from forestcoll.solver.solve import solve
from forestcoll.topology import Topology
from forestcoll.topology.validation import validate
from lp.allgather.arborescence import cheapest_arborescence

__all__ = [
    "GAP", "FractionalPacking", "PackedTree", "PackingProgram", "Priced", "fractional_packing",
]  # fmt: skip


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
    """The restricted program over the trees found so far, in units of ``scale_gb_s``.

    The unit is a first bound on x: a GPU cannot receive the shards of all others faster than its
    links allow.
    """

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


GAP = 5e-8
"""Value and bound may differ by so much, relatively, at the end."""

_SMOOTHING = 0.7
"""How much of the prices comes from the best bound's."""

_FLOOR = 1e-10
"""Of the first prices, below which none falls: of two ways for nothing, the shorter is taken."""


@dataclass(frozen=True, slots=True)
class FractionalPacking:
    """A fractional packing: trees that share the links, with its rate and bound.

    Parameters
    ----------
    rate_gb_s : float
        x: the sum of the weights of every root's trees.
    bound_gb_s : float
        Upper bound on x of any packing.
    trees : tuple of PackedTree
        Those with a weight.
    rounds, columns : int
        Programs solved, and trees generated.
    status : str
        "optimal": rate and bound differ by no more than :data:`GAP`.
    tolerance : float
        Largest violation of a constraint, in units of the first bound on x.
    """

    topology: Topology
    rate_gb_s: float
    bound_gb_s: float
    trees: tuple[PackedTree, ...] = field(repr=False)
    rounds: int
    columns: int
    status: str
    tolerance: float

    @property
    def algbw_gb_s(self) -> float:
        """N x."""
        return self.rate_gb_s * self.topology.num_compute


def fractional_packing(topology: Topology, settings: Settings) -> FractionalPacking:
    """Find the best fractional packing.

    Parameters
    ----------
    settings : Settings
        The time limit is for all rounds together.

    Raises
    ------
    InvalidTopologyError
        Unless an allgather is possible (:func:`forestcoll.topology.validate`).
    TimeLimitError
        With the FractionalPacking so far as incumbent, and the best bound on x in GB/s.
    SolverError
        If the solver fails.

    Examples
    --------
    In a ring of 4 GPUs each sends its shard both ways, 3 hops in all for every tree: 12 x <= 8.

    >>> from forestcoll.topology import load_topology
    >>> found = fractional_packing(load_topology("ring:nodes=4"), Settings(seconds=10))
    >>> round(found.rate_gb_s, 6), round(found.bound_gb_s, 6)
    (0.666667, 0.666667)
    """
    validate(topology, "allgather")
    program = PackingProgram(topology)
    deadline = time.monotonic() + settings.seconds
    centre = program.first_prices()
    bound = program.price(centre).bound
    rounds, x = 0, np.zeros(1)
    while True:
        try:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeLimitError("no time is left")
            solution = solve(program.stated(), replace(settings, seconds=left))
        except TimeLimitError as error:
            so_far = _result(program, x, bound, rounds, "feasible", settings)
            raise TimeLimitError(
                f"{topology.name}: the limit of {settings.seconds:g} s was reached after "
                f"{rounds} rounds; x is from {so_far.rate_gb_s:.9g} to {so_far.bound_gb_s:.9g} "
                f"GB/s; allow more time",
                incumbent=so_far,
                bound=so_far.bound_gb_s,
            ) from error
        rounds, x, known = rounds + 1, solution.x, program.num_columns
        bound, centre = _improved(program, solution, bound, centre)
        if bound <= solution.objective * (1 + GAP):
            return _result(program, x, bound, rounds, solution.status, settings)
        if program.num_columns == known:
            raise SolverError(
                f"{topology.name}: no tree helps, yet the bound exceeds the value by a factor of "
                f"{bound / solution.objective:.12g}; the solver is not accurate enough"
            )


def _improved(
    program: PackingProgram, solution: Solution, bound: float, centre: Vector
) -> tuple[float, Vector]:
    """Add trees at smoothed prices, then at plainer ones until a tree is new or the bound closes.

    Returns the best bound and its prices.
    """
    assert solution.row_duals is not None  # there are no whole variables
    own = np.maximum(solution.row_duals[program.num_roots :], 0) + _FLOOR * program.first_prices()
    known = program.num_columns
    for smoothing in (_SMOOTHING, _SMOOTHING / 2, 0.0):
        prices = smoothing * centre + (1 - smoothing) * own
        priced = program.price(prices)
        if priced.bound < bound:
            bound, centre = priced.bound, prices / priced.cost
        if program.num_columns > known or bound <= solution.objective * (1 + GAP):
            break
    return bound, centre


def _result(
    program: PackingProgram,
    x: Vector,
    bound: float,
    rounds: int,
    status: str,
    settings: Settings,
) -> FractionalPacking:
    return FractionalPacking(
        topology=program.topology,
        rate_gb_s=float(x[-1]) * program.scale_gb_s,
        bound_gb_s=bound * program.scale_gb_s,
        trees=tuple(program.weighted(x)),
        rounds=rounds,
        columns=program.num_columns,
        status=status,
        tolerance=settings.tolerance,
    )
