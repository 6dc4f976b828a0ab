"""Geometry of a drawing in inches: places of nodes, frames of boxes, lanes of links."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

__all__ = ["GPU_RADIUS", "SWITCH_HEIGHT", "Frame", "Layout", "Pair", "Place", "Point"]

GPU_RADIUS = 0.16
SWITCH_HEIGHT = 0.24

Point = tuple[float, float]
Pair = tuple[int, int]
"""The tail and the head of a link."""


@dataclass(frozen=True, slots=True)
class Place:
    """The middle of a node; switches are bars of some width, GPUs are discs and have none."""

    x: float
    y: float
    width: float = 0.0

    def moved(self, x: float, y: float) -> Place:
        """Return the place shifted."""
        return replace(self, x=self.x + x, y=self.y + y)

    def nearest_x(self, x: float) -> float:
        """Return the x where a link from ``x`` meets the bar."""
        half = max(0.0, self.width / 2 - 0.12)
        return min(max(x, self.x - half), self.x + half)


@dataclass(frozen=True, slots=True)
class Frame:
    """The outline of a box: lower left corner, width and height."""

    x: float
    y: float
    width: float
    height: float
    label_on_top: bool = False


@dataclass(frozen=True)
class Layout:
    """Places of all nodes (by position in the topology), frames of boxes, lanes of links.

    ``lanes`` has the corners, from tail to head, of links that would cross other nodes if they were
    straight, such as the wrap-around links of a torus.
    """

    places: Mapping[int, Place]
    frames: Mapping[int, Frame] = field(default_factory=dict)
    lanes: Mapping[Pair, tuple[Point, ...]] = field(default_factory=dict)

    def corners(self) -> Iterable[Point]:
        """Yield points that span the drawing."""
        for place in self.places.values():
            yield (place.x - place.width / 2, place.y)
            yield (place.x + place.width / 2, place.y)
        for frame in self.frames.values():
            yield (frame.x, frame.y)
            yield (frame.x + frame.width, frame.y + frame.height)
        for lane in self.lanes.values():
            yield from lane
