"""Hops from GPU to GPU over switches, the cheapest by prices of links.

Problem: trees of a forest are made of hops between GPUs; which path should a hop take, and what
         does it cost and how long does it last?
Input:   links in the direction of the data, a price for each.
Output:  cost and latency of the cheapest path of every pair of GPUs, and the path itself.
Cost:    a shortest path search from each GPU that ends at GPUs.
Source:  ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.csgraph import dijkstra

from forestcoll.problem.over_time.timed_links import TimedLinks

__all__ = ["HopNetwork", "Hops"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_TIE = 1e-9
"""Weight of the latency beside the price: of paths at one price the faster one is taken, and of
equally fast ones that of fewer links. Any path is right; only the search depends on it."""


@dataclass(frozen=True, eq=False)
class Hops:
    """The cheapest path of every pair of GPUs, by rank.

    Parameters
    ----------
    cost : float array of shape (N, N)
        Infinite where no path leads without passing a GPU.
    """

    cost: Floats
    _before: Ints = field(repr=False)
    _network: HopNetwork = field(repr=False)

    @cached_property
    def latency(self) -> Ints:
        """In ticks, of shape (N, N); no meaning where the cost is infinite."""
        return self._network.latencies(self._before)

    def path(self, parent: int, child: int) -> tuple[int, ...]:
        """Return the nodes of a hop, both GPUs included."""
        gpus = self._network.gpus
        nodes = [gpus[child]]
        while (node := int(self._before[parent, nodes[-1]])) < self._network.links.nodes:
            nodes.append(node)
        return (gpus[parent], *nodes[::-1])


class HopNetwork:
    """Links as a graph in which paths end at the first GPU.

    Parameters
    ----------
    links : TimedLinks
    gpus : sequence of int
        The node of each rank.
    """

    def __init__(self, links: TimedLinks, gpus: Sequence[int]) -> None:
        self.links, self.gpus = links, tuple(gpus)
        self.place = {ends: i for i, ends in enumerate(zip(links.tail, links.head, strict=True))}
        # A GPU has a second node, from which it sends: its first one leads nowhere.
        sends = {gpu: links.nodes + rank for rank, gpu in enumerate(self.gpus)}
        self._tail = np.array([sends.get(tail, tail) for tail in links.tail], dtype=np.int64)
        self._head = np.array(links.head, dtype=np.int64)
        self._latency = np.array(links.latency, dtype=np.int64)
        self._size = links.nodes + len(self.gpus)
        self._order = np.lexsort((self._head, self._tail))
        degrees = np.bincount(self._tail, minlength=self._size)
        self._first = np.concatenate([[0], np.cumsum(degrees)])

    def hops(self, prices: Floats | None = None) -> Hops:
        """Return the cheapest hops by prices of the links; the fastest if none are given."""
        slow = self._latency / max(1, int(self._latency.max(initial=1)))
        weight = slow + _TIE
        if prices is not None:
            scale = float(prices.max(initial=0.0)) or 1.0
            weight = np.maximum(prices, 0) + _TIE * scale * weight
        rows = (weight[self._order], self._head[self._order], self._first)
        graph = sp.csr_matrix(rows, shape=(self._size,) * 2)
        starts = self._size - len(self.gpus) + np.arange(len(self.gpus))
        cost, before = dijkstra(graph, indices=starts, return_predecessors=True)
        return Hops(cost[:, self.gpus], before.astype(np.int64), self)

    def links_of(self, path: Sequence[int]) -> list[int]:
        """Return the links of a path, by place."""
        return [self.place[ends] for ends in pairwise(path)]

    def latency_of(self, path: Sequence[int]) -> int:
        """Return the latency of a path, in ticks."""
        return sum(self.links.latency[link] for link in self.links_of(path))

    def latencies(self, before: Ints) -> Ints:
        """Return the latency of the path from each GPU to each, by the nodes before their ends.

        All paths are added up at once, link by link from their ends.
        """
        ends = np.array(self.gpus)
        of_link = sp.csr_matrix(
            (self._latency + 1, (self._tail, self._head)), shape=(self._size,) * 2
        )
        rows = np.arange(len(ends))[:, None]
        at = np.tile(ends, (len(ends), 1))
        total = np.zeros(at.shape, dtype=np.int64)
        while (going := (step := before[rows, at]) >= 0).any():
            found = np.asarray(of_link[step[going], at[going]]).reshape(-1)
            total[going] += found.astype(np.int64) - 1  # stored with 1 more: zeros are no entries
            at = np.where(going, step, at)
        return total
