"""MultiTree's growth with sets and dictionaries: the oracle of the native one.

Every port of every tree is looked at anew at each turn, and every way is searched for.
"""

from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

from forestcoll.topology import Topology

Path = tuple[int, ...]


@dataclass
class Grown:
    """Parents by root and child and the paths taken by (parent, child), all by position."""

    steps: int = 0
    parent: dict[int, dict[int, int]] = field(default_factory=dict)
    paths: dict[tuple[int, int], Counter[Path]] = field(default_factory=dict)


@dataclass(frozen=True)
class Port:
    turn: tuple[int, ...]
    gpu: int
    head: int
    gpus: frozenset[int]


def grow(topology: Topology, unit: Fraction, child: str, ports: str) -> Grown:
    """Grow all trees; where one cannot grow any more its parents stay without the rest."""
    nodes, compute = topology.nodes, set(topology.compute)

    def preference(gpu: int) -> tuple[int, ...]:
        box, index = nodes[gpu].box or 0, nodes[gpu].index or 0
        return (box, index, gpu) if child.endswith("box") else (index, box, gpu)

    order = sorted(compute, key=preference)
    place = {gpu: i for i, gpu in enumerate(order)}
    hops = {gpu: _hops_to(topology, gpu) for gpu in order}
    ports_of = {gpu: _ports(topology, gpu, hops, ports) for gpu in order}
    units = {(e.tail, e.head): int(e.bandwidth_gb_s / unit) for e in topology.links}
    grown = Grown(parent={root: {} for root in order})
    senders = {root: [root] for root in order}

    def free_path(node: int, gpu: int) -> Path | None:
        if node == gpu:
            return (gpu,)
        for tail, head in units:  # sorted
            onward = hops[gpu].get(head, -2) == hops[gpu][node] - 1 and (
                head == gpu or head not in compute
            )
            if tail == node and onward and left[tail, head]:
                rest = free_path(head, gpu)
                if rest is not None:
                    return (node, *rest)
        return None

    def turn(root: int) -> bool:
        known = {root, *grown.parent[root]}
        waiting = [port for gpu in senders[root] for port in ports_of[gpu]]
        for port in sorted(waiting, key=lambda port: port.turn):
            size, first = len(order), place[port.gpu] + 1 if child.startswith("next") else 0
            for gpu in sorted(port.gpus - known, key=lambda g: (place[g] - first) % size):
                rest = free_path(port.head, gpu) if left[port.gpu, port.head] else None
                if rest is not None:
                    path = (port.gpu, *rest)
                    for hop in pairwise(path):
                        left[hop] -= 1
                    grown.parent[root][gpu] = port.gpu
                    grown.paths.setdefault((port.gpu, gpu), Counter())[path] += 1
                    return True
        return False

    while any(len(known) < len(order) - 1 for known in grown.parent.values()):
        left = dict(units)
        turns = list(order)
        while turns:
            turns = [root for root in turns if turn(root)]
        before, senders = senders, {root: [root, *grown.parent[root]] for root in order}
        if before == senders:
            break
        grown.steps += 1
    return grown


def _hops_to(topology: Topology, gpu: int) -> dict[int, int]:
    """Links from each node to a GPU, over switches alone."""
    hops, reached = {gpu: 0}, [gpu]
    for head in reached:  # grows
        if head == gpu or topology.nodes[head].is_switch:
            for link in topology.links:
                if link.head == head and link.tail not in hops:
                    hops[link.tail] = hops[head] + 1
                    reached.append(link.tail)
    return hops


def _ports(topology: Topology, gpu: int, hops: dict[int, dict[int, int]], order: str) -> list[Port]:
    """Nearest GPUs first, each over the widest of the links that are the first of shortest ways."""
    widths = sorted({link.bandwidth_gb_s for link in topology.links}, reverse=True)
    best: dict[tuple[int, int, int], set[int]] = {}
    for goal in hops:
        first = [
            (widths.index(link.bandwidth_gb_s), link.head)
            for link in topology.links
            if link.tail == gpu
            and (link.head == goal or topology.nodes[link.head].is_switch)
            and hops[goal].get(link.head, -2) == hops[goal].get(gpu, -2) - 1
        ]
        for width, head in first:
            if width == min(first)[0]:
                best.setdefault((hops[goal][gpu], width, head), set()).add(goal)
    turns = {"nearest": slice(0, 2), "widest": slice(1, None, -1), "joined": slice(0, 0)}
    return [Port(key[:2][turns[order]], gpu, key[2], frozenset(best[key])) for key in sorted(best)]
