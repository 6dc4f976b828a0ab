"""Layout of a tree: places of its nodes and routes of its edges.

The root is on top, with a row for each depth; many leaves of a node are wrapped into rows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from forestcoll.draw.layouts.places import GPU_RADIUS, SWITCH_HEIGHT, Place, Point

__all__ = ["Branches", "branches", "pieces"]

_DEPTH = 0.95  # inches between depths, less in deep trees
_LEAST_DEPTH = 0.5
_TALL = 10.0
_LEAF_ROW = 0.55  # between rows of leaves
_MOST_IN_A_ROW = 8  # leaves of a node; more are wrapped
_MOST_IN_A_NARROW_ROW = 3  # in a tree wider than a page
_PAGE = 10.0
_ABOVE = 0.3  # from a row of wrapped leaves to the lane that feeds it


@dataclass(frozen=True)
class Branches:
    """A tree on the page."""

    places: Mapping[int, Place]  # place of every node
    # for each node except the root, the corners of the edge from its parent
    edges: Mapping[int, tuple[Point, ...]]
    # leaves in rows; edges to them run in lanes, other edges are smooth curves
    wrapped: frozenset[int]


def branches(
    root: int, children: Mapping[int, Sequence[int]], column: float, bars: Mapping[int, float]
) -> Branches:
    """Place a tree: leaves side by side, each inner node above the middle of its children.

    Parameters
    ----------
    children : mapping
        Children of each node, in order.
    column : float
        Inches between leaves.
    bars : mapping
        Widths of the nodes drawn as bars; others are discs.
    """
    order, depth = _visit(root, children)
    step = max(_LEAST_DEPTH, min(_DEPTH, _TALL / max(1, max(depth.values()))))
    x, rows, trunks = _columns(order, children, column)
    places = {
        v: Place(x[v], -step * depth[v] - _LEAF_ROW * rows.get(v, 0), bars.get(v, 0.0))
        for v in order
    }
    edges = {
        w: _edge(places[v], places[w], trunks.get(w), -step * depth[w])
        for v in order
        for w in children[v]
    }
    return Branches(places, edges, frozenset(trunks))


def pieces(
    root: int, parents: Mapping[int, int], boxes: Sequence[int | None]
) -> tuple[dict[int, list[int]], dict[int, int]]:
    """Divide a tree into connected pieces, each inside one box.

    Returns
    -------
    members : dict
        The nodes of each piece, by its topmost node.
    above : dict
        For each piece except the root's, the topmost node of the piece above it.
    """
    children: dict[int, list[int]] = {}
    for child, parent in parents.items():
        children.setdefault(parent, []).append(child)
    top, stack = {root: root}, [root]
    members, above = {root: [root]}, {}
    while stack:
        v = stack.pop()
        for w in children.get(v, ()):
            stack.append(w)
            if boxes[w] is not None and boxes[w] == boxes[v]:
                top[w] = top[v]
                members[top[w]].append(w)
            else:
                top[w], members[w], above[w] = w, [w], top[v]
    return members, above


def _visit(root: int, children: Mapping[int, Sequence[int]]) -> tuple[list[int], dict[int, int]]:
    """Return the nodes in depth-first order, and their depths."""
    order, depth, stack = [], {root: 0}, [root]
    while stack:
        v = stack.pop()
        order.append(v)
        depth |= dict.fromkeys(children[v], depth[v] + 1)
        stack.extend(reversed(children[v]))
    return order, depth


def _columns(
    order: Sequence[int], children: Mapping[int, Sequence[int]], column: float
) -> tuple[dict[int, float], dict[int, int], dict[int, float]]:
    """Return x coordinates and, for leaves in rows, the row and the x of their trunk."""
    wide = column * sum(not below for below in children.values()) > _PAGE
    most = _MOST_IN_A_NARROW_ROW if wide else _MOST_IN_A_ROW
    x: dict[int, float] = {}
    rows: dict[int, int] = {}
    trunks: dict[int, float] = {}
    right = 0.0
    for v in order:  # leaves are visited from left to right
        leaves = [w for w in children[v] if not children[w]]
        if not children[v] and v not in x:
            x[v] = right
            right += column
        elif len(leaves) > most:
            across = max(most, math.ceil(math.sqrt((1 if wide else 2) * len(leaves))))
            for i, leaf in enumerate(leaves):
                x[leaf] = right + column * (0.5 + i % across)
                rows[leaf] = i // across
                trunks[leaf] = right - 0.1 * column
            right += column * (across + 0.5)
    for v in reversed(order):
        if children[v]:
            below = [x[w] for w in children[v]]
            x[v] = (min(below) + max(below)) / 2
    return x, rows, trunks


def _edge(parent: Place, child: Place, trunk: float | None, first_row: float) -> tuple[Point, ...]:
    """Return corners of an edge that leaves the parent and enters the child vertically."""
    below = parent.y - (SWITCH_HEIGHT / 2 if parent.width else GPU_RADIUS)
    above = child.y + (SWITCH_HEIGHT / 2 if child.width else GPU_RADIUS)
    if trunk is None:
        halfway = (parent.y + child.y) / 2
        return ((parent.x, below), (parent.x, halfway), (child.x, halfway), (child.x, above))
    lane, top = child.y + _ABOVE, first_row + _ABOVE
    way = [(parent.x, below), (parent.x, top)]
    if lane < top - 0.01:
        way += [(trunk, top), (trunk, lane)]
    return (*way, (child.x, lane), (child.x, above))
