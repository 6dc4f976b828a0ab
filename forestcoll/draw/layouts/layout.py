"""Layout of a topology: places of nodes, frames of boxes and lanes of links, in inches.

Boxes stand in rows beside their scale-out switches, lattices on their grid, circulants on a circle.
Force-directed places, for other GPUs joined directly, take cubic time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from forestcoll.draw.layouts.blocks import (
    MARGIN,
    TIER,
    Block,
    along_row,
    blocks,
    free_places,
    tiers,
)
from forestcoll.draw.layouts.lattices import circle_layout, cube_layout, torus_layout
from forestcoll.draw.layouts.places import Frame, Layout, Pair, Place, Point
from forestcoll.topology.model import Topology

__all__ = ["has_lattice", "lay_out"]

_GAP = 0.3  # between frames side by side
_STREET = 0.5  # between rows of frames
_BEFORE = 0.3  # from the end of a street to the middle of a switch
_PAGE = 9.8  # width of a row of boxes, as long as a few rows are enough
_MOST_ROWS = 4  # on either side of the switches, before rows get longer

_Row = Sequence[tuple[int | None, Block]]


def lay_out(topology: Topology, also: Iterable[Pair] = ()) -> Layout:
    """Choose an arrangement: machines with their switches, a lattice, or free places.

    Parameters
    ----------
    also : iterable of (tail, head)
        Additional links that are drawn although the network lacks them.
    """
    if any(not node.is_gpu or node.box is not None for node in topology.nodes):
        pairs = {(link.tail, link.head) for link in topology.links}
        return _machines(topology, pairs.union(also))
    return _lattice(topology) or Layout(free_places(topology, range(len(topology.nodes))))


def has_lattice(topology: Topology) -> bool:
    """Whether GPUs that are joined directly have an order to be drawn in."""
    return _lattice(topology) is not None


def _lattice(topology: Topology) -> Layout | None:
    return torus_layout(topology) or cube_layout(topology) or circle_layout(topology)


def _machines(topology: Topology, pairs: Iterable[Pair]) -> Layout:
    """Arrange rows of boxes below the scale-out switches, also above if one tier joins all."""
    every, outside = list(blocks(topology).items()), tiers(topology)
    upper, lower = _sides(every, len(outside) <= 1)
    width = max((_row_width(row) for row in [*upper, *lower]), default=TIER)
    places: dict[int, Place] = {}
    frames: dict[int | None, Frame] = {}
    y = 0.0
    for row in reversed(lower):
        _put(row, _left(row, lower, width), y, places, frames)
        y += _row_height(row) + _STREET
    y -= _STREET if lower else 0.0
    for tier in outside:
        y += TIER - 0.5 * MARGIN
        places |= along_row(topology, tier, places, width, y)
    y += TIER - 0.5 * MARGIN if outside else _STREET
    for row in upper:
        mirrored = [(box, block.mirrored()) for box, block in row]
        _put(mirrored, _left(row, upper, width), y, places, frames)
        y += _row_height(row) + _STREET
    framed = {box: frame for box, frame in frames.items() if box is not None}
    streets = _streets(topology, pairs, [upper, lower], places, framed)
    return Layout(places, framed, dict(streets))


def _sides(every: _Row, two: bool) -> tuple[list[_Row], list[_Row]]:
    """Divide the boxes into rows above and rows below the switches, the nearest first."""
    widest = max((block.width for _, block in every), default=1.0) + _GAP
    columns = max(1, int(_PAGE / widest))
    if len(every) <= columns:
        return [], [every] if every else []
    sides = 2 if two else 1
    while len(every) > columns * _MOST_ROWS * sides:
        columns += 1
    half = len(every) // 2 if two else 0
    upper, lower = every[:half], every[half:]
    return (
        [upper[i : i + columns] for i in range(0, len(upper), columns)][::-1],
        [lower[i : i + columns] for i in range(0, len(lower), columns)],
    )


def _row_width(row: _Row) -> float:
    return sum(block.width + _GAP for _, block in row) - _GAP


def _left(row: _Row, rows: Sequence[_Row], width: float) -> float:
    """Return the left end of a row: centred if it is alone, else below the others' gaps."""
    return (width - _row_width(row if len(rows) == 1 else max(rows, key=_row_width))) / 2


def _row_height(row: _Row) -> float:
    return max(block.height for _, block in row)


def _put(
    row: _Row, x: float, y: float, places: dict[int, Place], frames: dict[int | None, Frame]
) -> None:
    for box, block in row:
        places |= {v: place.moved(x, y) for v, place in block.places.items()}
        frames[box] = Frame(x, y, block.width, block.height, block.upside_down)
        x += block.width + _GAP


def _streets(
    topology: Topology,
    pairs: Iterable[Pair],
    sides: Sequence[Sequence[_Row]],
    places: Mapping[int, Place],
    frames: Mapping[int, Frame],
) -> Iterator[tuple[Pair, tuple[Point, ...]]]:
    """Lead links of boxes in outer rows around the inner rows, in one bundle for each box."""
    far = {
        box: row for rows in sides for row, boxes in enumerate(rows) for box, _ in boxes if row > 0
    }
    for pair in pairs:
        for v, w in (pair, pair[::-1]):
            box = topology.nodes[v].box
            if box in far and box is not None and topology.nodes[w].box is None:
                up = places[w].y > places[v].y
                yield (v, w), _street(places[v].x, places[w].y, frames[box], far[box], up=up)


def _street(x: float, y: float, frame: Frame, row: int, *, up: bool) -> tuple[Point, ...]:
    """Return corners of a bundle: out of the box, along the street, up the gap to a switch."""
    edge = frame.y + frame.height + 0.16 if up else frame.y - 0.16
    gap = frame.x - 0.5 * _GAP + 0.05 * (row - 1)
    return ((x, edge), (gap, edge), (gap, y - _BEFORE if up else y + _BEFORE))
