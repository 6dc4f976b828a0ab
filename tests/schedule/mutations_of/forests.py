"""Ways to spoil a correct schedule, each with the message that must name the fault.

``MUTATIONS`` spoil a forest of at least three GPUs, whoever made it and for whatever collective;
``FILE_MUTATIONS`` spoil the data of a schedule file where the arrays of a forest could not hold the
fault.
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from forestcoll.problem.optimum import Optimum
from forestcoll.schedule.cost_model.measures import cost
from forestcoll.schedule.forest import Forest, Path, Routes
from forestcoll.topology.model import Link, Topology

Paths = dict[tuple[int, int], tuple[Path, ...]]


def _with_parents(forest: Forest, batch: int, parents: dict[int, int]) -> Forest:
    parent = forest.parent.copy()
    for child, above in parents.items():
        parent[batch, child] = above
    return replace(forest, parent=parent)


def _others(forest: Forest, batch: int) -> list[int]:
    """Ranks other than the root of a batch."""
    return [v for v in range(forest.topology.num_compute) if v != forest.root[batch]]


def _with_first_path(forest: Forest, change: Callable[[Path], Path]) -> Forest:
    """Change the first path of the first logical link."""
    paths: Paths = forest.routes.paths()
    link = min(paths)
    paths[link] = (change(paths[link][0]), *paths[link][1:])
    return replace(forest, routes=Routes.from_paths(paths))


def _with_links(forest: Forest, links: list[Link]) -> Forest:
    net = forest.topology
    return replace(forest, topology=Topology(net.name, net.nodes, tuple(links)))


def dropped_edge(forest: Forest) -> Forest:
    """The last GPU of the first tree loses its parent."""
    return _with_parents(forest, 0, {_others(forest, 0)[-1]: -1})


def cycle(forest: Forest) -> Forest:
    """Two GPUs of the last tree become each other's parents."""
    batch = forest.num_batches - 1
    one, other = _others(forest, batch)[:2]
    return _with_parents(forest, batch, {one: other, other: one})


def own_parent(forest: Forest) -> Forest:
    """A GPU of the first tree becomes its own parent."""
    rank = _others(forest, 0)[0]
    return _with_parents(forest, 0, {rank: rank})


def swapped_parent(forest: Forest) -> Forest:
    """A leaf of the first tree hangs from another GPU, and the paths are left as they are."""
    parents = forest.parent[0].tolist()
    leaf = next(v for v in _others(forest, 0) if v not in parents)
    above = next(v for v in range(len(parents)) if v not in (leaf, parents[leaf]))
    return _with_parents(forest, 0, {leaf: above})


def swapped_shards(forest: Forest) -> Forest:
    """Two trees of different roots carry each other's shard, or the first that of a child."""
    others = np.flatnonzero(forest.root != forest.root[0])
    if not len(others):
        root = int(forest.root[0])
        child = forest.parent[0].tolist().index(root)
        return _with_parents(forest, 0, {root: child, child: -1})
    parent = forest.parent.copy()
    parent[[0, others[0]]] = parent[[others[0], 0]]
    return replace(forest, parent=parent)


def parent_of_root(forest: Forest) -> Forest:
    """The root of the first tree gets a parent."""
    return _with_parents(forest, 0, {int(forest.root[0]): _others(forest, 0)[0]})


def missing_root(forest: Forest) -> Forest:
    """All trees of the last GPU that roots any are left out."""
    kept = forest.root != forest.root.max()
    return replace(
        forest,
        root=forest.root[kept],
        multiplicity=forest.multiplicity[kept],
        parent=forest.parent[kept],
    )


def wrong_multiplicity(forest: Forest) -> Forest:
    """The first tree stands for one tree more."""
    multiplicity = forest.multiplicity.copy()
    multiplicity[0] += 1
    return replace(forest, multiplicity=multiplicity)


def no_multiplicity(forest: Forest) -> Forest:
    """The last tree stands for no tree."""
    multiplicity = forest.multiplicity.copy()
    multiplicity[-1] = 0
    return replace(forest, multiplicity=multiplicity)


def wrong_k(forest: Forest) -> Forest:
    """One tree more per root is claimed."""
    return replace(forest, k=forest.k + 1)


def doubled_trees(forest: Forest) -> Forest:
    """Twice as many trees everywhere, at the congestion of before."""
    routes = replace(forest.routes, multiplicity=2 * forest.routes.multiplicity)
    return replace(
        forest, k=2 * forest.k, multiplicity=2 * forest.multiplicity, routes=routes, optimum=None
    )


def overloaded_link(forest: Forest) -> Forest:
    """The busiest link turns out to have half its bandwidth."""
    place = forest.topology.position_of
    tail, head = (place[name] for name in cost(forest).busiest_link)
    links = [
        replace(link, bandwidth_gb_s=link.bandwidth_gb_s / 2)
        if (link.tail, link.head) == (tail, head)
        else link
        for link in forest.topology.links
    ]
    return replace(_with_links(forest, links), congestion=cost(forest).time_s_per_gb * _all(forest))


def _all(forest: Forest) -> int:
    return sum(forest.weights) * forest.k


def broken_path(forest: Forest) -> Forest:
    """The first path stops short of its last node and turns back to its start."""
    return _with_first_path(forest, lambda p: replace(p, nodes=(*p.nodes[:-1], p.nodes[0])))


def wrong_start(forest: Forest) -> Forest:
    """The first path starts where it ends."""
    return _with_first_path(forest, lambda p: replace(p, nodes=(p.nodes[-1], *p.nodes[1:])))


def dead_link(forest: Forest) -> Forest:
    """The first hop of the first path runs over a link that the network does not have."""
    dead = tuple(forest.routes.hop[:2].tolist())
    links = [link for link in forest.topology.links if (link.tail, link.head) != dead]
    return _with_links(forest, links)


def path_through_gpu(forest: Forest) -> Forest:
    """The first path makes a detour through another GPU."""

    def detour(path: Path) -> Path:
        gpu = next(v for v in forest.topology.compute if v not in path.nodes)
        return replace(path, nodes=(path.nodes[0], gpu, path.nodes[-1]))

    return _with_first_path(forest, detour)


def wrong_path_multiplicity(forest: Forest) -> Forest:
    """The first path carries one tree more than run over its logical link."""
    return _with_first_path(forest, lambda p: replace(p, multiplicity=p.multiplicity + 1))


def no_path_multiplicity(forest: Forest) -> Forest:
    """The first path carries no tree."""
    return _with_first_path(forest, lambda p: replace(p, multiplicity=0))


def missing_route(forest: Forest) -> Forest:
    """The first logical link has no paths at all."""
    paths = forest.routes.paths()
    del paths[min(paths)]
    return replace(forest, routes=Routes.from_paths(paths))


def wrong_bound(forest: Forest) -> Forest:
    """A bound is claimed that the cut, the first GPU alone, does not prove."""
    net = forest.topology
    gpu = net.compute[0]
    claim = Fraction(1 + forest.weights[0]) / net.egress_gb_s[gpu]
    return replace(forest, optimum=_claim(forest, claim, (gpu,)))


def cut_with_every_gpu(forest: Forest) -> Forest:
    """The cut claimed contains every GPU, so that nothing has to leave it."""
    net = forest.topology
    return replace(forest, optimum=_claim(forest, Fraction(1), tuple(range(len(net.nodes)))))


def _claim(forest: Forest, inverse_rate: Fraction, cut: tuple[int, ...]) -> Optimum:
    """What a forest of this kind could claim."""
    return Optimum(
        forest.topology,
        inverse_rate,
        cut,
        forest.k,
        forest.k * inverse_rate,
        forest.weights,
        forest.reduction,
    )


def loose_congestion(forest: Forest) -> Forest:
    """The congestion claimed is twice the optimum that is claimed too."""
    tight = cost(forest).time_s_per_gb * _all(forest)
    return replace(forest, congestion=2 * tight)


MUTATIONS: dict[str, tuple[Callable[[Forest], Forest], str]] = {
    "dropped edge": (
        dropped_edge,
        r"^tree 0, rooted at \S+: \S+ (has no parent|sends its sum to no GPU)",
    ),
    "cycle": (cycle, r"^tree \d+, rooted at \S+: (\S+) -> \S+ -> \1 is a cycle"),
    "own parent": (own_parent, r"^tree 0, rooted at \S+: (\S+) -> \1 is a cycle"),
    "swapped parent": (swapped_parent, r"has no physical path|its paths carry|no tree uses it"),
    "two shards swapped": (
        swapped_shards,
        r"the root (has the parent .* another GPU's shard|sends its sum on to)",
    ),
    "parent of the root": (
        parent_of_root,
        r"^tree 0, rooted at \S+: the root (has the parent|sends its sum on to)",
    ),
    "missing root": (missing_root, r"^\S+ is the root of no tree"),
    "wrong multiplicity": (wrong_multiplicity, r"rooted at \S+ add up to \d+; .* k = \d+"),
    "no multiplicity": (no_multiplicity, r"^tree \d+, rooted at \S+: multiplicity is 0"),
    "wrong k": (wrong_k, r"rooted at \S+ add up to \d+; they must add up to k = \d+"),
    "doubled trees": (doubled_trees, r"^link \S+ -> \S+ is overloaded: \d+ trees over"),
    "overloaded link": (overloaded_link, r"^link \S+ -> \S+ is overloaded: \d+ trees over"),
    "broken path": (broken_path, r"^path .* of logical link .* ends at \S+; it must end at"),
    "wrong start": (wrong_start, r"^path .* of logical link .* starts at \S+; it must start at"),
    "missing link": (dead_link, r"^path .* hops from \S+ to \S+, but .* has no such link"),
    "path through a GPU": (path_through_gpu, r"^path .* passes through \S+, which is a GPU"),
    "wrong path multiplicity": (
        wrong_path_multiplicity,
        r"^logical link \S+ -> \S+ carries \d+ trees, but its paths carry \d+",
    ),
    "no path multiplicity": (no_path_multiplicity, r"^path .*: multiplicity is 0"),
    "missing route": (missing_route, r"^tree \d+, .*: the edge \S+ -> \S+ has no physical path"),
    "wrong bound": (wrong_bound, r"optimum claims 1/x\* = \S+ s per GB, but its cut proves"),
    "cut with every GPU": (cut_with_every_gpu, r"cut contains every GPU"),
}
"""Mutations of any correct forest of three GPUs or more, with what verify must say."""

OPTIMUM_MUTATIONS: dict[str, tuple[Callable[[Forest], Forest], str]] = {
    "loose congestion": (loose_congestion, r"claimed to be optimal, but its claimed congestion"),
}
"""Mutations of a forest that comes with an optimum."""


def duplicate_child(document: dict[str, Any]) -> dict[str, Any]:
    """The last child of the first tree is given a second parent."""
    edges = document["trees"][0]["edges"]
    parent, child = edges[-1]
    ranks = {0, *(end for edge in edges for end in edge)}
    edges.append([min(ranks - {parent, child}), child])
    return document


def repeated_edge(document: dict[str, Any]) -> dict[str, Any]:
    """The first edge of the first tree is there twice."""
    document["trees"][0]["edges"].append(document["trees"][0]["edges"][0])
    return document


FILE_MUTATIONS: dict[str, tuple[Callable[[dict[str, Any]], dict[str, Any]], str]] = {
    "duplicate child": (
        duplicate_child,
        r"tree 0, rooted at \S+: \S+ is a child twice, of \S+ and of \S+$",
    ),
    "repeated edge": (repeated_edge, r"tree 0, rooted at \S+: \S+ is a child twice"),
}
"""Mutations of the data of a schedule file, with what read_schedule must say."""
