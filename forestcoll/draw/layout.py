"""Where the nodes of a drawing go.

Problem: places for nodes such that a person sees boxes, tiers and dimensions.
Input:   a topology.
Output:  a place for each node and a frame for each box, in inches.
Cost:    linear, except force-directed places for GPUs joined directly (cubic in one box's GPUs,
         or in all GPUs where there are neither boxes nor switches).
Source:  none; boxes stand in rows beside their scale-out switches, a torus on its grid.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from forestcoll.draw.springs import spring_places
from forestcoll.topology.model import Topology

__all__ = ["Frame", "Layout", "Place", "lay_out"]

_PITCH = 0.5  # between neighbouring GPUs
_TIER = 0.85  # between rows of switches
_MARGIN = 0.4  # from a frame to what it holds
_GAP = 0.3  # between frames
_BOXES_IN_A_ROW = 2  # more boxes stand on both sides of the scale-out switches
_GPUS_IN_A_ROW = 8


@dataclass(frozen=True, slots=True)
class Place:
    """The middle of a node; switches are bars of some width, GPUs are points."""

    x: float
    y: float
    width: float = 0.0

    def moved(self, x: float, y: float) -> Place:
        """Return the place shifted."""
        return replace(self, x=self.x + x, y=self.y + y)

    def nearest_x(self, x: float) -> float:
        """Return where a link from ``x`` meets the bar."""
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
    """Places of all nodes (by position in the topology) and the frames of the boxes.

    ``bent`` are the links (tail, head) that would run through other nodes if they were straight,
    such as the wrap-around links of a torus.
    """

    places: Mapping[int, Place]
    frames: Mapping[int, Frame] = field(default_factory=dict)
    bent: frozenset[tuple[int, int]] = frozenset()


@dataclass(frozen=True)
class _Block:
    """A box laid out on its own, its lower left corner at (0, 0)."""

    places: dict[int, Place]
    width: float
    height: float
    upside_down: bool = False

    def mirrored(self) -> _Block:
        turned = {v: replace(place, y=self.height - place.y) for v, place in self.places.items()}
        return replace(self, places=turned, upside_down=True)


def lay_out(topology: Topology) -> Layout:
    """Choose the arrangement that fits: machines with their switches, a grid, or freely."""
    if any(not node.is_gpu or node.box is not None for node in topology.nodes):
        return _machines(topology)
    coordinates = _coordinates(topology)
    if coordinates:
        return Layout(_on_grid(coordinates), bent=_long_links(topology, coordinates))
    return Layout(_free(topology, range(len(topology.nodes))))


def _machines(topology: Topology) -> Layout:
    """Boxes below the scale-out switches, or half of them above if one tier joins them all."""
    blocks = list(_blocks(topology).items())
    tiers = _tiers(topology)
    split = len(blocks) > _BOXES_IN_A_ROW and len(tiers) == 1
    upper = [(box, b.mirrored()) for box, b in blocks[: len(blocks) // 2]] if split else []
    lower = blocks[len(upper) :]
    width = max(_row_width(upper), _row_width(lower))
    places, frames = _row(lower, width, 0.0)
    height = max((block.height for _, block in lower), default=0.0)
    if split:
        more, more_frames = _row(upper, width, height + 2 * _TIER - _MARGIN)
        places, frames = places | more, frames | more_frames
    for tier in tiers:
        height += _TIER - 0.5 * _MARGIN
        places |= _along_row(topology, tier, places, width, height)
    return Layout(places, {box: frame for box, frame in frames.items() if box is not None})


def _blocks(topology: Topology) -> dict[int | None, _Block]:
    """Lay out each box; GPUs without a box make one block of their own, under None."""
    members: dict[int | None, list[int]] = {}
    for v, node in enumerate(topology.nodes):
        if node.box is not None or node.is_gpu:
            members.setdefault(node.box, []).append(v)
    boxes = sorted(members.items(), key=lambda item: (item[0] is None, item[0] or 0))
    return {box: _block(topology, nodes) for box, nodes in boxes}


def _block(topology: Topology, members: Sequence[int]) -> _Block:
    """GPUs in rows, or freely where they are joined directly; switches under and over them."""
    gpus = [v for v in members if topology.nodes[v].is_gpu]
    below, above = _box_switches(topology, members)
    columns = len(gpus) if topology.nodes[members[0]].box is None else _GPUS_IN_A_ROW
    places = _free(topology, gpus) if _joined(topology, gpus) else _rows(gpus, columns)
    right = max((place.x for place in places.values()), default=_PITCH)
    low = _MARGIN + (_TIER if below else 0.0)
    places = {v: place.moved(_MARGIN, low) for v, place in places.items()}
    width = right + 2 * _MARGIN
    top = max((place.y for place in places.values()), default=low)
    places |= _along_row(topology, below, places, width, _MARGIN)
    for tier in above:
        top += _TIER
        places |= _along_row(topology, tier, places, width, top)
    return _Block(places, width, top + _MARGIN)


def _joined(topology: Topology, gpus: Sequence[int]) -> bool:
    chosen = set(gpus)
    return any(link.tail in chosen and link.head in chosen for link in topology.links)


def _box_switches(topology: Topology, members: Sequence[int]) -> tuple[list[int], list[list[int]]]:
    """Part a box's switches into those for its GPUs alone, and tiers on the way out."""
    gpus = {v for v in members if topology.nodes[v].is_gpu}
    neighbours = _neighbours(topology)
    switches = [v for v in members if not topology.nodes[v].is_gpu]
    below = [v for v in switches if neighbours[v] <= gpus]
    distance = _distance(neighbours, gpus, set(members).difference(below))
    return below, _grouped([v for v in switches if v not in below], distance)


def _tiers(topology: Topology) -> list[list[int]]:
    """Group the switches that belong to no box by their distance from the GPUs."""
    gpus = [v for v, node in enumerate(topology.nodes) if node.is_gpu]
    distance = _distance(_neighbours(topology), gpus, range(len(topology.nodes)))
    outside = [v for v, node in enumerate(topology.nodes) if not node.is_gpu and node.box is None]
    return _grouped(outside, distance)


def _grouped(nodes: Iterable[int], distance: Mapping[int, int]) -> list[list[int]]:
    groups: dict[int, list[int]] = {}
    for v in nodes:
        groups.setdefault(distance.get(v, 0), []).append(v)
    return [groups[d] for d in sorted(groups)]


def _neighbours(topology: Topology) -> list[set[int]]:
    around: list[set[int]] = [set() for _ in topology.nodes]
    for link in topology.links:
        around[link.tail].add(link.head)
        around[link.head].add(link.tail)
    return around


def _distance(
    neighbours: Sequence[set[int]], sources: Iterable[int], allowed: Iterable[int]
) -> dict[int, int]:
    """Count hops from the nearest source, through allowed nodes only."""
    allowed = set(allowed)
    distance = dict.fromkeys(sources, 0)
    queue = deque(distance)
    while queue:
        v = queue.popleft()
        for w in neighbours[v] & allowed:
            if w not in distance:
                distance[w] = distance[v] + 1
                queue.append(w)
    return distance


def _rows(gpus: Sequence[int], columns: int) -> dict[int, Place]:
    """Left to right, top row first."""
    last = (len(gpus) - 1) // columns if gpus else 0
    return {
        v: Place((i % columns) * _PITCH, (last - i // columns) * _PITCH) for i, v in enumerate(gpus)
    }


def _along_row(
    topology: Topology,
    row: Sequence[int],
    placed: Mapping[int, Place],
    width: float,
    y: float,
) -> dict[int, Place]:
    """Spread switches evenly along a row, in the order of what they join and as wide as that."""
    if not row:
        return {}
    around = _neighbours(topology)
    joined = {v: [placed[w].x for w in around[v] if w in placed] or [width / 2] for v in row}
    ordered = sorted(row, key=lambda v: (round(float(np.mean(joined[v])), 6), v))
    pitch = width / len(ordered)
    room = pitch if len(ordered) == 1 else 0.88 * pitch
    span = {v: max(joined[v]) - min(joined[v]) + 0.8 * _PITCH for v in row}
    return {
        v: Place(pitch * (i + 0.5), y, max(min(span[v], room), min(0.7, room)))
        for i, v in enumerate(ordered)
    }


def _row_width(blocks: Sequence[tuple[int | None, _Block]]) -> float:
    return sum(block.width + _GAP for _, block in blocks) - _GAP


def _row(
    blocks: Sequence[tuple[int | None, _Block]], width: float, y: float
) -> tuple[dict[int, Place], dict[int | None, Frame]]:
    """Put blocks side by side, centred in the width."""
    x = (width - _row_width(blocks)) / 2
    places: dict[int, Place] = {}
    frames: dict[int | None, Frame] = {}
    for box, block in blocks:
        places |= {v: place.moved(x, y) for v, place in block.places.items()}
        frames[box] = Frame(x, y, block.width, block.height, block.upside_down)
        x += block.width + _GAP
    return places, frames


def _coordinates(topology: Topology) -> dict[int, tuple[int, ...]]:
    """Read two or three coordinates from names such as "n3.1", if all names have them."""
    found = {v: tuple(map(int, re.findall(r"\d+", n.name))) for v, n in enumerate(topology.nodes)}
    lengths = {len(numbers) for numbers in found.values()}
    regular = len(lengths) == 1 and lengths <= {2, 3} and len(set(found.values())) == len(found)
    return found if regular else {}


def _on_grid(coordinates: Mapping[int, tuple[int, ...]]) -> dict[int, Place]:
    """Rows and columns; a third dimension is drawn as planes one behind the other."""
    behind = max(sum(numbers[2:]) for numbers in coordinates.values())
    pitch = 2.4 * _PITCH * (1 + 0.4 * behind)
    rows = max(numbers[0] for numbers in coordinates.values())
    return {
        v: Place(pitch * column + _PITCH * sum(depth), pitch * (rows - row) + _PITCH * sum(depth))
        for v, (row, column, *depth) in coordinates.items()
    }


def _free(topology: Topology, nodes: Sequence[int]) -> dict[int, Place]:
    points = spring_places(topology, nodes, 1.3 * _PITCH).tolist()
    return {v: Place(x, y) for v, (x, y) in zip(nodes, points, strict=True)}


def _long_links(
    topology: Topology, coordinates: Mapping[int, tuple[int, ...]]
) -> frozenset[tuple[int, int]]:
    """Return the links between nodes that are not neighbours on the grid."""

    def apart(tail: int, head: int) -> int:
        return max(abs(a - b) for a, b in zip(coordinates[tail], coordinates[head], strict=True))

    links = ((link.tail, link.head) for link in topology.links)
    return frozenset((tail, head) for tail, head in links if apart(tail, head) > 1)
