"""SCCL's view of a network: GPUs, and the capacity of a round.

Problem: bandwidths in chunks per round, and the bounds that follow.
Output:  a network, distances in it, the least steps and rounds per chunk for a set of roots.
Cost:    a breadth-first search per root, and one run of the optimum.
Source:  Cai et al., PPoPP 2021, section 3: the bandwidth relation, and lower bounds. The paper uses
         the inverse of the bisection bandwidth; ForestColl's bound, used here, is never lower. For
         an all-to-all: all hops on all links, and every cut if the GPUs are few.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from baselines.networks.switch_paths import check_size
from forestcoll.core.optimality import optimum
from forestcoll.errors import UnsupportedError
from forestcoll.topology.model import Topology

__all__ = ["Bounds", "Group", "Network", "bounds", "bounds_of_pairs", "direct"]

GpuLink = tuple[int, int]
"""Tail and head, by rank."""

_ALL_CUTS = 16
"""Largest number of GPUs of which every subset is a cut to check."""


@dataclass(frozen=True, slots=True)
class Group:
    """Links that share a bandwidth: a single link, or those through one port or bus.

    Parameters
    ----------
    links : tuple of (tail, head)
    copies : int
        Chunks that they carry together in a round.
    """

    links: tuple[GpuLink, ...]
    copies: int


@dataclass(frozen=True)
class Network:
    """GPUs by rank and the links between them.

    Parameters
    ----------
    links : tuple of (tail, head)
        Sorted.
    groups : tuple of Group
        SCCL's bandwidth relation; every link is in at least one.
    """

    size: int
    links: tuple[GpuLink, ...]
    groups: tuple[Group, ...]

    @property
    def alone(self) -> tuple[Group, ...]:
        """The groups of a single link."""
        return tuple(group for group in self.groups if len(group.links) == 1)

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
        """Return the hops from a GPU to each that it reaches, nearest first."""
        return self._distances[root]

    @cached_property
    def _distances(self) -> tuple[Mapping[int, int], ...]:
        return tuple(self._search(root) for root in range(self.size))

    def _search(self, root: int) -> dict[int, int]:
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
    links = tuple((link.tail, link.head) for link in topology.links)  # all nodes are GPUs
    limits: list[tuple[GpuLink, ...]] = [(ends,) for ends in links]
    limits += [group.links for group in topology.shared]
    bandwidths = [link.bandwidth_gb_s for link in topology.links]
    bandwidths += [group.bandwidth_gb_s for group in topology.shared]
    unit = _largest_unit(bandwidths)
    groups = tuple(
        Group(members, int(bandwidth / unit))
        for members, bandwidth in zip(limits, bandwidths, strict=True)
    )
    return Network(topology.num_compute, links, groups), unit


def _largest_unit(bandwidths: Sequence[Fraction]) -> Fraction:
    """Return the largest bandwidth of which all are multiples.

    Examples
    --------
    >>> _largest_unit([Fraction(25, 8), Fraction(25, 2)])
    Fraction(25, 8)
    """
    under = math.lcm(*(bandwidth.denominator for bandwidth in bandwidths))
    return Fraction(math.gcd(*(int(bandwidth * under) for bandwidth in bandwidths)), under)


@dataclass(frozen=True, slots=True)
class Bounds:
    """Lower bounds on steps and rounds.

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
        """Return the lower bound on the rounds."""
        return max(self.steps, math.ceil(self.rounds_per_chunk * chunks))


def bounds(topology: Topology, weights: tuple[int, ...]) -> Bounds:
    """Bound the schedules that spread data from the GPUs of weight 1 to all.

    Raises
    ------
    UnsupportedError
        As for :func:`direct`, or if a root does not reach some GPU.
    """
    network, unit = direct(topology)
    roots = [rank for rank, weight in enumerate(weights) if weight]
    steps = _longest(topology, network, roots)
    by_cuts = optimum(topology, weights=weights).inverse_rate * unit
    return Bounds(steps, max(by_cuts, _by_intake(network, roots)))


def _by_intake(network: Network, roots: Sequence[int]) -> Fraction:
    """Return the largest ratio of a GPU's chunks to the chunks that its links bring in a round.

    The tightest group limits the links of a GPU, which a cut of single links does not account for.
    """
    brought = [0] * network.size
    copies: dict[GpuLink, int] = {}
    for group in network.alone:  # a link may have a limit besides its bandwidth
        copies[group.links[0]] = min(copies.get(group.links[0], group.copies), group.copies)
    for (_, head), number in copies.items():
        brought[head] += number
    over = [0] * network.size
    for group in network.groups:
        for gpu in {head for _, head in group.links}:
            into = sum(copies[link] for link in group.links if link[1] == gpu)
            over[gpu] = max(over[gpu], into - group.copies)
    wanted = [sum(root != gpu for root in roots) for gpu in range(network.size)]
    return max(
        Fraction(chunks, brought[gpu] - over[gpu]) for gpu, chunks in enumerate(wanted) if chunks
    )


def bounds_of_pairs(topology: Topology) -> Bounds:
    """Bound the all-to-alls, in rounds for a chunk of each pair.

    Each chunk needs as many transfers as its target is hops away. It must leave every set of GPUs
    with its root and without its target: up to 16 GPUs every set is a cut to check, beyond that
    each GPU alone and its complement.

    Raises
    ------
    UnsupportedError
        As for :func:`bounds`.
    """
    network, _ = direct(topology)
    steps = _longest(topology, network, range(network.size))
    hops = sum(sum(network.distances(root).values()) for root in range(network.size))
    copies = sum(group.copies for group in network.alone)
    return Bounds(steps, max(Fraction(hops, copies), _tightest(network)))


def _tightest(network: Network) -> Fraction:
    """Return the largest ratio of chunks that leave a set of GPUs to its links' chunks a round."""
    inside = _sets(network.size)
    ends = [(*group.links[0], group.copies) for group in network.alone]
    tail, head, copies = np.array(ends).T
    carried = (inside[:, tail] & ~inside[:, head]) @ copies
    members = inside.sum(axis=1)
    return max(
        Fraction(count * (network.size - count), int(carried[members == count].min()))
        for count in np.unique(members).tolist()
    )


def _sets(size: int) -> npt.NDArray[np.bool_]:
    """Return sets of GPUs, one a row, neither none nor all."""
    if size <= _ALL_CUTS:
        numbers = np.arange(1, 2**size - 1)
        return np.asarray((numbers[:, np.newaxis] >> np.arange(size)) & 1, dtype=np.bool_)
    alone = np.eye(size, dtype=np.bool_)
    return np.concatenate([alone, ~alone])


def _longest(topology: Topology, network: Network, roots: Iterable[int]) -> int:
    """Return the most hops from a root; raise UnsupportedError if one does not reach some GPU."""
    steps = 0
    for root in roots:
        found = network.distances(root)
        if len(found) < network.size:
            lost = next(rank for rank in range(network.size) if rank not in found)
            names = [topology.nodes[rank].name for rank in (root, lost)]
            raise UnsupportedError(
                f"unsupported: links do not lead from {names[0]} to {names[1]} in {topology.name}"
            )
        steps = max(steps, *found.values())
    return steps
