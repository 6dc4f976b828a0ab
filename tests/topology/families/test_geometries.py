"""Finite geometries, by the axioms that define them."""

import networkx as nx
import pytest
from scipy.sparse.csgraph import shortest_path

from forestcoll.topology.families.geometries import (
    Geometry,
    cayley_hexagon,
    projective_plane,
    symplectic_quadrangle,
)


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
def test_polygons_have_the_diameter_of_their_sides_and_twice_the_girth(geometry, sides, size):
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
