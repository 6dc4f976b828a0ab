"""Layout of a single box: GPUs in rows or as wired, switches below and above them.

Lengths are in inches, from the lower left corner. Links out of the box pass between the GPUs. An
MI250 box is drawn as in AMD's diagrams: eight modules (OAM) of two GPUs on a ladder.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from forestcoll.draw.layouts.places import Place
from forestcoll.draw.layouts.springs import spring_places
from forestcoll.topology.families.constants import MI250_XGMI_LINKS
from forestcoll.topology.model import Topology

__all__ = [
    "MARGIN", "TIER", "Block", "along_row", "blocks", "free_places", "package_places", "tiers",
]  # fmt: skip

PITCH = 0.5  # between neighbouring GPUs
TIER = 0.85  # between rows of switches
MARGIN = 0.4  # from a frame to what it holds
_GPUS_IN_A_ROW = 16


@dataclass(frozen=True)
class Block:
    """A box laid out on its own."""

    places: dict[int, Place]
    width: float
    height: float
    upside_down: bool = False

    def mirrored(self) -> Block:
        """Return the box upside down, with its exits below."""
        mirrored = {v: replace(place, y=self.height - place.y) for v, place in self.places.items()}
        return replace(self, places=mirrored, upside_down=True)


def blocks(topology: Topology) -> dict[int | None, Block]:
    """Lay out each box; GPUs without a box make one block of their own, under None."""
    members: dict[int | None, list[int]] = {}
    for v, node in enumerate(topology.nodes):
        if node.box is not None or node.is_gpu:
            members.setdefault(node.box, []).append(v)
    boxes = sorted(members.items(), key=lambda item: (item[0] is None, item[0] or 0))
    around = _neighbours(topology)
    return {box: _block(topology, around, nodes) for box, nodes in boxes}


def tiers(topology: Topology) -> list[list[int]]:
    """Group the switches that belong to no box by their distance from the GPUs."""
    gpus = [v for v, node in enumerate(topology.nodes) if node.is_gpu]
    distance = _distance(_neighbours(topology), gpus, range(len(topology.nodes)))
    outside = [v for v, node in enumerate(topology.nodes) if not node.is_gpu and node.box is None]
    return _grouped(outside, distance)


def along_row(
    topology: Topology, row: Sequence[int], placed: Mapping[int, Place], width: float, y: float
) -> dict[int, Place]:
    """Spread switches evenly along a row, ordered by and as wide as the nodes that they join."""
    if not row:
        return {}
    around = _neighbours(topology)
    joined = {v: [placed[w].x for w in around[v] if w in placed] or [width / 2] for v in row}
    ordered = sorted(row, key=lambda v: (round(float(np.mean(joined[v])), 6), v))
    pitch = width / len(ordered)
    room = pitch if len(ordered) == 1 else 0.88 * pitch
    span = {v: max(joined[v]) - min(joined[v]) + 0.8 * PITCH for v in row}
    return {
        v: Place(pitch * (i + 0.5), y, max(min(span[v], room), min(0.7, room)))
        for i, v in enumerate(ordered)
    }


def free_places(topology: Topology, nodes: Sequence[int]) -> dict[int, Place]:
    """Let springs place nodes."""
    points = spring_places(topology, nodes, 1.3 * PITCH).tolist()
    return {v: Place(x, y) for v, (x, y) in zip(nodes, points, strict=True)}


def _block(topology: Topology, around: Sequence[set[int]], members: Sequence[int]) -> Block:
    """Lay out a box: GPUs in rows, or as they are wired; switches below and above them."""
    gpus = [v for v in members if topology.nodes[v].is_gpu]
    below, above = _box_switches(topology, around, members)
    places = _gpu_places(topology, gpus)
    right = max((place.x for place in places.values()), default=PITCH)
    low = MARGIN + (TIER if below else 0.0)
    places = {v: place.moved(MARGIN, low) for v, place in places.items()}
    width = right + 2 * MARGIN
    top = max((place.y for place in places.values()), default=low)
    places |= along_row(topology, below, places, width, MARGIN)
    for tier in above:
        top += TIER
        places |= along_row(topology, tier, places, width, top)
    return Block(places, width, top + MARGIN)


def _gpu_places(topology: Topology, gpus: Sequence[int]) -> dict[int, Place]:
    chosen = set(gpus)
    if not any(link.tail in chosen and link.head in chosen for link in topology.links):
        return _rows(gpus)
    return package_places(topology, gpus) or free_places(topology, gpus)


def _rows(gpus: Sequence[int]) -> dict[int, Place]:
    """Place GPUs in at most two rows; the lower row is offset, so that links pass between."""
    if len(gpus) <= _GPUS_IN_A_ROW:
        return {v: Place(i * PITCH, 0.0) for i, v in enumerate(gpus)}
    columns = (len(gpus) + 1) // 2
    return {
        v: Place((i % columns + 0.5 * (i // columns)) * PITCH, (1 - i // columns) * PITCH)
        for i, v in enumerate(gpus)
    }


def _box_switches(
    topology: Topology, around: Sequence[set[int]], members: Sequence[int]
) -> tuple[list[int], list[list[int]]]:
    """Divide a box's switches into those for its GPUs alone and tiers towards the exits."""
    gpus = {v for v in members if topology.nodes[v].is_gpu}
    switches = [v for v in members if not topology.nodes[v].is_gpu]
    below = [v for v in switches if around[v] <= gpus]
    distance = _distance(around, gpus, set(members).difference(below))
    return below, _grouped([v for v in switches if v not in below], distance)


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
    """Count hops from the nearest source over allowed nodes only."""
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


_ROWS = ((2, 3), (0, 1), (4, 5), (6, 7))
"""The modules, from the top; those at the ends have three links to each other."""

_ROW = 1.05
_ASIDE = 0.2  # shift of each row to the right, so that links out of the box pass beside the GPUs
_TWIN = (0.85, -0.44)  # from the first GPU of a module to the second
_COLUMN = 2.25
_WIRED = {frozenset(pair) for pairs in MI250_XGMI_LINKS.values() for pair in pairs}
_LEAST = 0.75  # the share of the links that must be there; some may be dead


def package_places(topology: Topology, gpus: Sequence[int]) -> dict[int, Place] | None:
    """Return the places of the GPUs of a box, lowest and leftmost at 0."""
    indices = {v: topology.nodes[v].index for v in gpus}
    if sorted(indices.values(), key=str) != sorted(range(len(gpus)), key=str) or len(gpus) < 8:
        return None
    chosen = set(gpus)
    joined = {
        frozenset((indices[link.tail], indices[link.head]))
        for link in topology.links
        if link.tail in chosen and link.head in chosen
    }
    expected = {pair for pair in _WIRED if max(pair) < len(gpus)}
    if not joined <= expected or len(joined) < _LEAST * len(expected):
        return None
    rows = [row for row in _ROWS if max(row) < (len(gpus) + 1) // 2]
    return {v: _place(index, rows) for v, index in indices.items() if index is not None}


def _place(index: int, rows: Sequence[tuple[int, int]]) -> Place:
    module, twin = divmod(index, 2)
    (row, column), *_ = ((i, row.index(module)) for i, row in enumerate(rows) if module in row)
    below = len(rows) - 1 - row
    x = _ASIDE * row + _COLUMN * column + _TWIN[0] * twin
    return Place(x, _ROW * below + _TWIN[1] * twin - _TWIN[1])
