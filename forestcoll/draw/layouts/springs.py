"""Force-directed layout of GPUs that are linked directly.

Kamada and Kawai's springs, by networkx: cubic in the nodes for each start (a few up to 40 nodes,
one up to 150, none beyond). Rings and cliques stand on a circle.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from forestcoll.topology.model import Topology

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["Coordinates", "spring_places"]

Coordinates = npt.NDArray[np.float64]
"""Points, shape (n, 2)."""

_SPRINGS_LIMIT = 150  # nodes; more stand on a circle
_SEVERAL_STARTS_LIMIT = 40  # nodes
_STARTS = 4


def spring_places(topology: Topology, nodes: Sequence[int], pitch: float) -> Coordinates:
    """Place the nodes by springs, or on a circle for rings, cliques and large graphs.

    Parameters
    ----------
    nodes : sequence of int
        Positions; the answer has a row for each.
    pitch : float
        Least distance between two nodes, in inches.
    """
    rank = {v: i for i, v in enumerate(nodes)}
    links = (
        (rank[e.tail], rank[e.head]) for e in topology.links if {e.tail, e.head} <= rank.keys()
    )
    return _spaced(_places(len(nodes), tuple(sorted({(min(e), max(e)) for e in links}))), pitch)


@cache  # the boxes of a cluster are wired alike
def _places(size: int, edges: tuple[tuple[int, int], ...]) -> Coordinates:
    """Choose between a circle and springs, for nodes 0 to size - 1 with links between them."""
    import networkx as nx

    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(range(size))
    graph.add_edges_from(edges)
    angles = math.tau * np.arange(size) / size
    circle: Coordinates = np.column_stack([np.sin(angles), np.cos(angles)])
    degrees = {degree for _, degree in graph.degree()}
    plain = degrees <= {1, 2} or degrees == {size - 1} or size > _SPRINGS_LIMIT
    return circle if plain or not nx.is_connected(graph) else _rotated(_springs(graph, circle))


def _springs(graph: nx.Graph[int], circle: Coordinates) -> Coordinates:
    """Relax from a few fixed starts and keep the drawing with the fewest collisions."""
    import networkx as nx

    random = np.random.default_rng(0)  # a fixed seed: equal networks give equal drawings
    starts = [circle]
    if len(circle) <= _SEVERAL_STARTS_LIMIT:
        starts += [random.uniform(-1, 1, circle.shape) for _ in range(_STARTS)]
    drawings = []
    for start in starts:
        found = nx.kamada_kawai_layout(graph, pos=dict(enumerate(start)))
        drawings.append(np.array([found[i] for i in range(len(start))], dtype=np.float64))
    edges = np.array(list(graph.edges))
    return min(drawings, key=lambda drawing: _collisions(drawing, edges))


def _collisions(places: Coordinates, edges: npt.NDArray[np.int64]) -> tuple[int, int]:
    """Count nodes that nearly touch a link or another node, then links that cross."""
    start, end = places[edges[:, 0]], places[edges[:, 1]]
    along = end - start
    lengths = np.linalg.norm(along, axis=1)
    offset = places[:, None] - start[None]
    share = np.clip((offset * along).sum(axis=2) / lengths**2, 0, 1)
    distance = np.linalg.norm(offset - share[:, :, None] * along, axis=2)
    distance[edges.T, np.arange(len(edges))] = np.inf
    between = np.linalg.norm(places[:, None] - places[None], axis=2)
    np.fill_diagonal(between, np.inf)
    near = 0.35 * float(np.median(lengths))
    touching = np.count_nonzero(distance < near) + np.count_nonzero(between < near)

    def left(point: Coordinates) -> npt.NDArray[np.bool_]:
        to = point[None] - start[:, None]
        return np.asarray(along[:, None, 0] * to[..., 1] - along[:, None, 1] * to[..., 0] > 0)

    apart = left(start) != left(end)
    meet = (edges[:, None, :, None] == edges[None, :, None, :]).any(axis=(2, 3))
    return int(touching), int(np.count_nonzero(apart & apart.T & ~meet)) // 2


def _rotated(places: Coordinates) -> Coordinates:
    """Rotate a drawing so that vertical lines from its nodes are far apart."""

    def turn(degrees: int) -> Coordinates:
        a = math.radians(degrees)
        return np.asarray(
            places @ np.array([[math.cos(a), math.sin(a)], [-math.sin(a), math.cos(a)]])
        )

    def narrowest(degrees: int) -> float:
        return round(float(np.diff(np.sort(turn(degrees)[:, 0])).min()), 9)

    return turn(max(range(0, 180, 3), key=narrowest))


def _spaced(places: Coordinates, pitch: float) -> Coordinates:
    """Scale until no two points are much closer than the pitch, and move into the quadrant."""
    if len(places) > 1:
        between = np.linalg.norm(places[:, None] - places[None], axis=2)
        closest = between[~np.eye(len(places), dtype=bool)].min()
        places = places * (pitch / max(closest, between.max() / (2 * len(places))))
    return np.asarray(places - places.min(axis=0))
