"""Routes of links on a drawing: straight, curved around nodes, or along lanes.

A link behind a node would look like a chain of links. The search takes links times nodes.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from forestcoll.draw.layouts.places import GPU_RADIUS, SWITCH_HEIGHT, Layout, Pair, Place, Point

__all__ = ["Route", "clearance", "routes"]

_SIZES = (0.03, 0.06, 0.09, 0.12, 0.16, 0.2, 0.25, 0.3, 0.36, 0.42)
_BENDS = (0.0, *(sign * size for size in _SIZES for sign in (1, -1)))
"""Bends that are tried in order: distance from the straight line as a share of its length."""

_APART = 0.1
"""Bend of two links of different bandwidth between the same nodes."""

_ROOM = 0.015  # inches between a link and a node that it passes
_MOST_CHECKS = 100_000  # routes times nodes; when they are used up, links are straight


@dataclass(frozen=True, slots=True)
class Route:
    """The points of a link: two for a straight line, three for a curve, more for corners."""

    points: tuple[Point, ...]

    def span(self) -> list[Point]:
        """Return the lower left and upper right corners of the link's bounding box."""
        dense = self.dense()
        (left, bottom), (right, top) = dense.min(axis=0).tolist(), dense.max(axis=0).tolist()
        return [(left, bottom), (right, top)]

    def shortened(self, by: float) -> Route:
        """Return the route without its end, where a node would hide the arrow head."""
        dense = self.dense()
        rest = np.hypot(*(dense - dense[-1]).T) >= by
        last = int(np.flatnonzero(rest).max(initial=0))
        inner, outer = dense[last + 1 if last + 1 < len(dense) else -1], dense[last]
        near, far = (float(np.hypot(*(point - dense[-1]))) for point in (inner, outer))
        share = (far - by) / (far - near) if far > near else 0.0
        end = outer + min(max(share, 0.0), 1.0) * (inner - outer)
        return Route(tuple((float(x), float(y)) for x, y in [*dense[: last + 1], end]))

    def dense(self) -> npt.NDArray[np.float64]:
        """Return points along the line as it is drawn, shape (n, 2)."""
        corners = np.array(self.points)
        if len(corners) == 3:
            t = np.linspace(0, 1, _samples(corners))[:, None]
            return np.asarray(
                (1 - t) ** 2 * corners[0] + 2 * t * (1 - t) * corners[1] + t**2 * corners[2]
            )
        share = np.linspace(0, 1, _samples(corners))[:, None]
        pieces = [a + share * (b - a) for a, b in itertools.pairwise(corners)]
        return np.concatenate(pieces)


def _samples(corners: npt.NDArray[np.float64]) -> int:
    """Return the number of sample points on a line: one for each third of a GPU's radius."""
    longest = float(np.hypot(*np.diff(corners, axis=0).T).max())
    return int(np.clip(3 * longest / GPU_RADIUS, 8, 300))


def routes(layout: Layout, links: Iterable[Pair], unlike: Iterable[Pair] = ()) -> dict[Pair, Route]:
    """Find a route for each link that crosses no node; a straight one if there is none.

    Parameters
    ----------
    unlike : iterable of (tail, head)
        Links to draw beside their reverse, not on it.
    """
    chosen, beside = list(links), set(unlike)
    nodes = _Nodes.of(layout.places)
    left = _MOST_CHECKS // max(1, len(layout.places))
    found = {}
    for pair in chosen:
        found[pair], used = _way(layout, pair, pair in beside, nodes, left)
        left -= used
    return found


def clearance(route: Route, pair: Pair, places: Mapping[int, Place]) -> float:
    """Return the distance in inches of a link to the nearest node other than its ends."""
    return _Nodes.of(places).clearance(route, pair)


@dataclass(frozen=True)
class _Nodes:
    """All nodes as rectangles with round ends: middles, half widths and half heights."""

    ids: npt.NDArray[np.int64]
    middles: npt.NDArray[np.float64]
    halves: npt.NDArray[np.float64]

    @classmethod
    def of(cls, places: Mapping[int, Place]) -> _Nodes:
        ids = np.array(list(places), dtype=np.int64)
        middles = np.array([(place.x, place.y) for place in places.values()]).reshape(-1, 2)
        halves = [
            (place.width / 2, SWITCH_HEIGHT / 2) if place.width else (0.0, 0.0)
            for place in places.values()
        ]
        return cls(ids, middles, np.array(halves).reshape(-1, 2))

    def clearance(self, route: Route, pair: Pair) -> float:
        others = ~np.isin(self.ids, pair)
        if not others.any():
            return float("inf")
        away = np.abs(route.dense()[:, None] - self.middles[None, others]) - self.halves[others]
        distance = np.hypot(*np.moveaxis(np.clip(away, 0, None), -1, 0))
        radius = np.where(self.halves[others, 0] > 0, 0.0, GPU_RADIUS)
        return float((distance - radius).min())


def _way(layout: Layout, pair: Pair, beside: bool, nodes: _Nodes, most: int) -> tuple[Route, int]:
    """Return the route of a link and the number of routes tried, at most ``most``."""
    tail, head = (layout.places[v] for v in pair)
    lane = layout.lanes.get(pair) or layout.lanes.get(pair[::-1], ())[::-1]
    if lane:
        start, end = _meet(tail, lane[0]), _meet(head, lane[-1])
        return Route((start, *lane, end)), 0
    x = tail.nearest_x(head.x)
    start = _meet(tail, (head.nearest_x(x), head.y))
    end = _meet(head, start)
    best, widest, used = _curve(start, end, _APART * beside), -np.inf, 0
    for bend in _BENDS[:most]:
        way = _curve(start, end, bend + _APART * beside)
        room, used = nodes.clearance(way, pair), used + 1
        if room > widest:
            best, widest = way, room
        if widest >= _ROOM:
            break
    return best, used


def _meet(place: Place, towards: Point) -> Point:
    """Return the point where a link from ``towards`` meets a node: the near edge of a bar."""
    if not place.width:
        return (place.x, place.y)
    side = np.sign(towards[1] - place.y) * SWITCH_HEIGHT / 2
    return (place.nearest_x(towards[0]), place.y + float(side))


def _curve(start: Point, end: Point, bend: float) -> Route:
    """Bend a line to its left, by a share of its length."""
    if not bend:
        return Route((start, end))
    (a, b), (c, d) = start, end
    return Route((start, ((a + c) / 2 - bend * (d - b), (b + d) / 2 + bend * (c - a)), end))
