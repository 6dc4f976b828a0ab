"""NCCL's NVLS and NVLS tree: NVSwitches multicast and reduce, one GPU a rail uses the NIC.

Problem: an allreduce, allgather or reduce-scatter in which a GPU sends each part to its box once.
Input:   a topology with a switch marked ``multicast`` in every box; the number of rails R.
Output:  physical trees (``MulticastForest``), R a box (NVLS) or 2 R in all (NVLS tree).
Cost:    linear in the trees' edges; N trees of N GPUs.
Source:  NCCL 2.17 (NVLS in a box), 2.18 (NVLS tree, NVLS with SHARP) and later (NVLS for allgather
         and reduce-scatter), from its release notes and the comments of its sources.
         Reimplemented from descriptions; no code of it.

Within a box the data is cut into slices, one a rail. The switch reduces a slice for the head of the
rail, a GPU with a NIC, and multicasts the result. The head's own part passes the switch too: the
loopback, since a multicast object of CUDA writes to and reads from all GPUs of the box. So in a box
of n GPUs an allreduce has n / (n + 1) of a GPU's bandwidth, and an allgather or reduce-scatter all
of it, where rings have n / (n - 1).

Between boxes, NVLS joins the heads of a rail through SHARP if all switches between them are marked,
with each box as the root of an equal part; otherwise by a ring (``between="ring"``). The NVLS tree
has a double binary tree over the heads of a rail, as in ``nccl_tree``, each with half of the slice:
for allreduces on two or more boxes, without SHARP. Other marked switches do not multicast.

In an allgather, a GPU that is no head sends its shard over all rails equally. Dead NICs reduce the
number of rails (``rails``).

Left out: the choice of channels, user buffers, and NCCL's choice among its algorithms. The module
``nccl_collnet`` has SHARP without NVLS. Differences from NCCL, and rates: docs/baselines/nccl.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from baselines.building.binary_trees import double_binary_tree
from baselines.building.composing import collect
from baselines.building.equal_trees import forest_of_rows
from baselines.interface.method import Method
from baselines.interface.parameters import check_choice
from baselines.interface.supported import GATHERING, check_supported
from baselines.networks.boxes import gpus_by_box
from baselines.networks.marked_switches import joining, marked_only, on_paths, router_by_switches
from baselines.networks.nic_attachment import find_nic_attachments
from baselines.networks.rails import Starts, rails_of
from baselines.networks.switch_paths import Router, check_size, router_of
from forestcoll.errors import InvalidParameterError, UnsupportedError
from forestcoll.in_network.mixing import mirrored
from forestcoll.in_network.pruning import multicast
from forestcoll.schedule.allreduce import Allreduce
from forestcoll.schedule.cost_model.measures import cost
from forestcoll.schedule.exact_sums import first
from forestcoll.schedule.forest import Forest
from forestcoll.schedule.multicast import MulticastForest, Walks
from forestcoll.topology.model import Topology

__all__ = ["BETWEEN", "METHODS", "generate", "generate_tree", "with_loopback"]

BETWEEN = ("sharp", "ring")
"""How the heads of a rail are joined."""

_Ints = npt.NDArray[Any]

Trees = tuple[_Ints, list[int]]
"""The parent of each rank in each tree, and the multiplicity of each tree."""


def generate(
    topology: Topology,
    collective: str = "allreduce",
    *,
    between: str | None = None,
    rails: int | None = None,
) -> MulticastForest | Allreduce[MulticastForest]:
    """Build NVLS schedules: stars around the switch of a box, rings or SHARP between boxes.

    Parameters
    ----------
    collective : str
        "allreduce", "allgather" or "reduce-scatter".
    between : str, optional
        One of ``BETWEEN``; if not given, "sharp" where all switches between heads are marked.
    rails : int, optional
        R, one per GPU of the largest box if not given, or fewer where NICs are missing.

    Raises
    ------
    InvalidParameterError
        If there is no such way between boxes, or R is not positive.
    UnsupportedError
        If the GPUs of some box are not joined by a marked switch, or, with "sharp", the heads of a
        rail are not.
    """
    check_supported("nccl-nvls", collective, GATHERING)
    if between is not None:
        check_choice("between", between, BETWEEN)
    rooted = _slices if collective == "allreduce" else _shards
    trees = partial(rooted, between=between)
    return _best("nccl-nvls", topology, collective, rails, trees, sharp=between != "ring")


def generate_tree(
    topology: Topology, collective: str = "allreduce", *, rails: int | None = None
) -> MulticastForest | Allreduce[MulticastForest]:
    """Build NVLS trees: stars around the switch of a box, two binary trees a rail between boxes.

    Parameters
    ----------
    collective : str
        "allreduce".
    rails : int, optional
        As of :func:`generate`.

    Raises
    ------
    InvalidParameterError
        If R is not positive.
    UnsupportedError
        If there is a single box, or its GPUs are not joined by a marked switch.
    """
    check_supported("nccl-nvls-tree", collective, ("allreduce",))
    check_size(topology)
    boxes = gpus_by_box(topology)
    if len(boxes) == 1:
        _inside(topology, boxes)  # refused where nccl-nvls is no way out either
        raise UnsupportedError(
            f"unsupported: {topology.name} is a single box, which has no tree; use nccl-nvls"
        )
    return _best("nccl-nvls-tree", topology, collective, rails, _trees, sharp=False)


def _best(
    method: str,
    topology: Topology,
    collective: str,
    rails: int | None,
    trees: Callable[[Router, list[list[int]], Starts], Trees],
    *,
    sharp: bool,
) -> MulticastForest | Allreduce[MulticastForest]:
    check_size(topology)
    if rails is not None and rails < 1:
        raise InvalidParameterError(f"rails is {rails}; it takes at least one")
    boxes = gpus_by_box(topology)
    inside = _inside(topology, boxes)
    network = marked_only(topology, inside | set(topology.switches if sharp else ()))

    def spread(network: Topology, starts: Starts) -> Forest:
        router = router_by_switches(network)
        forest = forest_of_rows(router, method, *trees(router, boxes, starts))
        return replace(forest, topology=network)

    made: list[MulticastForest | Allreduce[MulticastForest]] = []
    refused: list[UnsupportedError] = []
    for starts in rails_of(boxes, find_nic_attachments(router_of(topology), boxes), rails):
        try:
            found = multicast(collect(partial(spread, starts=starts), network, collective))
        except UnsupportedError as error:
            refused.append(error)
        else:
            made.append(_on(found, topology, inside))
    if not made:
        raise refused[0]
    return made[0] if len(made) == 1 else min(made, key=lambda way: cost(way).time_s_per_gb)


def _inside(topology: Topology, boxes: list[list[int]]) -> set[int]:
    if all(len(box) == 1 for box in boxes):
        raise UnsupportedError(
            f"unsupported: NVLS in {topology.name}, whose boxes have one GPU each"
        )
    router, used = router_by_switches(topology), set[int]()
    for gpus in (box for box in boxes if len(box) > 1):
        switches = joining(router, gpus)
        used |= switches
        if not switches:
            raise UnsupportedError(f"unsupported: {_no_switch(router, gpus)}")
    return used


def _no_switch(router: Router, gpus: Sequence[int]) -> str:
    """Explain why no switch of a box can carry the trees: none joins its GPUs, or several do."""
    nodes = router.topology.nodes
    those = f"those from {nodes[gpus[0]].name} to {nodes[gpus[-1]].name}"
    beside = [
        nodes[v].name
        for v in sorted(set.intersection(*on_paths(router, gpus)))
        if nodes[v].multicast
    ]
    if beside:
        return (
            f"NVLS is laid over one switch of a box here; {those} are joined by several side by "
            f"side, {beside[0]} among them, which count as one only where all GPUs are linked to "
            f"them in one proportion"
        )
    return f"NVLS needs a switch marked multicast that joins all GPUs of a box; none joins {those}"


def _on(
    made: MulticastForest | Allreduce[MulticastForest], topology: Topology, inside: Collection[int]
) -> MulticastForest | Allreduce[MulticastForest]:
    """Return the trees on the network with all multicast switches, with the loopback of NVLS."""
    if isinstance(made, Allreduce):
        gather = with_loopback(replace(made.gather, topology=topology), inside)
        if made.reduce.walk is made.gather.walk:  # mirror images, and so they are with loopback
            return Allreduce(mirrored(gather), gather)
        return Allreduce(with_loopback(replace(made.reduce, topology=topology), inside), gather)
    return with_loopback(replace(made, topology=topology), inside)


def _shards(router: Router, boxes: list[list[int]], starts: Starts, between: str | None) -> Trees:
    """Return an allgather's trees: each shard over the rails that its GPU heads, or over all."""
    rails = _heads(boxes, starts)
    around = _around(router, rails, between)
    rails_of_gpu = {
        gpu: [number for number, rail in enumerate(rails) if rail[i] == gpu] or range(len(rails))
        for i, box in enumerate(boxes)
        for gpu in box
    }
    times = math.lcm(*map(len, rails_of_gpu.values()))
    trees = [
        (number, i, gpu)
        for i, box in enumerate(boxes)
        for gpu in box
        for number in rails_of_gpu[gpu]
    ]
    heads = [rails[number] for number, _, _ in trees]
    above = np.array([around[number, i] for number, i, _ in trees])
    rows = _rows(router.topology, boxes, heads, above, [gpu for _, _, gpu in trees])
    return rows, [times // len(rails_of_gpu[gpu]) for _, _, gpu in trees]


def _slices(router: Router, boxes: list[list[int]], starts: Starts, between: str | None) -> Trees:
    """Return an allreduce's trees: each rail's slice in equal parts from its heads in all boxes."""
    rails = _heads(boxes, starts)
    heads = [rail for rail in rails for _ in boxes]
    above = _around(router, rails, between).reshape(len(heads), -1)
    roots = [head for rail in rails for head in rail]
    return _rows(router.topology, boxes, heads, above, roots), [1] * len(heads)


def _trees(router: Router, boxes: list[list[int]], starts: Starts) -> Trees:
    rails, trees = _heads(boxes, starts), double_binary_tree(len(boxes))
    heads = [rail for rail in rails for _ in trees]
    above = np.array([tree.above for tree in trees] * len(rails))
    roots = [rail[tree.above.index(-1)] for rail in rails for tree in trees]
    return _rows(router.topology, boxes, heads, above, roots), [1] * len(heads)


def _heads(boxes: list[list[int]], starts: Starts) -> list[list[int]]:
    """Return the heads of each rail, in the order of the boxes."""
    return [[box[place] for box, place in zip(boxes, rail, strict=True)] for rail in starts]


def _is_star(router: Router, rail: Sequence[int], between: str | None) -> bool:
    """Whether the heads of a rail are joined through SHARP, not in a ring."""
    if len(rail) == 1 or between == "ring":
        return False
    joined = bool(joining(router, rail))
    if between == "sharp" and not joined:
        raise UnsupportedError(
            f"unsupported: SHARP needs a switch marked multicast that joins all boxes; none does "
            f"from {router.topology.nodes[rail[0]].name} on"
        )
    return joined


def _around(router: Router, rails: Sequence[Sequence[int]], between: str | None) -> _Ints:
    """Return the box above each, -1 at the root: by rail, by box of the root, and by box."""
    boxes = np.arange(len(rails[0]))
    ring, star = np.broadcast_arrays((boxes - 1) % len(boxes), boxes[:, None])
    both = np.stack([ring, star])
    both[:, boxes, boxes] = -1
    return both[[int(_is_star(router, rail, between)) for rail in rails]]


def _rows(
    topology: Topology,
    boxes: list[list[int]],
    heads: Sequence[Sequence[int]],
    above: _Ints,
    roots: Sequence[int],
) -> _Ints:
    """Return the parent of each rank in each tree: heads as given, all others that of their box.

    Parameters
    ----------
    heads : sequence of sequences of int
        The head of each box, for each tree.
    above : int array, one row a tree
        The box above each, -1 where the root is.
    roots : sequence of int
        The root replaces the head of its box, and is the parent of that head.
    """
    rank = np.argsort(topology.ends).astype(np.int32)
    box_of = np.empty(topology.num_compute, dtype=np.int64)
    for i, box in enumerate(boxes):
        box_of[rank[box]] = i
    head, root = rank[np.array(heads)], rank[np.array(roots)][:, None]
    rows = np.where(box_of == above.argmin(axis=1)[:, None], root, head[:, box_of])
    parents = np.where(above < 0, root, np.take_along_axis(head, np.maximum(above, 0), axis=1))
    np.put_along_axis(rows, head, parents, axis=1)
    np.put_along_axis(rows, root, np.int32(-1), axis=1)
    return np.asarray(rows)


def with_loopback(forest: MulticastForest, switches: Collection[int]) -> MulticastForest:
    """Add the walks back from these switches to each sender; in a reduction, from each receiver.

    Raises
    ------
    UnsupportedError
        If a link for this is missing.
    """
    near, far = forest.ends()
    nodes = np.arange(len(forest.topology.nodes))
    is_gpu = np.array([node.is_gpu for node in forest.topology.nodes])
    sends = np.flatnonzero(np.isin(nodes, list(switches))[far] & is_gpu[near])
    reverse = forest.walks.taken(sends).backwards()
    _check_links(forest.topology, reverse)
    back = np.full(len(forest.walks), -1, dtype=np.int64)
    back[sends], walks = _numbered(forest.walks, reverse)
    more = back[forest.walk]
    many = np.where(more < 0, 1, 2)
    entries = np.repeat(forest.walk, many)
    behind = (np.cumsum(many) - 1)[more >= 0]  # the walks that are reversed
    entries[behind] = more[more >= 0]
    made = replace(
        forest,
        first_walk=np.concatenate([[0], np.cumsum(many)])[forest.first_walk],
        walk=entries,
        optimum=None,
        walks=walks,
    )
    return made.measured()


def _numbered(known: Walks, others: Walks) -> tuple[_Ints, Walks]:
    """Return the numbers of other walks, and the known walks with those that are new behind."""
    number = {walk: i for i, walk in enumerate(_in_bytes(known))}
    place = np.array([number.setdefault(walk, len(number)) for walk in _in_bytes(others)], np.int64)
    more = others.taken(np.flatnonzero(place >= len(known)))  # no two of the others are equal
    first = np.append(known.first_node, more.first_node[1:] + len(known.node))
    return place, Walks(first, np.append(known.node, more.node))


def _in_bytes(walks: Walks) -> list[bytes]:
    """Return the nodes of each walk as a key."""
    data, ends = walks.node.tobytes(), (walks.first_node * walks.node.itemsize).tolist()
    return [data[start:end] for start, end in pairwise(ends)]


def _check_links(topology: Topology, walks: Walks) -> None:
    """Refuse walks over links that are not there."""
    begins = np.ones(len(walks.node), dtype=np.bool_)
    begins[walks.first_node[1:] - 1] = False
    hop = np.flatnonzero(begins)
    near, far = walks.node[hop], walks.node[hop + 1]
    places = topology.columns.places_of(near, far)
    if (at := first(places == topology.num_links)) is not None:
        names = [topology.nodes[end].name for end in (near[at], far[at])]
        raise UnsupportedError(
            f"unsupported: NVLS sends what passes a switch both ways, and there is no link "
            f"from {names[0]} to {names[1]}"
        )


METHODS = (
    Method(
        name="nccl-nvls",
        summary="NVSwitches multicast and reduce, SHARP or a ring per NIC between the boxes",
        source="NCCL NVLS (2.17 and later)",
        generate=generate,
        collectives=("allreduce", "allgather", "reduce-scatter"),
        notes="rings between boxes without SHARP (NCCL: none); no loss in switches (NCCL: 0.85)",
    ),
    Method(
        name="nccl-nvls-tree",
        summary="NVSwitches multicast and reduce, a double binary tree per NIC between the boxes",
        source="NCCL NVLSTree (2.18 and later)",
        generate=generate_tree,
        collectives=("allreduce",),
        notes="no loss in switches (NCCL: 0.85)",
    ),
)
