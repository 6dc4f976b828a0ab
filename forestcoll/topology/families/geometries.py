"""Finite geometries: points and lines over the field of a prime, from their equations.

A point is a vector up to a factor, written with 1 as its first number that is not 0. A line is
the points that two of its points span.

Sources: projective planes and the symplectic quadrangle W(q), Payne and Thas, Finite Generalized
Quadrangles (2009); the split Cayley hexagon H(q) by the coordinates of its lines,
Van Maldeghem, Generalized Polygons (1998), after Tits (1959).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass

__all__ = ["Geometry", "cayley_hexagon", "projective_plane", "symplectic_quadrangle"]

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
