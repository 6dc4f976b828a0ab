"""NICs that are nodes behind PCIe switches, as direct links from GPUs to hubs.

Problem: boxes and hubs are routed at once, but only where the ports of a box are next to hubs.
Input:   a network whose boxes reach their hubs over chains of switches: PCIe, NICs.
Output:  the network without them, in which a GPU has a link to the hub instead; the way back for
         loads and paths.
Cost:    a few searches in every box.
Source:  ours. Every GPU gets one chain, the widest that those before it leave. What is routed
         within the links' bandwidths is routed within those of the chains. Where the chains use
         less than the box has, its cut is narrower, and the caller takes the program.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from forestcoll.problem.demand import Demand
from forestcoll.problem.price_bound import PriceBound, boundary_prices
from forestcoll.schedule.forest import Routes
from forestcoll.topology.model import Link, NodeKind, Topology

__all__ = ["NicChains", "nic_chains"]

Ints = npt.NDArray[np.int64]

_Beside = dict[int, dict[int, Fraction]]
"""For each node, the bandwidths of its links by their heads."""


@dataclass(frozen=True, slots=True)
class NicChains:
    """A network, and the one without the switches of its chains.

    Parameters
    ----------
    node_of : tuple of int
        For each node of the reduced network, its place in the network.
    chain : dict
        For each link of the reduced network that stands for a chain, by its ends there, the
        switches between them, in the network.
    relays : dict
        For each switch of a chain, the GPUs that it is the chain of, or beside; in the network.
    """

    topology: Topology
    reduced: Topology
    node_of: tuple[int, ...] = field(repr=False)
    chain: dict[tuple[int, int], tuple[int, ...]] = field(repr=False)
    relays: dict[int, frozenset[int]] = field(repr=False)

    def loads(self, reduced: Sequence[int]) -> list[int]:
        """Return the loads of the network's links from those of the reduced network's."""
        ends = self.topology.links
        place = {(link.tail, link.head): i for i, link in enumerate(ends)}
        load = [0] * len(ends)
        for link, size in zip(self.reduced.links, reduced, strict=True):
            between = self.chain.get((link.tail, link.head), ())
            nodes = (self.node_of[link.tail], *between, self.node_of[link.head])
            for hop in pairwise(nodes):
                load[place[hop]] += size
        return load

    def routes(self, reduced: Routes) -> Routes:
        """Return paths over the chains instead of the links that stand for them."""
        size, chains = len(self.reduced.nodes), list(self.chain.items())
        number = np.full(size * size, len(chains), dtype=np.int64)
        number[[tail * size + head for (tail, head), _ in chains]] = np.arange(len(chains))
        length = np.array([len(between) for _, between in chains] + [0], dtype=np.int64)
        table = np.full((len(chains) + 1, max(length)), -1, dtype=np.int64)
        for row, (_, between) in zip(table, chains, strict=False):
            row[: len(between)] = between
        hop = reduced.hop.astype(np.int64)
        used = np.append(number[hop[:-1] * size + hop[1:]], len(chains))
        used[reduced.first_hop[1:] - 1] = len(chains)  # a path ends: nothing follows
        start = np.arange(len(hop)) + np.cumsum(length[used]) - length[used]
        made = np.empty(len(hop) + int(length[used].sum()), dtype=np.int32)
        made[start] = np.array(self.node_of)[hop]
        for step in range(table.shape[1]):
            more = np.flatnonzero(length[used] > step)
            made[start[more] + 1 + step] = table[used[more], step]
        return Routes(
            tail=reduced.tail,
            head=reduced.head,
            first_path=reduced.first_path,
            multiplicity=reduced.multiplicity,
            first_hop=np.append(start, len(made))[reduced.first_hop],
            hop=made,
        )

    def bound(self, nodes: Sequence[int], into: bool, demand: Demand | None) -> PriceBound:
        """Return the bound of a cut, given by its nodes in the reduced network.

        With the chains of its GPUs inside, or outside: whichever proves more.
        """
        inside = {self.node_of[node] for node in nodes}
        more = inside | {relay for relay, gpus in self.relays.items() if gpus <= inside}
        bounds = (
            PriceBound.of(
                self.topology, demand, boundary_prices(self.topology, sorted(cut), into=into)
            )
            for cut in ({*inside}, more)
        )
        return max(bounds, key=lambda one: one.inverse_rate)


def nic_chains(topology: Topology) -> NicChains | None:
    """Replace the chains of a network by links; None if it has none.

    Examples
    --------
    >>> from forestcoll.topology import load_topology
    >>> found = nic_chains(load_topology("dgx_a100:boxes=2,nics=nodes"))
    >>> len(found.topology.nodes), len(found.reduced.nodes)
    (43, 19)
    >>> nic_chains(load_topology("dgx_a100:boxes=2")) is None
    True
    """
    if topology.shared:
        return None
    beside: _Beside = defaultdict(dict)
    near: dict[int, set[int]] = defaultdict(set)
    for link in topology.links:
        beside[link.tail][link.head] = link.bandwidth_gb_s
        near[link.tail].add(link.head)
        near[link.head].add(link.tail)
    home = _homes(topology, beside, near)
    box, hubs = _relays_and_hubs(topology, home, near)
    chained = {v for v in box if v not in home and v not in {*home.values()}}
    if not chained or not hubs or any(near[v] & {*home.values()} for v in chained):
        return None
    parts = list(_components(chained, near))
    links: dict[tuple[int, int], tuple[Fraction, tuple[int, ...]]] = {}
    relays: dict[int, frozenset[int]] = {}
    for part in parts:
        around = {u for v in part for u in near[v]} - part
        gpus, ends = sorted(around - hubs), sorted(around & hubs)
        if len(ends) != 1 or len({home[gpu] for gpu in gpus}) != 1:
            return None
        relays |= {v: frozenset(gpus) for v in part}
        for outward in (True, False):
            for gpu, wide, between in _chains_of(gpus, part, ends[0], beside, outward=outward):
                pair = (gpu, ends[0]) if outward else (ends[0], gpu)
                if pair in links or pair[1] in beside[pair[0]]:
                    return None
                links[pair] = wide, between
    return _reduced(topology, chained, links, relays)


def _homes(topology: Topology, beside: _Beside, near: dict[int, set[int]]) -> dict[int, int]:
    """Return the fastest switch of each GPU, idle ones too."""
    found = {}
    for gpu, node in enumerate(topology.nodes):
        if node.kind is not NodeKind.SWITCH:
            switches = [v for v in near[gpu] if topology.nodes[v].kind is NodeKind.SWITCH]
            wide = {v: beside[gpu].get(v, 0) + beside[v].get(gpu, 0) for v in switches}
            found[gpu] = max(switches, key=lambda v: (wide[v], -v), default=gpu)
    return found


def _relays_and_hubs(
    topology: Topology, home: dict[int, int], near: dict[int, set[int]]
) -> tuple[dict[int, int], set[int]]:
    """Return the box of each node that belongs to one, by its switch, and the nodes between."""
    box, hubs = {**home, **{v: v for v in home.values()}}, set[int]()
    while True:
        beside = {
            v: {box[u] for u in near[v] if u in box}
            for v in topology.switches
            if v not in box and v not in hubs
        }
        found = {v: boxes for v, boxes in beside.items() if boxes}
        if not found:
            return box, hubs
        hubs |= {v for v, boxes in found.items() if len(boxes) > 1}
        box |= {v: next(iter(boxes)) for v, boxes in found.items() if len(boxes) == 1}


def _components(nodes: set[int], near: dict[int, set[int]]) -> Iterator[set[int]]:
    left = set(nodes)
    while left:
        part, waiting = set[int](), [min(left)]
        while waiting:
            node = waiting.pop()
            if node in left:
                left.remove(node)
                part.add(node)
                waiting += near[node] & left
        yield part


def _chains_of(
    gpus: Sequence[int], part: set[int], hub: int, beside: _Beside, *, outward: bool
) -> Iterator[tuple[int, Fraction, tuple[int, ...]]]:
    """Yield a chain for each GPU that gets one: its bandwidth, and the switches as data runs."""
    room: dict[tuple[int, int], Fraction] = {}
    for tail in (*gpus, *part, hub):
        for head, wide in beside[tail].items():
            if head in part or (tail in part and head in (*gpus, hub)):
                room[(tail, head) if outward else (head, tail)] = wide
    onward: dict[int, list[int]] = defaultdict(list)
    for tail, head in sorted(room):
        if head in part or head == hub:
            onward[tail].append(head)
    for gpu in gpus:
        path = _widest(gpu, hub, onward, room)
        if path is None:
            continue
        wide = min(room[hop] for hop in pairwise(path))
        for hop in pairwise(path):
            room[hop] -= wide
        between = tuple(path[1:-1])
        yield gpu, wide, between if outward else between[::-1]


def _widest(
    start: int, end: int, onward: dict[int, list[int]], room: dict[tuple[int, int], Fraction]
) -> list[int] | None:
    """Return the widest path, of these one of the fewest hops; None if nothing is left."""
    heap: list[tuple[Fraction, int, int, list[int]]] = [(Fraction(-(10**30)), 0, start, [start])]
    done = set[int]()
    while heap:
        narrow, hops, node, path = heapq.heappop(heap)
        if node == end:
            return path
        if node in done:
            continue
        done.add(node)
        for then in onward[node]:
            if room[node, then] > 0 and then not in done:
                wide = max(narrow, -room[node, then])
                heapq.heappush(heap, (wide, hops + 1, then, [*path, then]))
    return None


def _reduced(
    topology: Topology,
    chained: set[int],
    links: dict[tuple[int, int], tuple[Fraction, tuple[int, ...]]],
    relays: dict[int, frozenset[int]],
) -> NicChains:
    kept = tuple(v for v in range(len(topology.nodes)) if v not in chained)
    place = {v: i for i, v in enumerate(kept)}
    made = [
        Link(place[link.tail], place[link.head], link.bandwidth_gb_s, link.latency_us)
        for link in topology.links
        if link.tail in place and link.head in place
    ]
    made += [Link(place[tail], place[head], wide) for (tail, head), (wide, _) in links.items()]
    made.sort(key=lambda link: (link.tail, link.head))
    nodes = tuple(topology.nodes[v] for v in kept)
    return NicChains(
        topology,
        Topology(topology.name, nodes, tuple(made)),
        kept,
        {(place[tail], place[head]): between for (tail, head), (_, between) in links.items()},
        relays,
    )
