"""Ring: each shard runs along a ring of GPUs; several rings share the data, as NCCL and RCCL do.

Problem: an allgather by rings that enter and leave each box once and load all NICs equally.
Input:   a topology; the number of rings R.
Output:  R trees per root, each the path around one ring from the root. A broadcast has the trees of
         its root, as in NCCL; a reduce has the same backwards.
Cost:    R N logical links, and the searches of ``ring_layout``.
Source:  NCCL's rings (its graph search and connection code): per channel a chain of the GPUs of
         each box, the chains of one channel joined across boxes. Reimplemented from descriptions
         and from the channels that NCCL prints; no code of it.

Between boxes: ring r enters each box at GPU r and leaves it at the next one, GPU r + 1, for GPU r
of the next box, or for another GPU where switches do not join those NICs. Where boxes differ in
their NIC attachment, the box with the fewest NICs limits the number of rings (``ring_attachment``).
The usual number stays if it takes less time. No other rings are tried if the usual ones take the
least time that the links within some box allow.

Within a box, a chain visits the GPUs in descending order through the box's switch. Where direct
links (xGMI) make chains, it follows one of those over the least loaded links; boxes whose GPUs are
all linked also try the rotations of a zigzag, which use each link once. Where a path through
switches is faster than a direct link, both layouts are tried, and the faster one stays. A single
box, and GPUs without a box, have cycles, by default those of least time.

Left out: NCCL's choice of the number of channels by bandwidth, its copies of channels, and RCCL's
lists of rings. The full layout, and rates beside published numbers: docs/baselines/ring.md.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import permutations

import numpy as np
import numpy.typing as npt

from baselines.building.composing import collect
from baselines.building.equal_trees import total_of_links
from baselines.interface.method import Method
from baselines.interface.supported import GATHERING
from baselines.networks.boxes import gpus_by_box
from baselines.networks.nic_attachment import find_nic_attachments, ring_counts
from baselines.networks.ports import has_direct_links
from baselines.networks.ring_attachment import AttachmentLayout
from baselines.networks.ring_layout import Layout, Ring, hops, lay_all
from baselines.networks.switch_paths import build_forest, check_size, dealt, router_of
from baselines.networks.switched import switched
from forestcoll.errors import InvalidParameterError, UnsupportedError
from forestcoll.problem.weights import weights_for
from forestcoll.schedule.allreduce import Allreduce
from forestcoll.schedule.forest import Forest, Routes
from forestcoll.schedule.pipelined import flow_of_loads, loads_of_routes
from forestcoll.topology.model import Topology

__all__ = ["METHODS", "Laid", "generate", "lay_rings", "time_s_per_gb"]


_Ints = npt.NDArray[np.int64]
_Ranks = npt.NDArray[np.int32]


def generate(
    topology: Topology,
    collective: str = "allgather",
    *,
    rings: int | None = None,
    both_ways: bool = False,
    root: str | int | None = None,
) -> Forest | Allreduce[Forest]:
    """Lay out the rings and return their paths as trees.

    Parameters
    ----------
    collective : str
        "allgather", "reduce-scatter", "allreduce", "broadcast" or "reduce".
    rings : int, optional
        Number of rings R, each with 1/R of the data. The default is one per GPU of the largest
        box; in a single box or without boxes, the number of least time (see above). Equal rings
        become one of higher multiplicity.
    both_ways : bool
        Whether to add a reversed ring for each, 2 R in all.
    root : str or int, optional
        Name or rank of the root of a broadcast or reduce, by default the first GPU. The rings do
        not depend on it.

    Raises
    ------
    InvalidParameterError
        If R is not positive, or there is no such root.
    UnsupportedError
        If a root is given and the collective takes none; if neither switches nor links join a GPU
        to the next; with ``both_ways``, if a link has another bandwidth in reverse.
    """
    rooted = collective in ("broadcast", "reduce")
    if root is not None and not rooted:
        raise UnsupportedError(
            f"unsupported: ring takes no root for {collective}; it does for broadcast and reduce"
        )
    weights = weights_for(topology, collective, root=root or 0) if rooted else ()
    spread = partial(_gather, rings=rings, both_ways=both_ways, weights=weights)
    return collect(spread, topology, collective)


def _gather(
    topology: Topology, rings: int | None, both_ways: bool, weights: tuple[int, ...]
) -> Forest:
    laid = lay_rings(topology, rings)
    if both_ways:
        laid = replace(laid, rings=laid.rings + _backwards(topology, laid.rings))
    return _along(topology, laid, weights)


def _along(topology: Topology, laid: Laid, weights: tuple[int, ...] = ()) -> Forest:
    """Return the paths around the rings from every root, or from those that have a weight."""
    size = topology.num_compute
    roots = np.flatnonzero(weights or (1,) * size).astype(np.int32)
    orders, copies = _different(topology, laid.rings)
    parent = np.empty((len(orders), len(roots), size), dtype=np.int32)
    for order, rows in zip(orders, parent, strict=True):
        _fill_parents(order, roots, rows)
    return build_forest(
        topology,
        "ring",
        root=np.tile(roots, len(orders)),
        multiplicity=np.repeat(copies, len(roots)),
        parent=parent.reshape(-1, size),
        paths=_routes(laid.network, orders, copies, parent),
        weights=weights,
    )


def _different(topology: Topology, rings: list[Ring]) -> tuple[list[_Ranks], _Ints]:
    """Return the rings, each once, as ranks from the first one on; and the number of each."""
    rank = np.argsort(topology.ends).astype(np.int32)
    count = dict[bytes, int]()
    for ring in rings:
        start = ring.index(topology.compute[0])
        order = rank[np.array(ring[start:] + ring[:start])].tobytes()
        count[order] = count.get(order, 0) + 1
    orders = [np.frombuffer(order, dtype=np.int32) for order in count]
    return orders, np.array(list(count.values()), dtype=np.int64)


def _routes(
    network: Topology, orders: list[_Ranks], copies: _Ints, parent: npt.NDArray[np.int32]
) -> Routes:
    """Return the paths of all hops, given the parents on one copy of each ring."""
    size = network.num_compute
    crossed = [_crossed(order, rows) for order, rows in zip(orders, parent, strict=True)]
    key = np.concatenate([links for links, _ in crossed])
    trees = np.concatenate(
        [times * shards for times, (_, shards) in zip(copies, crossed, strict=True)]
    )
    tail, head, total = total_of_links(key, trees, size)
    return dealt(router_of(network), tail, head, total)


def time_s_per_gb(topology: Topology, laid: Laid) -> Fraction:
    """Return the pipelined time of the forest of all roots, without its trees where possible."""
    size = topology.num_compute
    roots = np.arange(size, dtype=np.int32)
    orders, copies = _different(topology, laid.rings)
    # Memory is allocated, but touched only for rings that visit a GPU twice.
    parent = np.empty((len(orders), size, size), dtype=np.int32)
    for order, rows in zip(orders, parent, strict=True):
        if len(order) != size:
            _fill_parents(order, roots, rows)
    loads = loads_of_routes(topology, _routes(laid.network, orders, copies, parent))
    return flow_of_loads(topology, loads, size * len(laid.rings)).time_s_per_gb


def _fill_parents(order: _Ranks, roots: _Ranks, rows: _Ranks) -> None:
    """For each root (row), write the sender of the shard to each rank around the ring."""
    if len(order) == rows.shape[1]:
        before = np.empty(len(order), dtype=np.int32)
        before[order] = np.roll(order, 1)
        rows[:] = before
    else:
        for row, root in zip(rows, roots, strict=True):
            start = int((order == root).argmax())
            walk = np.concatenate([order[start:], order[: start + 1]])
            reached, first = np.unique(walk, return_index=True)
            row[:] = -1
            row[reached] = walk[first - 1]
    rows[np.arange(len(roots)), roots] = -1


def _crossed(order: _Ranks, rows: _Ranks) -> tuple[_Ints, _Ints]:
    """Return the hops of a ring, as sender * N + receiver, and the number of shards on each."""
    size = rows.shape[1]
    if len(order) == len(rows) == size:  # the shard of every root but the receiver
        return np.roll(order, 1) * np.int64(size) + order, np.full(size, size - 1)
    key = rows * np.int64(size) + np.arange(size)
    shards = np.bincount(key[rows >= 0], minlength=size * size)
    links = np.flatnonzero(shards)
    return links, shards[links]


def _backwards(topology: Topology, rings: list[Ring]) -> list[Ring]:
    between = topology.link_between
    for (tail, head), link in between.items():
        back = between.get((head, tail))
        if back is None or back.bandwidth_gb_s != link.bandwidth_gb_s:
            names = [topology.nodes[node].name for node in (tail, head)]
            raise UnsupportedError(
                f"unsupported: rings both ways, where the link {names[0]} -> {names[1]} is not as "
                f"wide backwards"
            )
    return [ring[::-1] for ring in rings]


@dataclass(frozen=True, slots=True)
class Laid:
    """Rings, and the network whose shortest paths their hops take."""

    network: Topology
    rings: list[Ring]


def lay_rings(topology: Topology, rings: int | None) -> Laid:
    """Try all layouts of rings, and return the one of least time; errors as for `generate`."""
    check_size(topology)
    if rings is not None and rings < 1:
        raise InvalidParameterError(f"rings is {rings}; it takes at least one")
    boxes = gpus_by_box(topology)
    laid: list[Laid] = []
    refused: list[UnsupportedError] = []
    for network in switched(topology, needless=len(boxes) == 1):
        try:
            laid += [Laid(network, found) for found in _candidates(network, boxes, rings)]
        except UnsupportedError as error:
            refused.append(error)
    if not laid:
        raise refused[0]
    if len(laid) == 1:
        return laid[0]
    return min(laid, key=partial(time_s_per_gb, topology))


def _candidates(network: Topology, boxes: list[list[int]], rings: int | None) -> list[list[Ring]]:
    """Candidate rings: one per GPU of the largest box; for a single group, several numbers."""
    if len(boxes) > 1:
        return _across(network, boxes, rings)
    if rings is not None:
        return [lay_all(Layout(network, boxes), rings)]
    layout = Layout(network, boxes)
    lanes, disjoint = layout.lanes(boxes[0]), layout.disjoint()
    if disjoint and len(disjoint) >= lanes - 1:
        return [disjoint]
    usual = 2 if network.nodes[boxes[0][0]].box is None else len(boxes[0])
    counts = dict.fromkeys([usual, *range(1, lanes + 1)])
    ways = [lay_all(Layout(network, boxes), rings) for rings in counts]
    return [*ways, disjoint] if disjoint else ways


def _across(network: Topology, boxes: list[list[int]], rings: int | None) -> list[list[Ring]]:
    """One ring per GPU of the largest box; where boxes differ, also the counts that NICs allow."""
    counts = [max(map(len, boxes)) if rings is None else rings]
    try:
        laid = [lay_all(Layout(network, boxes), counts[0])]
    except UnsupportedError:  # that layout assumes equal boxes and a NIC at every GPU
        laid = []
    attachments = find_nic_attachments(router_of(network), boxes)
    alike = all(found.is_whole and found.is_like(attachments[0]) for found in attachments)
    laid += [found for found in [_zigzags(network, boxes)] if found and len(found) == counts[0]]
    if laid and (alike or _is_fastest(network, boxes, laid[0])):
        return laid
    if rings is None and not alike:
        counts = list(dict.fromkeys([*counts, *ring_counts(attachments)]))
    layout = AttachmentLayout(network, boxes)
    for count in counts:
        layout.clear()
        laid.append(lay_all(layout, count))
        if layout.is_settled(count):
            break
    return laid


def _is_fastest(network: Topology, boxes: list[list[int]], rings: list[Ring]) -> bool:
    """Whether no rings that enter each box once take less time.

    Each of the n GPUs of a box gets (N - 1) / N of the data. Rings that enter the box once bring
    that much into it in all, so links within the box carry (n - 1) (N - 1) / N.
    """
    size = network.num_compute
    least = (
        Fraction((len(gpus) - 1) * (size - 1), size) / _width_inside(network, gpus)
        for gpus in boxes
        if len(gpus) > 1
    )
    return time_s_per_gb(network, Laid(network, rings)) <= max(least, default=Fraction(0))


def _width_inside(network: Topology, gpus: list[int]) -> Fraction:
    """Return the bandwidth into the GPUs of a box, over the links of paths from other ones."""
    router, count = router_of(network), Counter(map(router_of(network).kind, gpus))
    # Of each kind the first and the last, as one may be the receiver itself.
    some = {gpu for row in (gpus, gpus[::-1]) for gpu in {router.kind(v): v for v in row}.values()}
    width = Fraction(0)
    for kind, gpu in {router.kind(gpu): gpu for gpu in gpus}.items():
        others = (other for other in some if other != gpu and router.hops(other, gpu))
        last = {path[-2] for other in others for path in router.paths(other, gpu)}
        width += count[kind] * sum(network.link_between[end, gpu].bandwidth_gb_s for end in last)
    return width


def _zigzags(network: Topology, boxes: list[list[int]]) -> list[Ring]:
    """Lay rings over boxes whose GPUs are all linked: the rotations of one zigzag chain.

    The chain visits the places 0, 1, -1, 2, -2 and so on; its hops have all differences, each once.
    So its n rotations use every link of a box once. An odd n has no such chain.
    """
    size = len(boxes[0])
    linked = all(
        (tail, head) in network.link_between
        for gpus in boxes
        for tail, head in permutations(gpus, 2)
    )
    if size % 2 or not linked or any(len(gpus) != size for gpus in boxes):
        return []
    offsets = [-place // 2 if place % 2 == 0 else (place + 1) // 2 for place in range(size)]
    rings = []
    for ring in range(size):
        tour: list[int] = []
        start = ring
        for gpus in boxes:
            places = [(start + offset) % size for offset in offsets]
            tour += [gpus[place] for place in places]
            start = places[-1]
        rings.append(tuple(tour))
    router = router_of(network)
    joined = all(router.hops(*hop) is not None for ring in rings for hop in hops(ring))
    return rings if joined else []


METHODS = (
    Method(
        name="ring",
        summary="rings through all boxes, one per NIC",
        source="NCCL and RCCL ring",
        generate=generate,
        collectives=(*GATHERING, "broadcast", "reduce"),
        notes="direct links (xGMI): rings are searched for, not RCCL's hand-made ones",
        noted=has_direct_links,
        libraries=("networkx",),
    ),
)
