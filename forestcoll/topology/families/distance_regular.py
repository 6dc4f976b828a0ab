"""Distance-regular graphs of degree 4, by name.

For any two GPUs, the number of GPUs at i hops from one and j hops from the other depends only on i,
j and their distance. So such a network always has a time-optimal allgather over shortest paths.

Source: Efficient Direct-Connect Topologies for Collective Communications (NSDI 2025), appendix F,
definition 17 and table 8, which names the graphs. They are constructed here from their definitions
in Brouwer, Cohen and Neumaier, Distance-Regular Graphs (1989).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, TypeVar

from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.families.family import family
from forestcoll.topology.families.values import Choice
from forestcoll.topology.families.wiring import LinkBandwidth, cube, undirected

__all__ = [
    "Geometry", "cayley_hexagon", "distance_regular", "projective_plane", "symplectic_quadrangle",
]  # fmt: skip


Point = tuple[int, ...]
Line = tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Geometry:
    """Points, and lines as the points on them, both sorted."""

    points: tuple[Point, ...]
    lines: tuple[Line, ...]


def projective_plane(q: int) -> Geometry:
    """PG(2, q): any two points are on a line."""
    return _geometry(_points(2, q), q, lambda x, y: True)


def symplectic_quadrangle(q: int) -> Geometry:
    """W(q), a generalized quadrangle of order (q, q): lines of space on which a form is 0."""
    return _geometry(
        _points(3, q),
        q,
        lambda x, y: (_minor(x, y, 0, 1) + _minor(x, y, 2, 3)) % q == 0,
    )


def cayley_hexagon(q: int) -> Geometry:
    """H(q), a generalized hexagon of order (q, q): some lines of a quadric in six dimensions.

    The quadric is x0 x4 + x1 x5 + x2 x6 = x3^2; of its lines those belong of whose coordinates
    p_ij = x_i y_j - x_j y_i the pairs below are equal.
    """
    equal = (
        ((1, 2), (3, 4)),
        ((5, 4), (3, 2)),
        ((2, 0), (3, 5)),
        ((6, 5), (3, 0)),
        ((0, 1), (3, 6)),
        ((4, 6), (3, 1)),
    )

    def on_quadric(x: Point) -> bool:
        return (sum(x[i] * x[i + 4] for i in range(3)) - x[3] ** 2) % q == 0

    def joined(x: Point, y: Point) -> bool:
        both = sum(x[i] * y[i + 4] + x[i + 4] * y[i] for i in range(3)) - 2 * x[3] * y[3]
        return both % q == 0 and all(
            (_minor(x, y, *one) - _minor(x, y, *other)) % q == 0 for one, other in equal
        )

    return _geometry(filter(on_quadric, _points(6, q)), q, joined)


def _minor(x: Point, y: Point, i: int, j: int) -> int:
    return x[i] * y[j] - x[j] * y[i]


def _points(dimension: int, q: int) -> list[Point]:
    vectors = itertools.product(range(q), repeat=dimension + 1)
    return [v for v in vectors if next((x for x in v if x), 0) == 1]


def _geometry(points: Iterable[Point], q: int, joined: Callable[[Point, Point], bool]) -> Geometry:
    """Take the lines through all pairs of points that are joined."""
    points = tuple(points)
    pairs = itertools.combinations(points, 2)
    lines = {_line(x, y, q) for x, y in pairs if joined(x, y)}
    return Geometry(points, tuple(sorted(lines)))


def _line(x: Point, y: Point, q: int) -> Line:
    """Return x + k y for every k, and y."""
    sums = (tuple((a + k * b) % q for a, b in zip(x, y, strict=True)) for k in range(q))
    return tuple(sorted({y, *(_scaled(v, q) for v in sums)}))


def _scaled(vector: Point, q: int) -> Point:
    inverse = pow(next(x for x in vector if x), -1, q)
    return tuple(x * inverse % q for x in vector)


Pairs = tuple[tuple[int, int], ...]
T = TypeVar("T")
U = TypeVar("U")


def _octahedron() -> Pairs:
    """J(4, 2): pairs out of four, linked where they have one in common."""
    return _linked(_subsets(4, 2), lambda x, y: len(x & y) == 1)


def _paley_9() -> Pairs:
    """Elements a + b i of the field of nine, i^2 = -1, linked where they differ by a square."""
    field = list(itertools.product(range(3), repeat=2))
    squares = {((a * a - b * b) % 3, 2 * a * b % 3) for a, b in field if a or b}
    return _linked(field, lambda x, y: ((x[0] - y[0]) % 3, (x[1] - y[1]) % 3) in squares)


def _k55_minus_matching() -> Pairs:
    """Five on each side, each linked to all but one, its partner."""
    return _sides(range(5), range(5), lambda x, y: x != y)


def _heawood_distance_3() -> Pairs:
    """Points and lines of the plane of order 2, linked where the point is not on the line."""
    plane = projective_plane(2)
    return _sides(plane.points, plane.lines, lambda point, line: point not in line)


def _petersen_lines() -> Pairs:
    """Links of the Petersen graph, in which pairs out of five are linked if disjoint."""
    return _line_graph(_linked(_subsets(5, 2), frozenset.isdisjoint))


def _heawood_lines() -> Pairs:
    """Links of the Heawood graph, which has the points and lines of the plane of order 2."""
    return _line_graph(_incidence(projective_plane(2)))


def _affine_plane_of_order_4() -> Pairs:
    """Points (x, y) over the field of four and lines y = m x + c, which are all but the upright.

    Its elements are 0, 1, w and w^2 = w + 1, written 0 to 3, so that a sum is that of bits.
    """

    def on(point: tuple[int, ...], line: tuple[int, ...]) -> bool:
        (x, y), (m, c) = point, line
        product = 1 + (m + x - 2) % 3 if m and x else 0
        return y == product ^ c

    places = list(itertools.product(range(4), repeat=2))
    return _sides(places, places, on)


def _odd_4() -> Pairs:
    """O_4: triples out of seven, linked where they are disjoint."""
    return _linked(_subsets(7, 3), frozenset.isdisjoint)


def _doubled_odd_4() -> Pairs:
    """Triples and quadruples out of seven, linked where one holds the other."""
    return _sides(_subsets(7, 3), _subsets(7, 4), frozenset.issubset)


_GRAPHS: Mapping[str, Callable[[], Pairs]] = {
    "octahedron": _octahedron,
    "paley-9": _paley_9,
    "k55-minus-matching": _k55_minus_matching,
    "heawood-distance-3": _heawood_distance_3,
    "petersen-line-graph": _petersen_lines,
    "4-cube": lambda: tuple(cube(4)),
    "heawood-line-graph": _heawood_lines,
    "pg-2-3": lambda: _incidence(projective_plane(3)),
    "ag-2-4-minus-class": _affine_plane_of_order_4,
    "odd-4": _odd_4,
    # Tutte's cages are the points and lines of the smallest quadrangle and hexagon.
    "tutte-8-cage-line-graph": lambda: _line_graph(_incidence(symplectic_quadrangle(2))),
    "doubled-odd-4": _doubled_odd_4,
    "gq-3-3": lambda: _incidence(symplectic_quadrangle(3)),
    "tutte-12-cage-line-graph": lambda: _line_graph(_incidence(cayley_hexagon(2))),
    "gh-3-3": lambda: _incidence(cayley_hexagon(3)),
}
"""The graphs of table 8, in its order; ``pg``, ``ag``, ``gq`` and ``gh`` link points and lines."""


@family
def distance_regular(
    graph: Annotated[str, Choice("which of the graphs of degree 4", tuple(_GRAPHS))],
    bandwidth: LinkBandwidth = 1,
) -> TopologyBuilder:
    """Distance-regular graph of degree 4, by name: 6 to 728 GPUs."""
    pairs = _GRAPHS[graph]()
    return undirected(1 + max(b for _, b in pairs), pairs, bandwidth)


def _subsets(of: int, size: int) -> list[frozenset[int]]:
    return [frozenset(chosen) for chosen in itertools.combinations(range(of), size)]


def _linked(vertices: Sequence[T], rule: Callable[[T, T], bool]) -> Pairs:
    """Number the vertices and link the pairs that satisfy a rule."""
    numbered = itertools.combinations(enumerate(vertices), 2)
    return tuple((i, j) for (i, x), (j, y) in numbered if rule(x, y))


def _sides(left: Sequence[T], right: Sequence[U], rule: Callable[[T, U], bool]) -> Pairs:
    """Number the left vertices, then the right ones, and link the pairs that satisfy a rule."""
    numbered = itertools.product(enumerate(left), enumerate(right, len(left)))
    return tuple((i, j) for (i, x), (j, y) in numbered if rule(x, y))


def _incidence(geometry: Geometry) -> Pairs:
    """Points, then lines; a point is linked to the lines it is on."""
    return _sides(geometry.points, geometry.lines, lambda point, line: point in line)


def _line_graph(pairs: Pairs) -> Pairs:
    """Number the pairs and link those that share an end."""
    return _linked(pairs, lambda x, y: x[0] in y or x[1] in y)
