"""TTO (three tree overlap): allreduces over three disjoint trees of an n x n mesh.

Problem: an allreduce on a mesh of chips without wrap-around links.
Input:   an n x n mesh, n at least 3, in which one corner is outside the group and forwards.
Output:  three in-trees and the same three as out-trees, each for a third of the data.
Cost:    linear in the links of the mesh.
Source:  Laskar et al., "Enhancing Collective Communication in MCM Accelerators for Deep Learning
         Training" (HPCA 2024), and the description in the artifacts of TTO and SuperMesh.
         Reimplemented from the construction; no code of it.

Places are (row, column), and the idle corner is (n-1, 0). Tree A goes from (0, 0) down column 0,
and right along every row. Tree B goes from (n-1, n-1) left along the last row, and up every column.
Tree C goes from (0, n-1) down a staircase along the anti-diagonal. Each place (i, n-1-i) of the
staircase sends left along its row and down its column; the place before it on the row sends down to
the next place of the staircase. No two trees share a link in one direction. C cannot reach the idle
corner; A and B pass through it. So N - 1 GPUs take part: compare with other methods on the same
network, not with an allreduce among all N.

The data is cut into chunks, each with a third for every tree. Chunks are sent in order, reduction
before broadcast: ``simulate`` with ``sharing="fifo"``. A link carries one tree's reduction and at
most one other tree's broadcast. So the pipelined rate is 3/2 of a link's bandwidth for every n.

Left out: RingBiOdd, the other method of the paper. Its abstract states two opposite one-way rings
on meshes of odd size; the ring's course is not public. Rates: docs/baselines/tto.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from baselines.building.composing import collect
from baselines.interface.method import Method
from baselines.interface.supported import check_supported
from baselines.networks.switch_paths import build_forest
from forestcoll.errors import UnsupportedError
from forestcoll.schedule.allreduce import Allreduce
from forestcoll.schedule.forest import Forest, Path, Routes
from forestcoll.topology.model import NodeKind, Topology

__all__ = ["METHODS", "Place", "generate", "three_trees"]

Place = tuple[int, int]
"""Row and column in the mesh."""


@dataclass(frozen=True, slots=True)
class _Mesh:
    """The node at each place of an n x n mesh, turned so that the idle corner is (n-1, 0)."""

    side: int
    node_at: Mapping[Place, int]

    @property
    def idle(self) -> int:
        """The node that only forwards."""
        return self.node_at[self.side - 1, 0]


def generate(topology: Topology, collective: str = "allreduce") -> Forest | Allreduce[Forest]:
    """Build the three trees.

    Parameters
    ----------
    topology : Topology
        A mesh with an idle corner: ``group(mesh, all GPUs but one corner)``.
    collective : str
        "allreduce".

    Raises
    ------
    UnsupportedError
        If the network is not an n x n mesh, n at least 3, with one idle corner.
    """
    check_supported("tto", collective, ("allreduce",))
    return collect(_spread, topology, collective)


def three_trees(side: int) -> tuple[dict[Place, Place], ...]:
    """Return the parent of each place in trees A, B and C of a mesh of this side.

    Examples
    --------
    >>> [len(tree) for tree in three_trees(4)]
    [15, 15, 14]
    """
    last, line = side - 1, range(side)
    down = {(i, 0): (i - 1, 0) for i in line[1:]}
    right = {(i, j): (i, j - 1) for i in line for j in line[1:]}
    left = {(last, j): (last, j + 1) for j in line[:-1]}
    up = {(i, j): (i + 1, j) for i in line[:-1] for j in line}
    stairs: dict[Place, Place] = {}
    for i in line[:-1]:
        column = last - i
        stairs |= {(i, j): (i, j + 1) for j in range(column)}
        # Row i itself: the staircase's own place hangs below (i - 1, column); the root does not.
        stairs |= {(row, column): (row - 1, column) for row in range(max(i, 1), side)}
    return down | right, left | up, stairs


def _spread(topology: Topology) -> Forest:
    mesh = _mesh(topology)
    rank_of, idle = topology.rank_of, mesh.idle
    parents, roots = [], []
    paths: dict[tuple[int, int], list[Path]] = {}  # of a link, one for each tree
    for tree in three_trees(mesh.side):
        above = {mesh.node_at[v]: mesh.node_at[u] for v, u in tree.items()}
        parent = np.full(topology.num_compute, -1, dtype=np.int32)
        for node, start in above.items():
            if node == idle:
                continue
            way = (above[idle], idle, node) if start == idle else (start, node)
            link = rank_of[way[0]], rank_of[node]
            parent[link[1]] = link[0]
            paths.setdefault(link, []).append(Path(way, 1))
        parents.append(parent)
        roots.append(int(np.flatnonzero(parent < 0)[0]))
    return build_forest(
        topology,
        "tto",
        root=np.array(roots, dtype=np.int32),
        multiplicity=np.ones(3, dtype=np.int64),
        parent=np.array(parents),
        paths=Routes.from_paths(paths),
        weights=tuple(int(rank in roots) for rank in range(topology.num_compute)),
    )


def _mesh(topology: Topology) -> _Mesh:
    """Place the nodes by their distances from the idle corner and from a corner beside it."""
    size = len(topology.nodes)
    side = math.isqrt(size)
    idle = [v for v in topology.switches if topology.nodes[v].kind is NodeKind.RELAY]
    if side < 3 or side**2 != size or topology.num_compute != size - 1 or len(idle) != 1:
        raise _refusal(topology)
    after = [sorted(row) for row in _neighbours(topology)]
    far = _distances(after, idle[0])
    beside = [v for v in range(size) if len(after[v]) == 2 and far[v] == side - 1]
    if not beside:
        raise _refusal(topology)
    near = _distances(after, beside[0])
    node_at: dict[Place, int] = {}
    for node in range(size):
        column = (far[node] + near[node] - (side - 1)) // 2
        node_at[near[node] - column, column] = node
    mesh = _Mesh(side, node_at)
    if set(topology.link_between) != _links(mesh):
        raise _refusal(topology)
    return mesh


def _neighbours(topology: Topology) -> list[set[int]]:
    after: list[set[int]] = [set() for _ in topology.nodes]
    for link in topology.links:
        after[link.tail].add(link.head)
    return after


def _distances(after: list[list[int]], start: int) -> list[int]:
    """Hops from a node to all; more than there are nodes to those it does not reach."""
    hops = [len(after) + 1] * len(after)
    hops[start], frontier = 0, [start]
    for node in frontier:  # which grows meanwhile
        for head in after[node]:
            if hops[head] > hops[node] + 1:
                hops[head] = hops[node] + 1
                frontier.append(head)
    return hops


def _links(mesh: _Mesh) -> set[tuple[int, int]] | None:
    """Return the links of a full mesh, None if places are missing."""
    line = range(mesh.side)
    if set(mesh.node_at) != {(i, j) for i in line for j in line}:
        return None
    steps: Iterable[tuple[Place, Place]] = [
        *(((i, j), (i, j + 1)) for i in line for j in line[:-1]),
        *(((i, j), (i + 1, j)) for i in line[:-1] for j in line),
    ]
    pairs = {(mesh.node_at[u], mesh.node_at[v]) for u, v in steps}
    return pairs | {(v, u) for u, v in pairs}


def _refusal(topology: Topology) -> UnsupportedError:
    return UnsupportedError(
        f"unsupported: {topology.name} is not an n x n mesh (n at least 3) of n^2 - 1 GPUs and one "
        f"idle corner that forwards; tto takes a mesh as a group of all GPUs but one corner"
    )


METHODS = (
    Method(
        name="tto",
        summary="three disjoint trees on a mesh, one corner of which only forwards",
        source="Laskar et al., TTO (HPCA 2024)",
        generate=generate,
        collectives=("allreduce",),
        notes="N - 1 GPUs of an n x n mesh; without RingBiOdd",
    ),
)
