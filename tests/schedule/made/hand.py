"""Forests small enough to check by hand, all optimal, for the tests of this folder."""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

import numpy as np

from forestcoll.problem.optimum import Optimum
from forestcoll.schedule.forest import Forest, Path, Routes
from forestcoll.topology.model import Link, Node, NodeKind, Topology

Edges = Sequence[tuple[int, int]]


def topology(
    name: str, gpus: str, switches: str, duplex: Iterable[tuple[str, str, Fraction | int]]
) -> Topology:
    """Nodes of one letter each; ``duplex`` lists links that run both ways."""
    nodes = [Node(c, NodeKind.COMPUTE) for c in gpus] + [Node(c, NodeKind.SWITCH) for c in switches]
    place = {node.name: i for i, node in enumerate(nodes)}
    links = []
    for one, other, bandwidth in duplex:
        links.append(Link(place[one], place[other], Fraction(bandwidth)))
        links.append(Link(place[other], place[one], Fraction(bandwidth)))
    return Topology(name, tuple(nodes), tuple(links))


def forest(
    net: Topology,
    trees: Iterable[tuple[int, int, Edges]],
    paths: Mapping[str, int],
    *,
    k: int,
    congestion: Fraction | int,
    cut: str | None = None,
    least: int | None = None,
) -> Forest:
    """Trees as (root, multiplicity, edges); paths as "axb": m, by the letters of their nodes.

    ``least`` is the least number of trees per root that fills all links, if it is not k.
    """
    trees = list(trees)
    parent = np.full((len(trees), net.num_compute), -1, dtype=np.int32)
    for batch, (_, _, edges) in enumerate(trees):
        for above, below in edges:
            parent[batch, below] = above
    gathered: dict[tuple[int, int], list[Path]] = {}
    for letters, m in paths.items():
        nodes = tuple(net.position_of[c] for c in letters)
        gathered.setdefault((net.rank_of[nodes[0]], net.rank_of[nodes[-1]]), []).append(
            Path(nodes, m)
        )
    claim = None
    if cut is not None:
        inside = tuple(sorted(net.position_of[c] for c in cut))
        rate, fewest = Fraction(congestion) / k, least or k
        claim = Optimum(net, rate, inside, fewest, rate * fewest)
    return Forest(
        topology=net,
        method="by hand",
        k=k,
        congestion=Fraction(congestion),
        root=np.array([root for root, _, _ in trees], dtype=np.int32),
        multiplicity=np.array([m for _, m, _ in trees], dtype=np.int64),
        parent=parent,
        routes=Routes.from_paths(gathered),
        optimum=claim,
    )


def ring3() -> Forest:
    """Three GPUs, each linked to both others at 1 GB/s: each root sends to both others.

    Every link carries one tree. The cut {a, b} sends two shards over 2 GB/s: 1/x* = 1.
    """
    net = topology("ring3", "abc", "", [("a", "b", 1), ("b", "c", 1), ("c", "a", 1)])
    trees = [(r, 1, [(r, v) for v in range(3) if v != r]) for r in range(3)]
    links = [p + q for p in "abc" for q in "abc" if p != q]
    return forest(net, trees, dict.fromkeys(links, 1), k=1, congestion=1, cut="ab")


def slow_ring3() -> Forest:
    """The same at 1/2 GB/s with k = 2 (1 would do), one root's trees in two batches: 1/x* = 2."""
    pairs = (("a", "b"), ("b", "c"), ("c", "a"))
    net = topology("slow ring3", "abc", "", [(p, q, Fraction(1, 2)) for p, q in pairs])
    stars = [[(r, v) for v in range(3) if v != r] for r in range(3)]
    trees = [(0, 1, stars[0]), (1, 2, stars[1]), (0, 1, stars[0]), (2, 2, stars[2])]
    links = [p + q for p in "abc" for q in "abc" if p != q]
    return forest(net, trees, dict.fromkeys(links, 2), k=2, congestion=4, cut="ab", least=1)


def star3() -> Forest:
    """Three GPUs on one switch at 2 GB/s: chains r -> r+1 -> r+2.

    Every GPU sends its own tree and one more, and receives two: 2 trees over 2 GB/s. The cut of
    all but c sends two shards over 2 GB/s: 1/x* = 1.
    """
    net = topology("star3", "abc", "w", [(c, "w", 2) for c in "abc"])
    trees = [(r, 1, [(r, (r + 1) % 3), ((r + 1) % 3, (r + 2) % 3)]) for r in range(3)]
    return forest(net, trees, {"awb": 2, "bwc": 2, "cwa": 2}, k=1, congestion=1, cut="abw")


def leaves4() -> Forest:
    """GPUs a, b on leaf x and c, d on leaf y; 3 GB/s to a leaf, 2 GB/s between the leaves.

    Each root sends to its neighbour and across, where the shard is passed on. A GPU sends 3
    trees, x -> y carries 2. The cut {a, b, x} sends two shards over 2 GB/s: 1/x* = 1.
    """
    duplex = [("a", "x", 3), ("b", "x", 3), ("c", "y", 3), ("d", "y", 3), ("x", "y", 2)]
    net = topology("leaves4", "abcd", "xy", duplex)
    trees = [
        (0, 1, [(0, 1), (0, 2), (2, 3)]),
        (1, 1, [(1, 0), (1, 3), (3, 2)]),
        (2, 1, [(2, 3), (2, 0), (0, 1)]),
        (3, 1, [(3, 2), (3, 1), (1, 0)]),
    ]
    paths = {"axb": 2, "bxa": 2, "cyd": 2, "dyc": 2, "axyc": 1, "bxyd": 1, "cyxa": 1, "dyxb": 1}
    return forest(net, trees, paths, k=1, congestion=1, cut="abx")


def rails2() -> Forest:
    """Two GPUs joined by two switches, at 1 and 2 GB/s: k = 3 trees each way over two paths.

    One tree over 1 GB/s and two over 2 GB/s: U = 1. The cut {a} sends one shard over 3 GB/s.
    """
    duplex = [("a", "s", 1), ("s", "b", 1), ("a", "t", 2), ("t", "b", 2)]
    net = topology("rails2", "ab", "st", duplex)
    paths = {"asb": 1, "atb": 2, "bsa": 1, "bta": 2}
    return forest(net, [(0, 3, [(0, 1)]), (1, 3, [(1, 0)])], paths, k=3, congestion=1, cut="a")


FORESTS = {make.__name__: make for make in (ring3, slow_ring3, star3, leaves4, rails2)}
"""All of them, by name."""

MUTABLE = {name: make for name, make in FORESTS.items() if name != "rails2"}
"""Those of three GPUs or more, which every mutation applies to."""
