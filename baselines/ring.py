"""Ring: each shard runs along a ring of GPUs; several rings share the data, as NCCL and RCCL do.

Problem: an allgather by rings that enter and leave each box once and load all NICs alike.
Input:   a topology; the number of rings R.
Output:  R trees per root, each the path around one ring from the root.
Cost:    R N logical links, and the searches of ``ring_layout``; 4 s for 1024 GPUs (MI250).
Source:  NCCL's rings (its graph search and connection code): per channel a chain of the GPUs of
         each box, the chains of one channel joined across boxes. Reimplemented from descriptions
         and from the channels that NCCL prints; no code of it.

Between boxes. Ring r enters each box at GPU r and leaves it at the next one, GPU r + 1, for GPU r
of the next box; with one ring per GPU every NIC is entered once and left once. Where switches do
not join those NICs, or only by a longer way, the exits are others: further off (NICs split over
two InfiniBand switches), or boxes take turns between GPUs r and r + 1 so that every crossing stays
on a rail (NCCL's alternating rings).

Within a box a chain visits the GPUs in descending order through the box's switch, as NCCL does on
NVSwitch ("0 7 6 5 4 3 2 1"). Where direct links (xGMI) make chains, it takes one of those: the
exits are then matched to the entries for wide chains, each GPU once, and each ring takes the chain
over the links least loaded for their bandwidth by the others. When all are laid, each is taken up
and laid again, a few times.

A single box has cycles found in the same way. GPUs that belong to no box form one group, with two
rings by default, one each way round where links run both ways.

What is left out: NCCL's choice of the number of channels by bandwidth, its copies of channels
(equal rings change no load), and RCCL's hand-made rings for MI250, for which the search stands in.
A ring passes through every GPU, so where no cycle of direct links is found and switches do not
help (a mesh of 3 x 3), there is none.

The papers publish no theoretical numbers for rings. On two DGX A100 these carry 15/16 of the data
into each box where 8/16 would do ("nearly twice", ForestColl figure 2) and reach 213.3 GB/s; NCCL
was measured there at 187 GB/s for 1 GB (ForestColl section 6.2), 12 % less. On MI250 the NICs are
the only limit: 256 GB/s N/(N-1).
"""

from __future__ import annotations

from functools import partial

import numpy as np

from baselines.collectives import collect
from baselines.ring_layout import Layout, Ring, gpus_by_box, hops
from baselines.routing import Router, build_forest, check_size
from forestcoll.errors import UnsupportedError
from forestcoll.schedule.collectives import Allreduce
from forestcoll.schedule.forest import Forest
from forestcoll.topology.model import Topology

__all__ = ["PASSES", "generate", "make_rings"]

PASSES = 4
"""Times that every ring is taken up and laid again, now that the others are known."""


def generate(
    topology: Topology, collective: str = "allgather", *, rings: int | None = None
) -> Forest | Allreduce[Forest]:
    """Lay the rings and return their paths as trees.

    Parameters
    ----------
    topology : Topology
    collective : str
        "allgather", "reduce-scatter" or "allreduce".
    rings : int, optional
        Number of rings R, each with 1/R of the data; if not given, one per GPU of the largest
        box, or two where there are no boxes. Equal rings become one of higher multiplicity.

    Raises
    ------
    UnsupportedError
        If R is not positive, or switches or direct links lead from no GPU to the next.
    """
    return collect(partial(_gather, rings=rings), topology, collective)


def _gather(topology: Topology, rings: int | None) -> Forest:
    """Return the paths around the rings from every root."""
    size, rank_of = topology.num_compute, topology.rank_of
    count: dict[Ring, int] = {}
    for ring in make_rings(topology, rings):
        start = ring.index(topology.compute[0])
        ring = tuple(rank_of[gpu] for gpu in ring[start:] + ring[:start])
        count[ring] = count.get(ring, 0) + 1

    parent = np.empty((len(count), size, size), dtype=np.int32)
    trees: dict[tuple[int, int], int] = {}
    for ring, copies, rows in zip(count, count.values(), parent, strict=True):
        order = np.array(ring)
        rows[:, order] = np.roll(order, 1)
        np.fill_diagonal(rows, -1)
        for link in hops(ring):
            # Every shard crosses every link of the ring but the one that leads to its root.
            trees[link] = trees.get(link, 0) + copies * (size - 1)
    return build_forest(
        topology,
        "ring",
        root=np.tile(np.arange(size, dtype=np.int32), len(count)),
        multiplicity=np.repeat(np.array(list(count.values()), dtype=np.int64), size),
        parent=parent.reshape(-1, size),
        paths=Router(topology).carry(trees),
    )


def make_rings(topology: Topology, rings: int | None = None) -> list[Ring]:
    """Return the rings, in order; parameters and errors as for :func:`generate`."""
    check_size(topology)
    boxes = gpus_by_box(topology)
    if rings is None:
        unboxed = topology.nodes[boxes[0][0]].box is None and len(boxes) == 1
        rings = 2 if unboxed else max(map(len, boxes))
    if rings < 1:
        raise UnsupportedError(f"unsupported: {rings} rings; it takes at least one")
    layout = Layout(topology, boxes)
    laid = [layout.lay(ring, rings) for ring in range(rings)]
    best = layout.worst, list(laid)
    for _ in range(PASSES):
        for ring, tour in enumerate(laid):
            layout.count(tour, -1)
            laid[ring] = layout.lay(ring, rings)
        if layout.worst < best[0]:
            best = layout.worst, list(laid)
    return best[1]
