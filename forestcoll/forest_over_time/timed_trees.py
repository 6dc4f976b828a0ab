"""Columns of the program of a forest over time: trees with their latency and their loads.

Problem: a tree of one root, carried to all roots of its orbit, loads which links how much?
Input:   a tree as parents and paths.
Output:  a column: latency, and the load of every link if each root of the orbit has the tree once.
Cost:    linear in the tree edges, times the roots of the orbit.
Source:  ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from forestcoll.forest_over_time.priced_hops import Floats, HopNetwork, Hops, Ints
from forestcoll.forest_over_time.rotations import Orbit
from forestcoll.schedule.forest import Forest

__all__ = ["Column", "TimedTree", "column_of", "trees_of"]

_MOST_TREES = 4096  # batches of a forest


@dataclass(frozen=True, slots=True)
class TimedTree:
    """A spanning tree with one path for each hop.

    Parameters
    ----------
    root : int
        A rank.
    parent : tuple of int
        The parent of each rank, -1 at the root.
    paths : tuple of tuples of int
        The nodes of the hop to each rank; empty at the root.
    """

    root: int
    parent: tuple[int, ...]
    paths: tuple[tuple[int, ...], ...] = field(repr=False)

    @classmethod
    def of(cls, hops: Hops, root: int, parent: Ints) -> TimedTree:
        """Return a tree with the cheapest path of each hop."""
        above = parent.tolist()
        paths = tuple(hops.path(up, rank) if up >= 0 else () for rank, up in enumerate(above))
        return cls(root, tuple(above), paths)

    def edges(self) -> list[tuple[int, int]]:
        """Return (parent, child) pairs, by depth."""
        children: list[list[int]] = [[] for _ in self.parent]
        for rank, above in enumerate(self.parent):
            if above >= 0:
                children[above].append(rank)
        found = [(self.root, child) for child in children[self.root]]
        for _, rank in found:
            found.extend((rank, child) for child in children[rank])
        return found

    def moved(self, nodes: Ints, rank_of: Sequence[int]) -> TimedTree:
        """Return the tree after a move of all nodes.

        Parameters
        ----------
        rank_of : sequence of int
            The rank of each node.
        """
        to = nodes.tolist()
        parent = [-1] * len(self.parent)
        paths: list[tuple[int, ...]] = [()] * len(self.parent)
        root = self.root
        for above, path in zip(self.parent, self.paths, strict=True):
            if above < 0:
                continue
            there = tuple(to[node] for node in path)
            child = rank_of[there[-1]]
            paths[child], parent[child] = there, rank_of[there[0]]
            if above == self.root:
                root = parent[child]
        return TimedTree(root, tuple(parent), tuple(paths))


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """A tree of each root of an orbit, at one rate.

    Parameters
    ----------
    orbit : int
        By place.
    tree : TimedTree
        Of the orbit's first root.
    latency : int
        Of the longest path, in ticks.
    loads : float array, one entry a link
    """

    orbit: int
    tree: TimedTree
    latency: int
    loads: Floats = field(repr=False)


def column_of(network: HopNetwork, orbits: Sequence[Orbit], orbit: int, tree: TimedTree) -> Column:
    """Return the column of a tree of the first root of an orbit."""
    arrive, used = {tree.root: 0}, []
    for above, rank in tree.edges():
        arrive[rank] = arrive[above] + network.latency_of(tree.paths[rank])
        used += network.links_of(tree.paths[rank])
    moved = orbits[orbit].links[:, used].reshape(-1)
    loads = np.bincount(moved, minlength=len(network.links.tail)) / orbits[orbit].images
    return Column(orbit, tree, max(arrive.values()), loads)


def trees_of(forest: Forest, node: Sequence[int]) -> Iterator[TimedTree]:
    """Yield the trees of a forest of out-trees, cut wherever the path of a hop changes.

    Nothing is yielded if they are very many; a tree may come again.

    Parameters
    ----------
    node : sequence of int
        The name that each node has in the trees.
    """
    if forest.num_batches > _MOST_TREES:
        return
    routes = {
        ends: [(path.multiplicity, tuple(node[one] for one in path.nodes)) for path in paths]
        for ends, paths in forest.routes.paths().items()
    }
    before = dict.fromkeys(routes, 0)
    for tree in forest.trees():
        parts = {}
        for ends in tree.edges:
            parts[ends[1]] = _parts(routes[ends], before[ends], tree.multiplicity)
            before[ends] += tree.multiplicity
        parent = [-1] * forest.topology.num_compute
        for above, rank in tree.edges:
            parent[rank] = above
        for start in sorted({first for part in parts.values() for first, _ in part}):
            paths = tuple(
                [path for first, path in parts[rank] if first <= start][-1] if above >= 0 else ()
                for rank, above in enumerate(parent)
            )
            yield TimedTree(tree.root, tuple(parent), paths)


def _parts(
    paths: Sequence[tuple[int, tuple[int, ...]]], first: int, count: int
) -> list[tuple[int, tuple[int, ...]]]:
    """Return where each path of a hop begins, counted from the first of some trees."""
    found: list[tuple[int, tuple[int, ...]]] = []
    upto = 0
    for multiplicity, nodes in paths:
        start, upto = upto, upto + multiplicity
        if upto > first and start < first + count and not (found and found[-1][1] == nodes):
            found.append((max(0, start - first), nodes))
    return found
