"""Layout of lattices: tori on their grid, hypercubes at corners, circulants on a circle."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from forestcoll.draw.layouts.places import Layout, Pair, Place, Point
from forestcoll.topology.model import Topology

__all__ = ["circle_layout", "cube_layout", "torus_layout"]

_PITCH = 1.2  # between neighbours on a grid of two dimensions
_BEHIND = 0.5  # from plane to plane of a third, along both axes
_LANE = {2: 0.34, 3: 0.25}
"""Distance of a wrap-around link from its row, by the number of dimensions."""

_MOST_ON_A_CIRCLE = 96
_ALONG = 0.5  # between neighbours on a circle

_STEPS = ((1.1, 0.0), (0.0, 1.1), (0.45, 0.4), (2.0, -0.45), (-1.0, -2.0), (4.85, -2.51))
"""Vectors from a corner of a cube to the next, by dimension; no link meets a third corner."""

Coordinates = Mapping[int, tuple[int, ...]]


def torus_layout(topology: Topology) -> Layout | None:
    """Put GPUs whose names have two or three coordinates on a grid, wrapping links beside it."""
    coordinates = _coordinates(topology)
    if coordinates is None:
        return None
    places = _on_grid(coordinates)
    pairs = ((link.tail, link.head) for link in topology.links if link.tail < link.head)
    lanes = {pair: _lane(pair, coordinates, places) for pair in pairs}
    return Layout(places, lanes={pair: lane for pair, lane in lanes.items() if lane})


def cube_layout(topology: Topology) -> Layout | None:
    """Put GPUs that are linked where their numbers differ in one bit on the corners of a cube."""
    size = len(topology.nodes)
    dimension = size.bit_length() - 1
    if size != 1 << dimension or not 2 <= dimension <= len(_STEPS):
        return None
    between = {link.tail ^ link.head for link in topology.links}
    if between != {1 << bit for bit in range(dimension)}:
        return None
    return Layout({v: _corner(v) for v in range(size)})


def circle_layout(topology: Topology) -> Layout | None:
    """Put the GPUs of a circulant on a circle: those whose links turn with their numbers."""
    size = len(topology.nodes)
    if not 3 <= size <= _MOST_ON_A_CIRCLE:
        return None
    links = {(link.tail, link.head): link.bandwidth_gb_s for link in topology.links}
    rotated = {((a + 1) % size, (b + 1) % size): rate for (a, b), rate in links.items()}
    if rotated != links:
        return None
    radius = _ALONG * size / (2 * math.pi) + _ALONG
    angles = (2 * math.pi * v / size for v in range(size))
    return Layout(
        {v: Place(radius * math.sin(a), radius * math.cos(a)) for v, a in enumerate(angles)}
    )


def _corner(number: int) -> Place:
    steps = [step for bit, step in enumerate(_STEPS) if number >> bit & 1]
    return Place(sum(x for x, _ in steps), sum(y for _, y in steps))


def _coordinates(topology: Topology) -> Coordinates | None:
    """Read two or three coordinates from names such as "n3.1", if all names have them."""
    found = {v: tuple(map(int, re.findall(r"\d+", n.name))) for v, n in enumerate(topology.nodes)}
    lengths = {len(numbers) for numbers in found.values()}
    regular = len(lengths) == 1 and lengths <= {2, 3} and len(set(found.values())) == len(found)
    return found if regular else None


def _on_grid(coordinates: Coordinates) -> dict[int, Place]:
    """Place nodes in rows and columns; a third dimension becomes planes behind each other."""
    behind = max(sum(numbers[2:]) for numbers in coordinates.values())
    pitch = _PITCH + _BEHIND * behind
    rows = max(numbers[0] for numbers in coordinates.values())
    return {
        v: Place(pitch * column + _BEHIND * sum(depth), pitch * (rows - row) + _BEHIND * sum(depth))
        for v, (row, column, *depth) in coordinates.items()
    }


def _lane(pair: Pair, coordinates: Coordinates, places: Mapping[int, Place]) -> tuple[Point, ...]:
    """Return the corners of a link between nodes that are not neighbours on the grid."""
    one, other = (coordinates[v] for v in pair)
    far = [axis for axis, (a, b) in enumerate(zip(one, other, strict=True)) if abs(a - b) > 1]
    if len(far) != 1 or sum(a != b for a, b in zip(one, other, strict=True)) != 1:
        return ()
    beside = _LANE[len(one)]
    away, along = _SIDES[far[0]]
    start, end = (places[v] for v in pair)
    sign = 1 if (end.x - start.x) * along[0] + (end.y - start.y) * along[1] > 0 else -1
    near = [
        (
            place.x + beside * (away[0] - turn * sign * along[0]),
            place.y + beside * (away[1] - turn * sign * along[1]),
        )
        for place, turn in ((start, 1), (end, -1))
    ]
    return (near[0], near[1])


_SIDES: Mapping[int, tuple[Point, Point]] = {
    0: ((1.0, 0.0), (0.0, 1.0)),  # a column's lane runs at its right
    1: ((0.0, -1.0), (1.0, 0.0)),  # a row's lane below it
    2: ((0.75, -0.75), (0.7, 0.7)),
}
"""By dimension: the direction to the lane and the direction along it."""
