"""Roots of line digraphs: recognised exactly where Heuchenne's condition holds."""

from itertools import combinations

import numpy as np
import pytest

from forestcoll.topology import Topology, line_graph, load_topology
from forestcoll.topology.symmetry.line_roots import LineRoot, line_root

BASES = (
    "complete_bipartite:degree=2",
    "diamond",
    "de_bruijn:degree=2,length=3",
    "modified_de_bruijn:degree=2,length=3",
    "generalized_kautz:degree=2,nodes=9",
    "hypercube:dimension=3",
)


def root_of(topology: Topology) -> LineRoot | None:
    ends = np.array([(link.tail, link.head) for link in topology.links]).T
    return line_root(len(topology.nodes), *ends)


@pytest.mark.parametrize("spec", BASES)
def test_the_root_of_a_line_graph_is_its_base(spec: str) -> None:
    """Every link (u, v) of the base is node i of the line graph: tails and heads agree up to names.

    The names of the root's vertices are its own; links of the base share an end where arcs do.
    """
    base = load_topology(spec)
    root = root_of(line_graph(base))
    assert root is not None
    assert root.vertices == len(base.nodes)
    name = {link.tail: root.tail[i] for i, link in enumerate(base.links)}
    assert len(set(name.values())) == len(base.nodes)
    assert [name[link.tail] for link in base.links] == root.tail.tolist()
    assert [name[link.head] for link in base.links] == root.head.tolist()
    pairs = [(root.tail[i], root.head[i]) for i in root.order]
    assert pairs == sorted(pairs)


def test_condition_of_heuchenne_decides() -> None:
    """Nodes 0 and 1 both lead to 2, and only 0 to 3: their out-neighbours overlap and differ.

    With 1 -> 3 as well they are equal, and {2, 3} leads to {0, 1}: the root has two vertices with
    two parallel arcs each way, which are left out.
    """
    arcs = [(0, 2), (0, 3), (1, 2), (2, 0), (3, 1)]
    assert line_root(4, *np.array(arcs).T) is None
    both = [(0, 2), (0, 3), (1, 2), (1, 3), (2, 0), (2, 1), (3, 0), (3, 1)]
    assert line_root(4, *np.array(both).T) is None


@pytest.mark.parametrize(
    "arcs",
    [
        [(0, 1), (1, 0), (1, 2)],  # 2 leads nowhere: where its arc ends is not determined
        [(0, 1), (1, 0), (2, 0)],  # nothing leads to 2
    ],
)
def test_nodes_without_an_arc_in_or_out_have_no_root(arcs: list[tuple[int, int]]) -> None:
    assert line_root(3, *np.array(arcs).T) is None


def test_a_ring_is_its_own_line_graph_and_has_no_smaller_root() -> None:
    assert root_of(load_topology("ring:nodes=5,bidirectional=false")) is None


def test_a_loop_of_the_root_is_a_node_that_follows_itself() -> None:
    """The line digraph of two vertices with all four arcs: 00, 01, 10, 11, in de Bruijn's way."""
    arcs = [(i, j) for i in range(4) for j in range(4) if i % 2 == j // 2]
    root = line_root(4, *np.array(arcs).T)
    assert root is not None
    assert (root.tail == root.head).tolist() == [True, False, False, True]


def test_random_digraphs_against_the_definition() -> None:
    """A root is found if and only if sets of out-neighbours are equal or disjoint, and no two nodes
    have the same in- and out-neighbours; links of line graphs of random digraphs are taken away.
    """
    random, found = np.random.default_rng(5), 0
    for _ in range(300):
        size = int(random.integers(3, 5))
        base = [
            (u, v) for u in range(size) for v in range(size) if u != v and random.random() < 0.7
        ]
        arcs = [(i, j) for i, a in enumerate(base) for j, b in enumerate(base) if a[1] == b[0]]
        if arcs and random.random() < 0.5:
            del arcs[int(random.integers(len(arcs)))]
        if not arcs:
            continue
        after = [frozenset(j for i, j in arcs if i == node) for node in range(len(base))]
        before = [frozenset(i for i, j in arcs if j == node) for node in range(len(base))]
        apart = all(a == b or not a & b for a, b in combinations(after, 2))
        unlike = len(set(zip(before, after, strict=True))) == len(base)
        smaller = len(set(after)) < len(base)
        wanted = all(after) and all(before) and apart and unlike and smaller
        assert (line_root(len(base), *np.array(arcs).T) is not None) == wanted
        found += wanted
    assert 20 < found < 280
