"""The growing itself: what each tree of MultiTree takes at its turn, step by step.

Problem: let all trees grow at once, edge by edge, while the links have units left in this step.
Input:   a topology; the bandwidth of a unit; the readings of ``multitree``.
Output:  the parent of every GPU in every tree, and the paths of the edges.
Cost:    one look at each port of each tree in each step, since what is left in a step only shrinks.
Source:  see ``multitree``. A node's GPUs are sets of bits, so that a look costs one operation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from operator import attrgetter
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from baselines.networks.switch_paths import LogicalPaths, Router
from forestcoll.errors import UnsupportedError
from forestcoll.schedule.forest import Path
from forestcoll.topology.model import Topology

__all__ = ["CHILDREN", "PORTS", "Grove"]

CHILDREN = ("next-number", "next-box", "number", "box")
"""Which of the GPUs behind a port joins: see ``multitree``."""


class _Port(NamedTuple):
    """A link out of a GPU and the set of GPUs to which it is the best way; GPUs by their bits.

    Of a tree's ports those of the least ``turn`` are asked first.
    """

    turn: tuple[int, ...]
    gpu: int
    link: int
    head: int
    gpus: int


PORTS: Mapping[str, Callable[[int, int], tuple[int, ...]]] = MappingProxyType(
    {
        "nearest": lambda hops, narrowness: (hops, narrowness),
        "widest": lambda hops, narrowness: (narrowness, hops),
        "joined": lambda hops, narrowness: (),
    }
)
"""The turn of a port among those of a tree's GPUs; at ties that of the GPU that joined first."""


_turn = attrgetter("turn")


class Grove:
    """The trees so far, and what the present step has left to give.

    GPUs go by the router's bits. In a step, ``left`` counts the units left on each link, and
    ``open`` holds for each node the GPUs to which units may be left; it errs on the large side.
    """

    def __init__(
        self, topology: Topology, unit: Fraction, child: str = CHILDREN[0], ports: str = "nearest"
    ) -> None:
        self.topology = topology
        self.router = Router(topology, by_box=child.endswith("box"))
        self.onward = child.startswith("next")
        self.turn = PORTS[ports]
        self.units = [int(link.bandwidth_gb_s / unit) for link in topology.links]
        self.reach = [sum(found) for found in self.router.reach]
        self.ports_of = [self._ports(gpu) for gpu in self.router.gpus]
        size = topology.num_compute
        everyone = (1 << size) - 1
        self.missing = [everyone & ~(1 << root) for root in range(size)]
        self.ports = [sorted(ports, key=_turn) for ports in self.ports_of]
        self.parent = [[-1] * size for _ in range(size)]
        self.joined: list[list[int]] = [[] for _ in range(size)]
        self.used: dict[tuple[int, int], dict[tuple[int, ...], int]] = {}
        self.left: list[int] = []
        self.open: list[int] = []

    def _ports(self, gpu: int) -> tuple[_Port, ...]:
        """A GPU's ports, nearest GPUs first, then widest, then by position."""
        bit = self.router.bit_of[gpu]
        links, reach = self.topology.links, self.router.reach
        widest = sorted({link.bandwidth_gb_s for link in links}, reverse=True)
        ports = []
        for hops, found in enumerate(reach[gpu]):
            widths: dict[Fraction, list[tuple[int, int]]] = {}
            for link, head in self.router.out[gpu] if hops and found else ():
                if hops == 1 or self.topology.nodes[head].is_switch:
                    widths.setdefault(links[link].bandwidth_gb_s, []).append((link, head))
            for width in sorted(widths, reverse=True):
                turn, served = self.turn(hops, widest.index(width)), 0
                for link, head in widths[width]:
                    if gpus := found & reach[head][hops - 1]:
                        ports.append(_Port(turn, bit, link, head, gpus))
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
        for _, parent, link, head, gpus in self.ports[root]:
            while left[link]:
                children = missing[root] & gpus & open_to[head]
                if not children:
                    break
                child = self._first(children, parent)
                rest = self._free_path(head, self.router.gpus[child])
                if rest is None:
                    continue  # the look has closed the way, so the next one finds another child
                self._add(root, parent, child, (link, *rest))
                yield True

    def _first(self, children: int, parent: int) -> int:
        """The first of some GPUs, or the first after their parent, round and round."""
        if self.onward:
            children = children >> (parent + 1) << (parent + 1) or children
        return (children & -children).bit_length() - 1

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
        ports = [*self.ports[root], *(p for gpu in self.joined[root] for p in self.ports_of[gpu])]
        self.joined[root].clear()
        self.ports[root] = sorted((port for port in ports if port.gpus & missing), key=_turn)

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
