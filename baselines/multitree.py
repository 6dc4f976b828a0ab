"""MultiTree: one greedy spanning tree per GPU, all grown together, step by step.

Problem: out-trees, one rooted at every GPU, that share the links well.
Input:   a topology; the bandwidth of one link unit.
Output:  N trees, and the number of time steps in which they were grown.
Cost:    one look at each port of each tree in each step, since what is left in a step only
         shrinks: 15 s for 1024 GPUs.
Source:  Huang et al., "Communication Algorithm-Architecture Co-Design for Distributed Deep
         Learning" (ISCA 2021), as ForestColl section 6.5 uses it. Reimplemented from the papers.

In each time step a link of bandwidth b carries floor(b / unit) trees. The trees take turns, one
edge a turn: the first of a tree's GPUs, in the order in which they joined before this step, that
can send to a GPU not yet in the tree does so, over its port to the nearest GPUs first, the widest
among those. The edge takes one unit on each link of its path in this step. A step ends when no
tree can grow.

What differs from the sources, or is not in them. The unit: MultiTree's paper leaves it open, and
ForestColl takes the slowest link, as we do; a bandwidth that is no multiple of it is rounded down,
as multi-edges must be. The child: of those behind a port we take the first by its number in the
box, then by box, so that a tree enters all boxes before it enters one twice; by box first, trees
on A100 would enter every box twice and be half as fast, and by the widest port first they would
stay near the optimum. Of these readings ours is the one whose curve has the shape of the published
figure: a choice, not a confirmation. Switches: only shortest paths. The
schedule: MultiTree sends in lockstep, one unit a step, while our cost model lets all trees flow at
once and charges each link its trees; so the forest is never slower than its steps. The network
interface's message scheduling is left out.

Only curves are published (ForestColl figure 14). What is said of them comes out on A100: MultiTree
starts well below the optimum and meets it as the network grows (200 GB/s from 2 boxes on; the
optimum falls from 347 to 201.6 at 128). On MI250 ForestColl is said to be ahead by more than 50 %:
here by 384 % at 2 boxes (354 against 73 GB/s), 114 % at 8, 67 % at 16 and 55 % at 32, but by 43 %
at 64 (260 against 182 GB/s). The NICs set both rates there; our trees, which enter all boxes before
one twice, come ever nearer the optimum, and the choice of the child is what the paper leaves open.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from baselines.collectives import collect
from baselines.routing import LogicalPaths, Router, build_forest, check_size
from forestcoll.errors import UnsupportedError
from forestcoll.schedule.collectives import Allreduce
from forestcoll.schedule.forest import Forest, Path
from forestcoll.topology.model import Topology
from forestcoll.topology.numbers import Exact, exact

__all__ = ["Growth", "generate", "grow"]


@dataclass(frozen=True)
class Growth:
    """The trees that MultiTree grows.

    Parameters
    ----------
    parent : int32 array of shape (N, N)
        Row r is the tree of rank r: each rank's parent, -1 at the root.
    paths : mapping
        The physical paths of the logical links in use.
    steps : int
        Time steps taken; MultiTree's own schedule moves a shard over one unit in each.
    unit_gb_s : Fraction
    """

    parent: npt.NDArray[np.int32]
    paths: LogicalPaths
    steps: int
    unit_gb_s: Fraction


def generate(
    topology: Topology, collective: str = "allgather", *, unit: Exact | None = None
) -> Forest | Allreduce[Forest]:
    """Grow the trees and return them as a forest with k = 1.

    Parameters
    ----------
    topology : Topology
    collective : str
        "allgather", "reduce-scatter" or "allreduce".
    unit : int, Fraction or str, optional
        Bandwidth of one multi-edge in GB/s; that of the slowest link if not given.

    Raises
    ------
    UnsupportedError
        If the trees cannot span the GPUs through links of at least one unit.
    """
    return collect(partial(_gather, unit=unit), topology, collective)


def _gather(topology: Topology, unit: Exact | None) -> Forest:
    """Return the trees of all roots."""
    growth = grow(topology, unit=unit)
    ranks = np.arange(topology.num_compute, dtype=np.int32)
    once = np.ones(topology.num_compute, dtype=np.int64)
    return build_forest(topology, "multitree", ranks, once, growth.parent, growth.paths)


def grow(topology: Topology, *, unit: Exact | None = None) -> Growth:
    """Grow all trees to the end; parameters and errors as for :func:`generate`."""
    check_size(topology)
    if unit is None:
        size = min((link.bandwidth_gb_s for link in topology.links), default=Fraction(1))
    else:
        size = exact(unit, "unit")
    if size <= 0:
        raise UnsupportedError(f"unsupported: a unit of {size} GB/s; it must be positive")
    grove = _Grove(topology, size)
    steps = 0
    while any(grove.missing):
        grove.step()
        steps += 1
    return Growth(grove.parents(), grove.paths(), steps, size)


class _Port(NamedTuple):
    """A link out of a GPU and the set of GPUs to which it is the best way; GPUs by their bits."""

    gpu: int
    link: int
    head: int
    gpus: int


class _Grove:
    """The trees so far, and what the present step has left to give.

    GPUs go by the router's bits. In a step, ``left`` counts the units left on each link, and
    ``open`` holds for each node the GPUs to which units may be left; it errs on the large side.
    """

    def __init__(self, topology: Topology, unit: Fraction) -> None:
        self.topology = topology
        self.router = Router(topology)
        self.units = [int(link.bandwidth_gb_s / unit) for link in topology.links]
        self.reach = [sum(found) for found in self.router.reach]
        self.ports_of = [self._ports(gpu) for gpu in self.router.gpus]
        size = topology.num_compute
        everyone = (1 << size) - 1
        self.missing = [everyone & ~(1 << root) for root in range(size)]
        self.ports = [list(self.ports_of[root]) for root in range(size)]
        self.parent = [[-1] * size for _ in range(size)]
        self.joined: list[list[int]] = [[] for _ in range(size)]
        self.used: dict[tuple[int, int], dict[tuple[int, ...], int]] = {}
        self.left: list[int] = []
        self.open: list[int] = []

    def _ports(self, gpu: int) -> tuple[_Port, ...]:
        """A GPU's ports, nearest GPUs first, then widest, then by position."""
        bit = self.router.bit_of[gpu]
        links, reach = self.topology.links, self.router.reach
        ports = []
        for hops, found in enumerate(reach[gpu]):
            widths: dict[Fraction, list[tuple[int, int]]] = {}
            for link, head in self.router.out[gpu] if hops and found else ():
                if hops == 1 or self.topology.nodes[head].is_switch:
                    widths.setdefault(links[link].bandwidth_gb_s, []).append((link, head))
            for width in sorted(widths, reverse=True):
                served = 0
                for link, head in widths[width]:
                    if gpus := found & reach[head][hops - 1]:
                        ports.append(_Port(bit, link, head, gpus))
                        served |= gpus
                found &= ~served
        return tuple(ports)

    def step(self) -> None:
        """Let the trees take turns until none can grow."""
        self.left = list(self.units)
        self.open = list(self.reach)
        turns = [self._turns(root) for root, missing in enumerate(self.missing) if missing]
        while turns:
            turns = [tree for tree in turns if next(tree, False)]
        if not any(self.joined):
            self._refuse()
        for root in range(len(self.joined)):
            self._admit(root)

    def _turns(self, root: int) -> Iterator[bool]:
        """Add one edge to the tree at each turn, until it has no more in this step."""
        left, open_to, missing = self.left, self.open, self.missing
        for parent, link, head, gpus in self.ports[root]:
            while left[link]:
                children = missing[root] & gpus & open_to[head]
                if not children:
                    break
                child = (children & -children).bit_length() - 1
                rest = self._free_path(head, self.router.gpus[child])
                if rest is None:
                    continue  # the look has closed the way, so the next one finds another child
                self._add(root, parent, child, (link, *rest))
                yield True

    def _free_path(self, node: int, gpu: int) -> tuple[int, ...] | None:
        """Find links with a unit left from a node to a GPU; close the node to it if none are."""
        if node == gpu:
            return ()
        bit = 1 << self.router.bit_of[gpu]
        for link, head in self.router.next_hops(node, gpu):
            if self.left[link] and self.open[head] & bit:
                rest = self._free_path(head, gpu)
                if rest is not None:
                    return (link, *rest)
        self.open[node] &= ~bit
        return None

    def _add(self, root: int, parent: int, child: int, path: tuple[int, ...]) -> None:
        for link in path:
            self.left[link] -= 1
        self.missing[root] &= ~(1 << child)
        self.parent[root][child] = parent
        self.joined[root].append(child)
        ways = self.used.setdefault((parent, child), {})
        ways[path] = ways.get(path, 0) + 1

    def _admit(self, root: int) -> None:
        """Let GPUs that joined send from the next step on; forget ports with nobody left."""
        missing = self.missing[root]
        for child in self.joined[root]:
            self.ports[root].extend(self.ports_of[child])
        self.joined[root].clear()
        self.ports[root] = [port for port in self.ports[root] if port.gpus & missing]

    def _refuse(self) -> None:
        root = next(r for r, missing in enumerate(self.missing) if missing)
        child = (self.missing[root] & -self.missing[root]).bit_length() - 1
        names = [self.topology.nodes[self.router.gpus[r]].name for r in (root, child)]
        raise UnsupportedError(
            f"unsupported: the tree of {names[0]} cannot reach {names[1]} through switches and "
            f"links of at least one unit; choose a smaller unit"
        )

    def parents(self) -> npt.NDArray[np.int32]:
        """Turn the trees from bits to ranks."""
        rank = np.array([self.topology.rank_of[gpu] for gpu in self.router.gpus], dtype=np.int32)
        by_bit = np.array(self.parent, dtype=np.int32)
        parents = np.empty_like(by_bit)
        parents[np.ix_(rank, rank)] = np.where(by_bit < 0, by_bit, rank[by_bit])
        return parents

    def paths(self) -> LogicalPaths:
        """Return the nodes of the paths used, by ranks."""
        links = self.topology.links
        rank = [self.topology.rank_of[gpu] for gpu in self.router.gpus]
        return {
            (rank[tail], rank[head]): tuple(
                Path((links[way[0]].tail, *(links[i].head for i in way)), count)
                for way, count in ways.items()
            )
            for (tail, head), ways in self.used.items()
        }
