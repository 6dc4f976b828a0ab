"""Tours over direct links: what is found visits every node once."""

import subprocess
import sys
from itertools import pairwise, permutations
from typing import Any

import pytest

from baselines.networks import hamiltonian
from baselines.networks.hamiltonian import (
    LOOKS,
    Successors,
    excludes_cycle,
    find_cycle,
    find_disjoint_cycles,
    find_paths,
)
from forestcoll.topology import load_topology


def wires(spec: str) -> Successors:
    """The links of a topology of GPUs alone."""
    topology = load_topology(spec)
    return tuple(
        tuple(e.head for e in topology.links if e.tail == v) for v in range(len(topology.nodes))
    )


@pytest.mark.parametrize(
    "spec",
    [
        "ring:nodes=5",
        "torus:dims=5x5",
        "torus:dims=32x32",
        "torus:dims=6x6,wrap=false",
        "torus:dims=3x4x5",
        "hypercube:dimension=8",
        "complete:nodes=7",
        "mi250:boxes=1",
    ],
)
def test_cycles_are_hamiltonian(spec: str) -> None:
    """Each step is a link, back to the start included, and each node is there once."""
    graph = wires(spec)
    cycle = find_cycle(graph)
    assert cycle is not None
    assert cycle[0] == 0
    assert sorted(cycle) == list(range(len(graph)))
    assert all(b in graph[a] for a, b in pairwise((*cycle, cycle[0])))


def test_a_mesh_of_nine_has_no_cycle() -> None:
    """Colour it like a chess board: a cycle alternates, and 5 fields are of one colour, 4 not."""
    assert find_cycle(wires("torus:dims=3x3,wrap=false")) is None


@pytest.mark.parametrize(
    "spec", ["mi250:boxes=1,gpus_per_box=8", "ring:nodes=6,bidirectional=false", "complete:nodes=5"]
)
def test_all_paths_of_a_small_graph_are_found(spec: str) -> None:
    """Exactly those orders of the nodes in which each is linked to the next."""
    graph = wires(spec)
    orders = permutations(range(len(graph)))
    possible = {order for order in orders if all(b in graph[a] for a, b in pairwise(order))}
    found = [path for start in range(len(graph)) for path in find_paths(graph, start)]
    assert len(found) == len(set(found))
    assert set(found) == possible


def test_first_successors_are_tried_first() -> None:
    """Among the 3! paths of a complete graph from node 0, the first follows the order given."""
    graph = ((2, 1, 3), (3, 2, 0), (1, 3, 0), (0, 1, 2))
    assert find_paths(graph, 0)[0] == (0, 2, 1, 3)


def test_a_node_that_nothing_enters_has_no_path() -> None:
    assert find_paths(((1,), (), (0,)), 0) == ()


def test_the_search_stops() -> None:
    """A mesh of 30 x 31 has more paths than can be looked at; the search gives up in time."""
    find_paths(wires("torus:dims=30x31,wrap=false"), 0)


class Watched(tuple[tuple[int, ...], ...]):
    """A graph that counts how often a search looks a node up."""

    looks = 0

    def __getitem__(self, node: Any) -> Any:
        self.looks += 1
        return super().__getitem__(node)


PETERSEN = tuple(
    tuple(sorted({(v + 1) % 5, (v - 1) % 5, v + 5}))
    if v < 5
    else tuple(sorted({(v + 2) % 5 + 5, (v - 2) % 5 + 5, v - 5}))
    for v in range(10)
)
"""Three neighbours each, no cut node, odd cycles: no plain reason, and yet no Hamiltonian cycle."""


@pytest.mark.parametrize(
    "graph",
    [
        ((1,), (0, 2), (1,)),  # a path: its ends have one neighbour
        ((), (2, 3), (1, 3), (1, 2)),  # a node alone
        ((1, 2), (0, 2), (0, 1), (4, 5), (3, 5), (3, 4)),  # two triangles
        ((1, 2), (0, 2), (0, 1, 3, 4), (2, 4), (2, 3)),  # two triangles that share a node
        ((2, 3, 4), (2, 3, 4), (0, 1), (0, 1), (0, 1)),  # sides of 2 and 3
    ],
)
def test_graphs_without_a_cycle_are_excluded_early_in_the_search(graph: Successors) -> None:
    """By degrees, a cut node, or sides of different size."""
    assert excludes_cycle(graph)
    watched = Watched(graph)
    find_cycle.cache_clear()
    assert find_cycle(watched) is None
    assert watched.looks < LOOKS / 100


@pytest.mark.parametrize("spec", ["ring:nodes=2", "ring:nodes=5", "hypercube:dimension=3"])
def test_graphs_with_a_cycle_are_not_excluded(spec: str) -> None:
    """Two neighbours are enough, and so are even sides; two nodes are a cycle there and back."""
    assert not excludes_cycle(wires(spec))
    assert excludes_cycle(((), ()))


def test_simple_tests_are_tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """They take longer than a step of the search."""
    tried = []
    monkeypatch.setattr(hamiltonian, "excludes_cycle", tried.append)
    find_cycle.cache_clear()
    assert find_cycle(PETERSEN) is None
    assert tried == [PETERSEN]


def test_most_searches_do_without_networkx() -> None:
    """Those of a ring, a triangle with a tail, and a grid of 3 by 3, with sides of 5 and 4."""
    code = (
        "import sys\n"
        "from baselines.networks.hamiltonian import find_cycle, find_disjoint_cycles\n"
        "assert len(find_disjoint_cycles(((1, 3), (0, 2), (1, 3), (0, 2)))) == 1\n"
        f"assert find_cycle({wires('torus:dims=3x3,wrap=false')}) is None\n"
        "assert find_cycle(((1, 2), (0, 2), (0, 1, 3), (2,))) is None\n"
        "assert 'networkx' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_search_in_vain_is_remembered() -> None:
    """The second time nobody looks."""
    first, again = Watched(PETERSEN), Watched(PETERSEN)
    assert not excludes_cycle(first)
    find_cycle.cache_clear()
    assert find_cycle(first) is find_cycle(again) is None
    assert first.looks > LOOKS > again.looks == 0


@pytest.mark.parametrize(
    ("spec", "cycles"),
    [
        ("hypercube:dimension=4", 2),
        ("torus:dims=3x4x5", 3),
        ("complete:nodes=8", 3),
        ("ring:nodes=5", 1),
        ("ring:nodes=2", 0),
        ("torus:dims=3x3,wrap=false", 0),
    ],
)
def test_disjoint_cycles_share_no_link(spec: str, cycles: int) -> None:
    """As many as half of the fewest links at a node, but for the mesh, which has no cycle."""
    graph = wires(spec)
    found = find_disjoint_cycles(graph)
    links = [frozenset(hop) for c in found for hop in zip(c, c[1:] + c[:1], strict=True)]
    assert len(found) == cycles
    assert all(sorted(cycle) == list(range(len(graph))) for cycle in found)
    assert all(b in graph[a] for a, b in map(tuple, links))
    assert len(set(links)) == len(links) == cycles * len(graph)
