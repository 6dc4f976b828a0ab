"""Multicast forests: physical trees through switches that multicast and reduce.

A node that *copies* holds the data of a tree and sends it as often as needed: a GPU, or a switch
marked ``multicast``. A *walk* leads from one such node to the next, through nodes that only
forward. A tree is a set of walks in which every multicasting node but the root gets the data once.
So a unit that enters a forwarding node leaves it once, on the same walk.

In a reduction the walks run the other way: every node but the root sends its sum once, and a marked
switch reduces as a GPU does.

NVLS sends more than that: a switch multicasts to all GPUs of its box, the sender included, and
reduces the data of all of them, that of the sum's receiver included. *Loopback* is a walk from a
switch back to a GPU that sends to it in the same tree; in a reduction, a walk from a GPU to the
switch that sends it the sum. Loopback loads its links but is not part of the tree.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from forestcoll.problem.optimum import Optimum
from forestcoll.schedule.equality import ByValue
from forestcoll.schedule.exact_sums import exact
from forestcoll.schedule.tree_flow import TreeFlow
from forestcoll.topology.model import Topology

__all__ = ["MulticastForest", "PhysicalTree", "Walks"]


@dataclass(frozen=True, eq=False)
class Walks(ByValue):
    """Paths through the network from one multicasting node to another, in compressed rows.

    Walk i visits ``node[first_node[i]:first_node[i + 1]]`` (int64 rows, int32 positions in the
    topology), both ends included, in the direction of the data.
    """

    first_node: npt.NDArray[np.int64]
    node: npt.NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.first_node) - 1

    @property
    def tail(self) -> npt.NDArray[np.int32]:
        """Where each walk starts."""
        return self.node[self.first_node[:-1]]

    @property
    def head(self) -> npt.NDArray[np.int32]:
        """Where each walk ends."""
        return self.node[self.first_node[1:] - 1]

    def taken(self, which: npt.NDArray[np.int64]) -> Walks:
        """Return some of the walks, in the order given."""
        length = np.diff(self.first_node)[which]
        first = np.concatenate([[0], np.cumsum(length)]).astype(np.int64)
        row = np.repeat(np.arange(len(which)), length)
        return Walks(
            first, self.node[self.first_node[which][row] + np.arange(first[-1]) - first[row]]
        )

    def backwards(self) -> Walks:
        """Return the same walks, each from its other end."""
        first, length = self.first_node, np.diff(self.first_node)
        ends = np.repeat(first[:-1] + first[1:] - 1, length)
        return Walks(first, self.node[ends - np.arange(len(ends))])

    def nodes(self, walk: int) -> tuple[int, ...]:
        """Return the nodes of one walk."""
        return tuple(self.node[self.first_node[walk] : self.first_node[walk + 1]].tolist())


@dataclass(frozen=True, slots=True)
class PhysicalTree:
    """A batch of ``multiplicity`` equal trees of the shard of rank ``root``.

    ``walks`` are the nodes of its walks, those nearest the root first.
    """

    root: int
    multiplicity: int
    walks: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, eq=False, repr=False)
class MulticastForest(TreeFlow):
    """A tree-flow schedule in which marked switches multicast (or, in a reduction, reduce).

    Parameters
    ----------
    method : str
        The method that made the original forest.
    k : int
        Trees per root, counted with multiplicity.
    congestion : Fraction
        U, in trees per GB/s, as in :class:`forestcoll.schedule.Forest`.
    root, multiplicity : int32 and int64 arrays of length B
        The batches of equal trees.
    first_walk : int64 array of length B + 1
        The walks of batch b are ``walk[first_walk[b]:first_walk[b + 1]]``.
    walk : int32 array
        Numbers of walks; in each batch, those nearest the root come first.
    walks : Walks
        Each walk in use, once.
    optimum : Optimum, optional
        The bound this forest attains, with the cut that proves it; None when nothing is claimed.
    weights : tuple of int
        One for each rank, as in :class:`forestcoll.schedule.Forest`.
    reduction : bool
        Whether the trees sum up what they carry on the way to their roots.
    """

    topology: Topology = field(hash=False)
    method: str
    k: int
    congestion: Fraction
    root: npt.NDArray[np.int32] = field(repr=False)
    multiplicity: npt.NDArray[np.int64] = field(repr=False)
    first_walk: npt.NDArray[np.int64] = field(repr=False)
    walk: npt.NDArray[np.int32] = field(repr=False)
    walks: Walks = field(repr=False)
    optimum: Optimum | None = field(default=None, repr=False, hash=False)
    weights: tuple[int, ...] = field(default=(), repr=False)
    reduction: bool = False

    @property
    def num_batches(self) -> int:
        """Number of batches, B."""
        return len(self.root)

    @property
    def num_trees(self) -> int:
        """Number of trees counted with multiplicity."""
        return int(self.multiplicity.sum())

    def loads(self, counted: npt.NDArray[np.bool_] | None = None) -> tuple[int, ...]:
        """Return the trees over each link of the topology, in its order, exactly.

        Walks are assumed to run over links of the topology; ``verify`` proves that.

        Parameters
        ----------
        counted : bool array, one entry an entry of ``walk``, optional
            Which walks of which batches to count; all if not given.
        """
        return self._all_loads if counted is None else self._loads(counted)

    @cached_property
    def _all_loads(self) -> tuple[int, ...]:
        return self._loads(None)

    def _loads(self, counted: npt.NDArray[np.bool_] | None) -> tuple[int, ...]:
        size, (tail, head) = len(self.topology.nodes), self.topology.link_ends
        trees = exact(self.multiplicity, len(self.walk))
        amount = np.repeat(trees, np.diff(self.first_walk))
        over = np.zeros(len(self.walks), dtype=trees.dtype)
        np.add.at(over, self.walk, amount if counted is None else np.where(counted, amount, 0))
        node = self.walks.node.astype(np.int64)
        inside = np.delete(np.arange(len(node)), self.walks.first_node[1:] - 1)
        known = tail.astype(np.int64) * size + head  # sorted, as the links are
        hops = node[inside] * size + node[inside + 1]
        if size * size <= len(hops):  # then a table of all pairs is faster than searches
            table = np.zeros(size * size, dtype=np.int64)
            table[known] = np.arange(len(known))
            place = table[hops]
        else:
            place = np.searchsorted(known, hops)
        over = exact(over, len(inside))
        load = np.zeros(len(known), dtype=over.dtype)
        np.add.at(load, place, np.repeat(over, np.diff(self.walks.first_node) - 1))
        return tuple(load.tolist())

    @property
    def loopback(self) -> npt.NDArray[np.bool_]:
        """Whether each entry of ``walk`` is loopback: it brings data to a node that has it.

        Its tree also has the opposite walk, from the GPU to the switch.
        """
        near, far = (end.astype(np.int64) for end in self.ends())
        size = len(self.topology.nodes)
        is_switch = np.array([node.is_switch for node in self.topology.nodes], dtype=bool)
        there, back = near * size + far, far * size + near
        leads_back = is_switch[near] & ~is_switch[far] & np.isin(back, there)
        if not leads_back.any():
            return np.zeros(len(self.walk), dtype=np.bool_)
        batch = np.repeat(np.arange(self.num_batches), np.diff(self.first_walk)) * size**2
        found = np.isin(batch + back[self.walk], batch + there[self.walk])
        return np.asarray(leads_back[self.walk] & found)

    def measured(self) -> MulticastForest:
        """Return the same forest with the congestion of its loads; unchanged if no data moves.

        The load of a shared capacity is the sum over its links.
        """
        loads = self.loads()
        most: dict[int, int] = {}  # links of one bandwidth are compared as whole numbers
        under, widths = self.topology.whole_bandwidths
        for load, width in zip(loads, widths, strict=True):
            if load > most.get(width, 0):
                most[width] = load
        # A fraction for each bandwidth, not for each link: there are few.
        found = [Fraction(load * under, width) for width, load in most.items()]
        for members, limit in self.topology.shared_places:
            found.append(sum(loads[i] for i in members) / limit)
        made = replace(self, congestion=max(found, default=Fraction(0)) or self.congestion)
        vars(made)["_all_loads"] = loads  # the same whatever the congestion
        return made

    def depths(self, *, links: bool = False) -> npt.NDArray[np.int32]:
        """Walks from the root to the far end of each walk, one entry an entry of ``walk``.

        A hop into a multicast switch counts as one, and so does a hop out of it. With ``links``,
        each walk counts the links that it has.
        """
        batch = np.repeat(np.arange(self.num_batches), np.diff(self.first_walk))
        near, far = self.ends()
        size = len(self.topology.nodes)
        entry = np.where(
            self.loopback, -1, batch * size + far[self.walk]
        )  # loopback brings no data
        order = np.argsort(entry, kind="stable")
        wanted = batch * size + near[self.walk]
        place = np.minimum(np.searchsorted(entry[order], wanted), max(len(entry) - 1, 0))
        jump = np.append(order[place], len(entry)) if len(entry) else np.zeros(1, dtype=np.int64)
        jump[:-1][entry[jump[:-1]] != wanted] = len(entry)  # at the root
        length = np.diff(self.walks.first_node)[self.walk] - 1 if links else np.ones(len(entry))
        depth = np.append(length.astype(np.int32), np.int32(0))
        for _ in range(size.bit_length()):
            depth, jump = depth + depth[jump], jump[jump]
        return depth[:-1]

    def tree_depths(self) -> npt.NDArray[np.int32]:
        """Walks from the root to the farthest node of each batch, length B."""
        batch = np.repeat(np.arange(self.num_batches), np.diff(self.first_walk))
        depth = np.zeros(self.num_batches, dtype=np.int32)
        np.maximum.at(depth, batch, self.depths())
        return depth

    def trees(self) -> Iterator[PhysicalTree]:
        """Yield the batches one by one, in order."""
        nodes = [self.walks.nodes(i) for i in range(len(self.walks))]
        for batch in range(self.num_batches):
            row = self.walk[self.first_walk[batch] : self.first_walk[batch + 1]].tolist()
            yield PhysicalTree(
                int(self.root[batch]),
                int(self.multiplicity[batch]),
                tuple(nodes[i] for i in row),
            )

    def ends(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Return the end of each walk that is nearer the root of its trees, and the other."""
        ends = self.walks.tail, self.walks.head
        return ends[::-1] if self.reduction else ends
