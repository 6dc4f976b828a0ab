"""Sub-demands of boxes without a common switch, solved once for each class by TE-CCL.

Problem: a sketch says which GPUs of a box get a chunk from which; in a box of direct links the
         way is left open.
Input:   a cluster, and the sketches in use.
Output:  for each sub-demand a tree from its source.
Cost:    one program of TE-CCL for each class of sub-demands; limited by work, not by time.
Source:  Cao et al., SyCCL (SIGCOMM 2025), by public descriptions: sub-demands of a step and group
         are merged, solved by a program like TE-CCL's, and isomorphic ones are solved once.

Rotations move a source of a box to all others, so the merged sub-demand of a box has a chunk of
each of its GPUs. A class is the set of distances from a source to its destinations. It is solved
once for all steps, boxes and sketches. Behind a common switch a source sends to its destinations
itself: each GPU then sends and receives as much as any other, and no more than needed.

Departures: sub-demands for some GPUs of a box only are not solved, since other GPUs would forward
what they get elsewhere. Nor are boxes that differ in their links, all-to-alls, and groups of other
layers; transfers take the least-cost paths there. The size of a chunk does not count, since the
network is solved without latencies.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from baselines.synthesizers.syccl.layers import Cluster
from baselines.synthesizers.syccl.symmetry_sketch import Sketch
from baselines.synthesizers.teccl.teccl import generate
from forestcoll.problem.demand import Demand
from forestcoll.schedule.steps import StepSchedule
from forestcoll.topology.model import Link, Node, NodeKind, Topology

__all__ = ["DIRECT", "Solved", "solve"]

_BYTES = 10**6
"""Bytes of a chunk of a sub-demand; any number, since there are no latencies."""

Numbers = npt.NDArray[np.int64]

Distances = tuple[int, ...]
"""Destinations of a source in its box: their numbers less its own, modulo the GPUs of the box."""

Edges = tuple[Numbers, Numbers, Numbers]
"""Hop, tail and head of each transfer of one chunk in its box, by number in the box."""


@dataclass(frozen=True, slots=True)
class Solved:
    """Trees of sub-demands.

    Parameters
    ----------
    trees : mapping
        For each class, the transfers of the chunk of each GPU of a box.
    """

    trees: Mapping[Distances, tuple[Edges, ...]] = field(
        default_factory=lambda: MappingProxyType({})
    )

    def hops(self, distances: Distances) -> int:
        """Hops of the deepest tree of a class; 1 if it is not solved."""
        if distances not in self.trees:
            return 1
        return 1 + max(int(hop.max()) for hop, _, _ in self.trees[distances])

    def pairs(self, cluster: Cluster) -> Iterator[tuple[Numbers, Numbers]]:
        """Yield the tails and heads of all trees, by place, in all boxes."""
        first = np.arange(cluster.boxes)[:, None] * cluster.gpus_per_box
        for edges in self.trees.values():
            for _, tail, head in edges:
                yield (first + tail).ravel(), (first + head).ravel()

    def transfers(self, cluster: Cluster, sketch: Sketch) -> tuple[Numbers, ...]:
        """Return root, step, tail and head, all but the step places, of a sketch from all roots."""
        image = cluster.rotations().astype(np.int64)
        demands = _sub_demands(cluster, sketch)
        start = self._starts(sketch, demands)
        parts: list[tuple[Numbers, ...]] = []
        direct = np.ones(len(sketch.head), dtype=np.bool_)
        for (step, source), (distances, which) in demands.items():
            if distances in self.trees:
                direct[which] = False
                parts.append(self._solved(cluster, image[:, source], distances, start[step]))
        edge = np.flatnonzero(direct)
        tails, heads, steps = (np.array(x)[edge] for x in (sketch.tail, sketch.head, sketch.step))
        shape = (cluster.places, len(edge))
        roots = np.broadcast_to(image[:, :1], shape)
        when = np.broadcast_to(np.array(start)[steps], shape)
        parts.append((roots, when, image[:, tails], image[:, heads]))
        return tuple(
            np.concatenate([part.ravel() for part in column]) for column in zip(*parts, strict=True)
        )

    def _starts(self, sketch: Sketch, demands: Mapping[tuple[int, int], _Demanded]) -> list[int]:
        """Return the first step of each step of the sketch, after all hops of those before."""
        width = [1] * sketch.num_steps
        for (step, _), (distances, _) in demands.items():
            width[step] = max(width[step], self.hops(distances))
        return [sum(width[:step]) for step in range(len(width))]

    def _solved(
        self, cluster: Cluster, sources: Numbers, distances: Distances, start: int
    ) -> tuple[Numbers, ...]:
        """Return the transfers of one sub-demand from all roots; ``sources`` are by root."""
        box, number = np.divmod(sources, cluster.gpus_per_box)
        made: list[tuple[Numbers, ...]] = []
        for each, (hop, tail, head) in enumerate(self.trees[distances]):
            root = np.flatnonzero(number == each)
            first = (box[root] * cluster.gpus_per_box)[:, None]
            shape = (len(root), len(hop))
            made.append(
                (
                    np.broadcast_to(root[:, None], shape).ravel(),
                    np.broadcast_to(start + hop, shape).ravel(),
                    (first + tail).ravel(),
                    (first + head).ravel(),
                )
            )
        return tuple(np.concatenate(column) for column in zip(*made, strict=True))


DIRECT = Solved()
"""Every source sends to its destinations itself."""

_Demanded = tuple[Distances, list[int]]


def solve(cluster: Cluster, sketches: Iterable[Sketch], work: float) -> Solved:
    """Solve the sub-demands of all sketches in boxes of equal direct links.

    Parameters
    ----------
    work : float
        CP-SAT's deterministic seconds for each phase of each program; 0 for the greedy solution.
    """
    box = _box(cluster)
    if box is None:
        return DIRECT
    classes = {
        distances: None
        for sketch in sketches
        for distances, _ in _sub_demands(cluster, sketch).values()
        if len(distances) == cluster.gpus_per_box - 1
    }
    return Solved({distances: _trees(box, distances, work) for distances in classes})


def _sub_demands(cluster: Cluster, sketch: Sketch) -> dict[tuple[int, int], _Demanded]:
    """Return the class and the transfers of the sub-demands in boxes, by step and source."""
    if cluster.layers[0].name != "box":
        return {}
    size = cluster.gpus_per_box
    transfers: dict[tuple[int, int], list[int]] = defaultdict(list)
    for number, layer in enumerate(sketch.layer):
        if layer == 0:
            transfers[sketch.step[number], sketch.tail[number]].append(number)
    return {
        key: (tuple(sorted((sketch.head[each] - key[1]) % size for each in which)), which)
        for key, which in transfers.items()
    }


def _box(cluster: Cluster) -> Topology | None:
    """Return the links between the GPUs of a box; None if they do not join them, or boxes differ.

    Where all GPUs of a box share a switch, they are at equal distances and need no program. Other
    switches of a box are left out: the trees of a sub-demand are of GPUs.
    """
    boxes = [_inside(cluster, box) for box in range(cluster.boxes)]
    first = boxes[0]
    whole = _reaches_all(first) and not _shares_a_switch(cluster)
    return first if whole and all(box.links == first.links for box in boxes) else None


def _reaches_all(box: Topology) -> bool:
    """Whether the first GPU of the box reaches all others within it."""
    heads: dict[int, set[int]] = defaultdict(set)
    for link in box.links:
        heads[link.tail].add(link.head)
    seen, left = {box.compute[0]}, [box.compute[0]]
    while left:
        new = heads.get(left.pop(), set()) - seen
        seen |= new
        left.extend(new)
    return seen.issuperset(box.compute)


def _shares_a_switch(cluster: Cluster) -> bool:
    """Whether a switch of the first box has links to all of its GPUs."""
    topology = cluster.topology
    gpus = set(_gpus(cluster, 0))
    number = topology.nodes[min(gpus)].box
    heads: dict[int, set[int]] = defaultdict(set)
    for link in topology.links:
        heads[link.tail].add(link.head)
    return any(
        gpus <= heads[switch]
        for switch in topology.switches
        if topology.nodes[switch].box == number
    )


def _gpus(cluster: Cluster, box: int) -> list[int]:
    """Return the nodes of a box's GPUs, in the order of their places."""
    places = range(box * cluster.gpus_per_box, (box + 1) * cluster.gpus_per_box)
    return [cluster.topology.compute[cluster.rank[place]] for place in places]


def _inside(cluster: Cluster, box: int) -> Topology:
    """Return the GPUs of a box by number, and the links between them."""
    topology = cluster.topology
    place = {v: i for i, v in enumerate(_gpus(cluster, box))}
    nodes = tuple(Node(f"n{i}", NodeKind.COMPUTE) for i in place.values())
    links = tuple(
        Link(place[link.tail], place[link.head], link.bandwidth_gb_s)
        for link in topology.links
        if link.tail in place and link.head in place
    )
    return Topology("box", nodes, links)


def _trees(box: Topology, distances: Distances, work: float) -> tuple[Edges, ...]:
    """Solve one class: a chunk of each GPU for the GPUs at the distances from it."""
    size = box.num_compute
    wanted = [
        (source, _BYTES, [(source + distance) % size for distance in distances])
        for source in range(size)
    ]
    demand = Demand.of_chunks(size, wanted, "sub-demand")
    made = generate(box, demand=demand, work=work)
    return tuple(_edges(made, int(source)) for source in range(size))


def _edges(made: StepSchedule, source: int) -> Edges:
    """Return the tree of a chunk in a schedule, whose clock orders its transfers."""
    sends, (chunk,) = made.sends, np.flatnonzero(made.chunks.root == source)
    which = np.flatnonzero(sends.chunk == chunk)
    assert made.clock is not None
    which = which[np.argsort(made.clock.start[which], kind="stable")]
    depth = {source: 0}
    rows = []
    for tail, head in zip(sends.tail[which].tolist(), sends.head[which].tolist(), strict=True):
        if head not in depth:  # a GPU may receive a chunk once more than it needs
            depth[head] = depth[tail] + 1
            rows.append((depth[tail], tail, head))
    hop, tail, head = np.array(rows, dtype=np.int64).T
    return hop, tail, head
