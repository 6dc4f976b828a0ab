"""The graphs of table 8: size and diameter as published, distance-regular by their definition."""

import re

import networkx as nx
import numpy as np
import numpy.typing as npt
import pytest
from scipy.sparse.csgraph import shortest_path

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology import FAMILIES, Topology, load_topology
from forestcoll.topology.families.circulants import circulant
from forestcoll.topology.families.distance_regular import (
    Geometry,
    cayley_hexagon,
    distance_regular,
    projective_plane,
    symplectic_quadrangle,
)
from forestcoll.topology.families.fabrics import hypercube
from forestcoll.topology.families.grids import hamming
from tests.topology.families.graphs import degrees, diameter, digraph

TABLE_8 = {
    "octahedron": (6, 2, "4 1 | 1 4"),
    "paley-9": (9, 2, "4 2 | 1 2"),
    "k55-minus-matching": (10, 3, "4 3 1 | 1 3 4"),
    "heawood-distance-3": (14, 3, "4 3 2 | 1 2 4"),
    "petersen-line-graph": (15, 3, "4 2 1 | 1 1 4"),
    "4-cube": (16, 4, "4 3 2 1 | 1 2 3 4"),
    "heawood-line-graph": (21, 3, "4 2 2 | 1 1 2"),
    "pg-2-3": (26, 3, "4 3 3 | 1 1 4"),
    "ag-2-4-minus-class": (32, 4, "4 3 3 1 | 1 1 3 4"),
    "odd-4": (35, 3, "4 3 3 | 1 1 2"),
    "tutte-8-cage-line-graph": (45, 4, "4 2 2 2 | 1 1 1 2"),
    "doubled-odd-4": (70, 7, "4 3 3 2 2 1 1 | 1 1 2 2 3 3 4"),
    "gq-3-3": (80, 4, "4 3 3 3 | 1 1 1 4"),
    "tutte-12-cage-line-graph": (189, 6, "4 2 2 2 2 2 | 1 1 1 1 1 2"),
    "gh-3-3": (728, 6, "4 3 3 3 3 3 | 1 1 1 1 1 4"),
}
"""GPUs and diameter (T_L) as in the table; the intersection array that names the graph, as in
Brouwer and Koolen, The Distance-Regular Graphs of Valency Four (1999)."""


def distances(topology: Topology) -> npt.NDArray[np.int64]:
    """Return the hops between all pairs."""
    near = np.eye(topology.num_compute)
    for link in topology.links:
        near[link.tail, link.head] = 1
    reached, distance = np.eye(len(near)), np.zeros(near.shape, dtype=np.int64)
    while not reached.all():
        distance[reached == 0] += 1
        reached = np.minimum(reached @ near, 1)
    return distance


def intersection_array(topology: Topology) -> str:
    """Count, for two GPUs h hops apart, the neighbours of one h + 1, and h - 1, from the other.

    All pairs must agree; that is what makes a graph distance-regular.
    """
    distance = distances(topology)
    linked = (distance == 1).astype(float)

    def counted(h: int, away: int) -> int:
        counts = set((linked @ (distance == away).astype(float))[distance == h].tolist())
        assert len(counts) == 1
        return int(counts.pop())

    most = int(distance.max())
    farther = [counted(h, h + 1) for h in range(most)]
    nearer = [counted(h, h - 1) for h in range(1, most + 1)]
    return f"{' '.join(map(str, farther))} | {' '.join(map(str, nearer))}"


def test_every_graph_of_the_table_is_there():
    assert list(TABLE_8) == list(FAMILIES["distance_regular"].parameters[0].kind.choices)


@pytest.mark.parametrize("name", TABLE_8)
def test_graphs_of_table_8_are_distance_regular_with_published_size_and_diameter(name):
    nodes, hops, array = TABLE_8[name]
    topology = load_topology(f"distance_regular:graph={name}")
    assert topology.num_compute == nodes
    assert degrees(topology) == {4}
    assert {e.bandwidth_gb_s for e in topology.links} == {1}
    assert intersection_array(topology) == array
    assert int(distances(topology).max()) == hops


@pytest.mark.parametrize(
    ("name", "same"),
    [
        ("octahedron", nx.complete_multipartite_graph(2, 2, 2)),
        ("octahedron", digraph(circulant(6, (1, 2))).to_undirected()),
        ("paley-9", digraph(hamming(2, 3)).to_undirected()),
        ("petersen-line-graph", nx.line_graph(nx.petersen_graph())),
        ("heawood-line-graph", nx.line_graph(nx.heawood_graph())),
        ("odd-4", nx.kneser_graph(7, 3)),
    ],
)
def test_graphs_are_those_of_networkx_or_of_another_family(name, same):
    assert nx.is_isomorphic(digraph(distance_regular(name)).to_undirected(), same)


def test_points_of_the_heawood_graph_three_hops_apart_are_linked():
    heawood = nx.heawood_graph()
    far = dict(nx.all_pairs_shortest_path_length(heawood))
    pairs = [(u, v) for u in heawood for v in heawood if far[u][v] == 3]
    ours = digraph(distance_regular("heawood-distance-3")).to_undirected()
    assert nx.is_isomorphic(ours, nx.Graph(pairs))


def test_the_4_cube_is_the_hypercube_of_four_dimensions():
    assert distance_regular("4-cube", "12.5").links == hypercube(4, "12.5").links


def test_a_torus_of_four_by_five_is_not_distance_regular():
    """So that the test of it can fail: from (0, 0) to (1, 1) lead two ways, to (0, 2) one."""
    torus = load_topology("torus:dims=4x5")
    assert diameter(torus) == 4
    with pytest.raises(AssertionError):
        intersection_array(torus)


def test_other_names_are_refused_with_those_there_are():
    with pytest.raises(InvalidTopologyError, match=re.escape("must be octahedron or paley-9 or")):
        load_topology("distance_regular:graph=petersen")


def incidence(geometry: Geometry) -> nx.Graph:
    return nx.Graph((point, line) for line in geometry.lines for point in line)


@pytest.mark.parametrize("q", [2, 3, 5])
def test_any_two_points_of_a_plane_are_on_one_line(q):
    """q^2 + q + 1 points, as many lines, of q + 1 points each."""
    plane = projective_plane(q)
    assert len(plane.points) == len(plane.lines) == q * q + q + 1
    assert {len(line) for line in plane.lines} == {q + 1}
    through = [{line for line in plane.lines if point in line} for point in plane.points]
    for i, lines in enumerate(through):
        assert {len(lines & others) for others in through[:i]} <= {1}


@pytest.mark.parametrize(
    ("geometry", "sides", "size"),
    [
        (symplectic_quadrangle(2), 4, 15),
        (symplectic_quadrangle(3), 4, 40),
        (cayley_hexagon(2), 6, 63),
        (cayley_hexagon(3), 6, 364),
    ],
)
def test_generalized_polygons_have_the_diameter_of_their_sides_and_twice_the_girth(
    geometry, sides, size
):
    """What defines an n-gon; of order (q, q) it has 1 + q + ... + q^(n-1) points and lines."""
    graph = incidence(geometry)
    assert len(geometry.points) == len(geometry.lines) == size
    degree = len(geometry.lines[0])
    assert {d for _, d in graph.degree()} == {degree}
    hops = shortest_path(nx.to_scipy_sparse_array(graph), unweighted=True)
    assert hops.max() == sides
    # Without a cycle of fewer than 2 n edges every node is the root of a tree n - 1 hops deep.
    for far in range(1, sides):
        assert set((hops == far).sum(axis=1)) == {degree * (degree - 1) ** (far - 1)}
    assert (hops == sides).sum(axis=1).max() < degree * (degree - 1) ** (sides - 1)
