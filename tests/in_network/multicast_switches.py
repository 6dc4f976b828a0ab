"""In-network multicast the slow way, for comparison, and ways to mark switches."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from forestcoll.schedule import Forest, MulticastForest
from forestcoll.topology import Topology

Hop = tuple[int, int]


def marked(topology: Topology, switches: Collection[str]) -> Topology:
    """The same network, in which these switches and no others can multicast."""
    nodes = [replace(node, multicast=node.name in switches) for node in topology.nodes]
    return Topology(topology.name, tuple(nodes), topology.links)


def with_marks(forest: Forest, switches: Collection[str]) -> Forest:
    """The same forest on a network in which these switches can multicast."""
    topology = marked(forest.topology, switches)
    claim = None if forest.optimum is None else replace(forest.optimum, topology=topology)
    return replace(forest, topology=topology, optimum=claim)


def loads_by_hand(forest: Forest) -> tuple[int, ...]:
    """Loads with multicast, one tree at a time, by the rule of ``forestcoll.multicast``.

    A path is read from the root outwards; what lies before the last node that already has the
    data is not sent. In a reduction this is the mirror image.
    """
    loads: Counter[Hop] = Counter()
    nodes = forest.topology.nodes
    turn = -1 if forest.reduction else 1
    for root, paths in _single_trees(forest):
        has = {forest.topology.compute[root]}
        for path in paths:
            outwards = _straight(forest, path[::turn])
            start = max(i for i, node in enumerate(outwards) if node in has)
            sent = outwards[start:]
            loads.update(hop[::turn] for hop in pairwise(sent))
            has |= {v for v in sent if nodes[v].multicast or not nodes[v].is_switch}
    return tuple(loads[link.tail, link.head] for link in forest.topology.links)


def _straight(forest: Forest, path: Sequence[int]) -> Sequence[int]:
    """Cut the loops of a path at switches that multicast."""
    for i, node in enumerate(path):
        if forest.topology.nodes[node].multicast and node in path[i + 1 :]:
            last = len(path) - 1 - path[::-1].index(node)
            return _straight(forest, [*path[:i], *path[last:]])
    return path


def _single_trees(forest: Forest) -> Iterator[tuple[int, list[tuple[int, ...]]]]:
    """Trees one by one, each as the paths of its edges, parents first; paths go in their order."""
    left = {
        link: [path.nodes for path in paths for _ in range(path.multiplicity)]
        for link, paths in forest.routes.paths().items()
    }
    for tree in forest.trees():
        for _ in range(tree.multiplicity):
            turn = -1 if forest.reduction else 1
            yield tree.root, [left[edge[::turn]].pop(0) for edge in tree.edges]


def walks(forest: MulticastForest, batch: int = 0) -> list[str]:
    """The walks of a batch by the names of their nodes, joined, in order."""
    tree = list(forest.trees())[batch]
    return ["".join(forest.topology.nodes[v].name for v in walk) for walk in tree.walks]
