"""Logical links between GPUs, with their paths through switches.

Problem: a method whose trees consist of GPUs only says "a sends to b"; find the physical paths.
Output:  the shortest paths between GPUs whose inner nodes are all switches. A GPU uses its widest
         port among those on a shortest path (NVLink before the NIC); switches use every shortest
         path (equal-cost multipath), with equal numbers of trees. Data between GPUs of a box stay
         in it where they can: libraries take the sockets, though a leaf may be nearer.
Cost:    one union of bit sets of N bits per link and hop.
Source:  ForestColl section 6.5 gives no rule for other methods on switches; routed fabrics do this.
         Ties beyond ``MAX_PATHS`` are left out. Trees pass no GPU on a path; transfers in steps may
         (``forwarding``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import chain, islice
from typing import Any

import numpy as np
import numpy.typing as npt

from forestcoll.errors import UnsupportedError
from forestcoll.schedule import cost
from forestcoll.schedule.forest import Forest, Routes
from forestcoll.topology.model import Topology

__all__ = ["MAX_PATHS", "Router", "build_forest", "check_size", "dealt", "router_of"]

MAX_PATHS = 64
"""Equal-cost paths kept between two GPUs."""

_Ints = npt.NDArray[Any]


@dataclass(frozen=True)
class Router:
    """Shortest paths between the GPUs of a topology, through switches only.

    Nodes are given by their positions, and sets of GPUs as integers whose bit i stands for
    ``gpus[i]``.

    Parameters
    ----------
    by_box : bool
        Whether the bits go by box and then by number in it, or by number and then by box.
    inside_boxes : bool
        Whether links that leave a box are left out.
    """

    topology: Topology
    by_box: bool = False
    inside_boxes: bool = False
    _next_hops: dict[tuple[int, int], tuple[tuple[int, int], ...]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _between: dict[tuple[int, int], tuple[tuple[int, ...], ...]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _fans: dict[int, tuple[tuple[int, tuple[tuple[int, int], ...]], ...]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @cached_property
    def gpus(self) -> tuple[int, ...]:
        """The GPUs by their number in the box, then by box; or, if ``by_box``, by box first."""
        nodes = self.topology.nodes
        keys = ((nodes[v].index or 0, nodes[v].box or 0, v) for v in self.topology.compute)
        ordered = sorted(
            (box, index, v) if self.by_box else (index, box, v) for index, box, v in keys
        )
        return tuple(v for *_, v in ordered)

    @cached_property
    def bit_of(self) -> Mapping[int, int]:
        """The bit that stands for each GPU."""
        return {gpu: bit for bit, gpu in enumerate(self.gpus)}

    @cached_property
    def out(self) -> tuple[tuple[tuple[int, int], ...], ...]:
        """The links out of each node, as (position in ``topology.links``, head)."""
        leaving: list[list[tuple[int, int]]] = [[] for _ in self.topology.nodes]
        for i, link in enumerate(self.topology.links):
            if not self.inside_boxes or self._share_box((link.tail, link.head)):
                leaving[link.tail].append((i, link.head))
        return tuple(map(tuple, leaving))

    @cached_property
    def _to_switches(self) -> tuple[tuple[tuple[int, int], ...], ...]:
        """The links out of each node that lead to a switch."""
        nodes = self.topology.nodes
        return tuple(tuple(port for port in row if nodes[port[1]].is_switch) for row in self.out)

    @cached_property
    def _on_to(self) -> tuple[Mapping[int, tuple[int, int]], ...]:
        """For each node the links to the GPUs beside it, which are then the only ones to take."""
        nodes = self.topology.nodes
        return tuple(
            {port[1]: port for port in row if not nodes[port[1]].is_switch} for row in self.out
        )

    @cached_property
    def reach(self) -> tuple[tuple[int, ...], ...]:
        """``reach[v][h]`` is the set of GPUs whose shortest path from v has h hops."""
        rows = [[1 << self.bit_of[v] if v in self.bit_of else 0] for v in range(len(self.out))]
        seen = [row[0] for row in rows]
        for hops in range(len(self.topology.switches) + 1):
            found = [self._one_hop_on(v, rows, hops) & ~seen[v] for v in range(len(rows))]
            if not any(found):
                break
            for v, row in enumerate(rows):
                row.append(found[v])
                seen[v] |= found[v]
        return tuple(map(tuple, rows))

    def _one_hop_on(self, node: int, rows: list[list[int]], hops: int) -> int:
        """Unite what the neighbours reach in ``hops`` hops; a GPU passes nothing on."""
        union = 0
        for _, head in self.out[node] if hops == 0 else self._to_switches[node]:
            union |= rows[head][hops]
        return union

    def hops(self, node: int, gpu: int) -> int | None:
        """Return the number of links from a node to a GPU, None if switches do not lead there."""
        bit = 1 << self.bit_of[gpu]
        for hops, found in enumerate(self.reach[node]):
            if found & bit:
                return hops
        return None

    def next_hops(self, node: int, gpu: int) -> tuple[tuple[int, int], ...]:
        """Return the links (position, head) that lead on from a node towards a GPU."""
        key = node, gpu
        found = self._next_hops.get(key)
        if found is None:
            found = self._next_hops[key] = self._find_next_hops(node, gpu)
        return found

    def _find_next_hops(self, node: int, gpu: int) -> tuple[tuple[int, int], ...]:
        ports = self._on_to[node].get(gpu)
        if ports is not None:
            return (ports,)
        if node not in self._fans:
            self._fans[node] = tuple(self._fan(node))
        bit = 1 << self.bit_of[gpu]
        for reached, onward in self._fans[node]:
            if reached & bit:
                return onward
        return ()

    def _fan(self, node: int) -> Iterator[tuple[int, tuple[tuple[int, int], ...]]]:
        """Yield sets of GPUs, not beside a node, and the links that lead on to each of the set."""
        for hops in range(2, len(self.reach[node])):
            sets: list[tuple[int, tuple[tuple[int, int], ...]]]
            sets = [(gpus, ()) for gpus in self.reach[node][hops : hops + 1] if gpus]
            for port in self._to_switches[node]:
                there = self.reach[port[1]][hops - 1]
                split = [(gpus & there, (*ports, port)) for gpus, ports in sets]
                split += [(gpus & ~there, ports) for gpus, ports in sets]
                sets = [one for one in split if one[0]]
            for gpus, ports in sets:
                yield gpus, self._widest(node, ports)

    def _widest(self, node: int, ports: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
        """Return the ports by which a node sends: a GPU the widest of these, a switch all."""
        if len(ports) == 1 or self.topology.nodes[node].is_switch:
            return ports
        width = self.topology.whole_bandwidths[1]
        widest = max(width[link] for link, _ in ports)
        return tuple(port for port in ports if width[port[0]] == widest)

    def paths(self, tail: int, head: int) -> tuple[tuple[int, ...], ...]:
        """Return the equal-cost paths between two GPUs, as nodes with both ends, in order.

        Raises
        ------
        UnsupportedError
            If there is none through switches alone.
        """
        return tuple([(tail, *switches, head) for switches in self.switches(tail, head)])

    def switches(self, tail: int, head: int) -> tuple[tuple[int, ...], ...]:
        """Return the switches on each path between two GPUs; errors as for :meth:`paths`."""
        kind = self._kinds[0][tail], self._kinds[1][head]
        known = self._between.get(kind)
        if known is None:
            found = self._found(tail, head)
            known = self._between[kind] = tuple(path[1:-1] for path in found)
        return known

    def between(self, tail: _Ints, head: _Ints) -> Between:
        """Return the paths of logical links, given by the positions of their ends."""
        tails, heads = (np.array(kinds, dtype=np.int64) for kinds in self._kinds)
        kind = tails[tail] * (int(heads.max(initial=0)) + 1) + heads[head]
        _, first, which = np.unique(kind, return_index=True, return_inverse=True)
        pairs = zip(tail[first].tolist(), head[first].tolist(), strict=True)
        return Between(which, [self.switches(*pair) for pair in pairs])

    @cached_property
    def _kinds(self) -> tuple[list[int], list[int]]:
        """Numbers of the kinds of nodes as tails of paths, and as heads.

        Nodes of one kind are in one box, and have links of the same widths to the same switches. So
        the same switches are between any two nodes of two kinds. A node with a link to or from a
        GPU, or to itself, is a kind of its own.
        """
        nodes, width = self.topology.nodes, self.topology.whole_bandwidths[1]
        ports: tuple[list[list[tuple[int, int]]], ...] = ([[] for _ in nodes], [[] for _ in nodes])
        alone: tuple[set[int], ...] = (set(), set())
        for tail, row in enumerate(self.out):
            for link, head in row:
                for end, (near, far) in enumerate([(tail, head), (head, tail)]):
                    ports[end][near].append((far, width[link]))
                    if not nodes[far].is_switch:
                        alone[end].add(near)
        numbers: list[list[int]] = []
        for end in (0, 1):
            known: dict[object, int] = {}
            keys = (
                (self._boxes[v], v if v in alone[end] else -1, *ports[end][v])
                for v in range(len(nodes))
            )
            numbers.append([known.setdefault(key, len(known)) for key in keys])
        return numbers[0], numbers[1]

    def kind(self, node: int) -> tuple[int, int]:
        """Return the kind of a node: paths lead over the same switches for all nodes of one."""
        return self._kinds[0][node], self._kinds[1][node]

    def _found(self, tail: int, head: int) -> tuple[tuple[int, ...], ...]:
        found = self._shortest(tail, head)
        if self._share_box((tail, head)) and not all(map(self._share_box, found)):
            found = self._inside._shortest(tail, head) or found
        if not found:
            names = [self.topology.nodes[v].name for v in (tail, head)]
            raise UnsupportedError(
                f"unsupported: no path from {names[0]} to {names[1]} through switches alone"
            )
        return found

    @cached_property
    def _inside(self) -> Router:
        return Router(self.topology, by_box=self.by_box, inside_boxes=True)

    @cached_property
    def _boxes(self) -> tuple[int | None, ...]:
        return tuple(node.box for node in self.topology.nodes)

    def _share_box(self, nodes: Sequence[int]) -> bool:
        """Say whether nodes belong to one box."""
        boxes = {self._boxes[v] for v in nodes}
        return len(boxes) == 1 and None not in boxes

    def _shortest(self, tail: int, head: int) -> tuple[tuple[int, ...], ...]:
        return self._only(tail, head) or tuple(islice(self._walk(tail, head), MAX_PATHS))

    def _only(self, node: int, gpu: int) -> tuple[tuple[int, ...]] | None:
        """Return the path between two GPUs if there is a single one."""
        way = [node]
        while node != gpu:
            if gpu in self._on_to[node]:
                node = gpu
            else:
                ports = self._find_next_hops(node, gpu)
                if len(ports) != 1:
                    return None
                node = ports[0][1]
            way.append(node)
        return (tuple(way),)

    def _walk(self, node: int, gpu: int) -> Iterator[tuple[int, ...]]:
        if node == gpu:
            yield (gpu,)
        for _, head in self.next_hops(node, gpu):
            for rest in self._walk(head, gpu):
                yield (node, *rest)

    def ways(self, links: Iterable[tuple[int, int]]) -> Iterator[tuple[tuple[int, ...], ...]]:
        """Return the paths of each logical link (tail rank, head rank)."""
        compute = self.topology.compute
        return (self.paths(compute[tail], compute[head]) for tail, head in links)

    def carry(self, trees: Mapping[tuple[int, int], int]) -> Routes:
        """Deal the trees of each logical link (tail rank, head rank) out over its paths."""
        links = np.array(list(trees), dtype=np.int32).reshape(-1, 2)
        count = np.array(list(trees.values()), dtype=np.int64)
        return dealt(self, links[:, 0], links[:, 1], count)


@dataclass(frozen=True, slots=True)
class Between:
    """The switches on the paths of logical links.

    ``paths[which[i]]`` has those of link i, path by path.
    """

    which: _Ints
    paths: list[tuple[tuple[int, ...], ...]]

    @property
    def many(self) -> _Ints:
        """The number of paths of each link."""
        return np.array([len(paths) for paths in self.paths], dtype=np.int64)[self.which]

    def hops(self, link: _Ints, turn: _Ints, tail: _Ints, head: _Ints) -> tuple[_Ints, _Ints]:
        """Return the nodes of some paths, in compressed rows, with both ends of their links.

        Parameters
        ----------
        link, turn : int arrays
            The link of each path, and the number of the path among those of its link.
        """
        flat = list(chain.from_iterable(self.paths))
        length = np.array([len(path) for path in flat], dtype=np.int64)
        inner = np.array(list(chain.from_iterable(flat)), dtype=np.int32)
        starts = np.cumsum([0, *map(len, self.paths)], dtype=np.int64)
        path = starts[self.which[link]] + turn
        first_hop = np.concatenate([[0], np.cumsum(length[path] + 2)]).astype(np.int64)
        hop = np.empty(first_hop[-1], dtype=np.int32)
        hop[first_hop[:-1]], hop[first_hop[1:] - 1] = tail[link], head[link]
        row = np.repeat(np.arange(len(path)), length[path])
        step = np.arange(len(row)) - (first_hop[:-1] - 2 * np.arange(len(path)))[row]
        hop[first_hop[row] + 1 + step] = inner[(np.cumsum(length) - length)[path][row] + step]
        return first_hop, hop


@lru_cache(maxsize=2)  # phases and methods ask for that of one network, one after the other
def router_of(topology: Topology) -> Router:
    """Return the router of a network, which keeps what it found."""
    return Router(topology)


def dealt(router: Router, tail: _Ints, head: _Ints, trees: _Ints) -> Routes:
    """Deal the trees of each logical link (tail rank, head rank) out over its paths.

    They are shared out evenly. What is left over goes to the paths from the number of the tail on.
    """
    order = np.lexsort((head, tail))
    tail, head, count = tail[order], head[order], trees[order]
    place = np.array(router.topology.compute, dtype=np.int32)
    between = router.between(place[tail], place[head])
    many = between.many
    link = np.repeat(np.arange(len(many)), many)
    number = np.arange(len(link)) - np.repeat(np.cumsum(many) - many, many)
    turn = number - tail[link]
    share = (count // many)[link] + (turn % many[link] < (count % many)[link])
    used = np.flatnonzero(share)
    first_hop, hop = between.hops(link[used], number[used], place[tail], place[head])
    return Routes(
        tail=tail.astype(np.int32),
        head=head.astype(np.int32),
        first_path=np.searchsorted(link[used], np.arange(len(many) + 1)),
        multiplicity=share[used],
        first_hop=first_hop,
        hop=hop,
    )


def check_size(topology: Topology) -> None:
    """Refuse a topology on which there is nobody to send to."""
    if topology.num_compute < 2:
        raise UnsupportedError(
            f"unsupported: {topology.name} has {topology.num_compute} GPUs; a collective needs two"
        )


def build_forest(
    topology: Topology,
    method: str,
    root: npt.NDArray[np.int32],
    multiplicity: npt.NDArray[np.int64],
    parent: npt.NDArray[np.int32],
    paths: Routes,
    weights: tuple[int, ...] = (),
) -> Forest:
    """Put trees and paths together; congestion is what the paths' loads make it."""
    forest = Forest(
        topology=topology,
        method=method,
        k=int(multiplicity.sum()) // (sum(weights) or topology.num_compute),
        congestion=Fraction(1),  # until the loads are known
        root=root,
        multiplicity=multiplicity,
        parent=parent,
        routes=paths,
        weights=weights,
    )
    return replace(forest, congestion=cost(forest).time_s_per_gb * forest.num_trees)
