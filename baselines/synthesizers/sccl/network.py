"""A network as SCCL sees it: GPUs, and what a round can carry.

Problem: bandwidths in chunks per round, and the bounds that follow.
Input:   a topology of GPUs and direct links.
Output:  a network, distances in it, the least steps and rounds a chunk for a set of roots.
Cost:    a breadth-first search per root, and one run of the optimum.
Source:  Cai et al., PPoPP 2021, section 3: the bandwidth relation, and lower bounds; there the
         inverse of the bisection bandwidth, here ForestColl's bound, which is never lower.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from baselines.networks.switch_paths import check_size
from forestcoll.core.optimality import optimum
from forestcoll.errors import UnsupportedError
from forestcoll.topology.model import Topology

__all__ = ["Bounds", "Group", "Network", "bounds", "direct"]

GpuLink = tuple[int, int]
"""Tail and head, by rank."""


@dataclass(frozen=True, slots=True)
class Group:
    """Links that share a bandwidth: a link alone, or those through one port or bus.

    Parameters
    ----------
    links : tuple of (tail, head)
    copies : int
        In a round all of them together carry so many chunks.
    """

    links: tuple[GpuLink, ...]
    copies: int


@dataclass(frozen=True)
class Network:
    """GPUs by rank and the links between them.

    Parameters
    ----------
    size : int
    links : tuple of (tail, head)
        Sorted.
    groups : tuple of Group
        SCCL's bandwidth relation; every link is in at least one.
    """

    size: int
    links: tuple[GpuLink, ...]
    groups: tuple[Group, ...]

    @cached_property
    def into(self) -> tuple[tuple[GpuLink, ...], ...]:
        """The links into each GPU."""
        entering: list[list[GpuLink]] = [[] for _ in range(self.size)]
        for link in self.links:
            entering[link[1]].append(link)
        return tuple(map(tuple, entering))

    @cached_property
    def _after(self) -> tuple[tuple[int, ...], ...]:
        following: list[list[int]] = [[] for _ in range(self.size)]
        for tail, head in self.links:
            following[tail].append(head)
        return tuple(map(tuple, following))

    def distances(self, root: int) -> Mapping[int, int]:
        """Hops from a GPU to each that it reaches, nearest first."""
        found = {root: 0}
        queue = deque([root])
        while queue:
            tail = queue.popleft()
            for head in self._after[tail]:
                if head not in found:
                    found[head] = found[tail] + 1
                    queue.append(head)
        return found


def direct(topology: Topology) -> tuple[Network, Fraction]:
    """Return the network of a topology and its unit of bandwidth in GB/s.

    Raises
    ------
    UnsupportedError
        If there are switches, or fewer than two GPUs.
    """
    if topology.switches:
        name = topology.nodes[topology.switches[0]].name
        raise UnsupportedError(
            f"unsupported: {topology.name} has the switch {name}; SCCL knows only direct links"
        )
    check_size(topology)
    if not topology.links:
        raise UnsupportedError(f"unsupported: {topology.name} has no links")
    scaled = topology.integer_capacities
    capacity = scaled.capacity.tolist()
    unit = math.gcd(*capacity)
    links = tuple((link.tail, link.head) for link in topology.links)  # all nodes are GPUs
    groups = tuple(
        Group((link,), copies // unit) for link, copies in zip(links, capacity, strict=True)
    )
    return Network(topology.num_compute, links, groups), Fraction(unit, scaled.denominator)


@dataclass(frozen=True, slots=True)
class Bounds:
    """What no schedule is below.

    Parameters
    ----------
    steps : int
        The longest distance from a root.
    rounds_per_chunk : Fraction
        R/C of a schedule that keeps the bottleneck busy.
    """

    steps: int
    rounds_per_chunk: Fraction

    def rounds(self, chunks: int) -> int:
        """Return the fewest rounds that may do."""
        return max(self.steps, math.ceil(self.rounds_per_chunk * chunks))


def bounds(topology: Topology, weights: tuple[int, ...]) -> Bounds:
    """Bound the schedules that spread data from the GPUs of weight 1 to all.

    Raises
    ------
    UnsupportedError
        As of :func:`direct`, or if a root does not reach some GPU.
    """
    network, unit = direct(topology)
    steps = 0
    for root in (rank for rank, weight in enumerate(weights) if weight):
        found = network.distances(root)
        if len(found) < network.size:
            lost = next(rank for rank in range(network.size) if rank not in found)
            names = [topology.nodes[rank].name for rank in (root, lost)]
            raise UnsupportedError(
                f"unsupported: links do not lead from {names[0]} to {names[1]} in {topology.name}"
            )
        steps = max(steps, *found.values())
    return Bounds(steps, optimum(topology, weights=weights).inverse_rate * unit)
