"""Ring: each shard runs along a ring of GPUs; several rings share the data, as NCCL and RCCL do.

Problem: an allgather by rings that enter and leave each box once and load all NICs alike.
Input:   a topology; the number of rings R.
Output:  R trees per root, each the path around one ring from the root.
Cost:    R N logical links, and the searches of ``ring_layout``; 4 s for 1024 GPUs (MI250), by
         default some times that without boxes.
Source:  NCCL's rings (its graph search and connection code): per channel a chain of the GPUs of
         each box, the chains of one channel joined across boxes. Reimplemented from descriptions
         and from the channels that NCCL prints; no code of it.

Between boxes. Ring r enters each box at GPU r and leaves it at the next one, GPU r + 1, for GPU r
of the next box; with one ring per GPU every NIC is entered once and left once. Where switches do
not join those NICs, or only by a longer way, the exits are others: further off (NICs split over
two InfiniBand switches), or boxes take turns between GPUs r and r + 1 so that every crossing stays
on a rail (NCCL's alternating rings).

Within a box a chain visits the GPUs in descending order through the box's switch, as NCCL does on
NVSwitch ("0 7 6 5 4 3 2 1"). Where direct links (xGMI) make chains, it takes one of those, as RCCL
does: the exits are then matched to the entries for wide chains, each GPU once, and each ring takes
the chain over the links least loaded for their bandwidth by the others. When all are laid, each is
taken up and laid again, a few times.

Where boxes differ in their ways to the network (a dead NIC, fewer NICs, one direction dead) there
are as many rings as the box with the fewest allows, or the usual number if that takes less time,
and each enters and leaves at GPUs that have a way (``ring_gates``). One dead NIC of 8 costs 1/8: on
two DGX A100 186.7 GB/s of 213.3, on four 180.6 of 206.5, also where NICs are nodes or rails are
apart; 2 of 16 on MI250 cost 1/8; and with a single NIC left in a box 26.7 GB/s remain, 1/8. An
allreduce over that NIC has 17.4 GB/s, 1/6 of 106.7: of 16 shards 15 go out by it and 8 come in, of
the sums 8 go out and 15 come in.

A hop takes the direct link between two GPUs where there is one, unless the way through switches is
faster: rings are then laid both ways, and in a single group also through switches alone, and the
faster ones are kept (three GPUs on a switch of 5 GB/s with some links of 1: 7.5 GB/s; over the
links first, 3). No ring is divided over both.

A single box has cycles found in the same way. GPUs that belong to no box form one group. By default
a group has the rings that take least time by ``cost`` among those laid for R = 1, 2, 3, ... up to
the lanes of a GPU (``ports``), and Hamiltonian cycles of which no two share a link, both ways round
each, as many as are found. So with links of 1 GB/s the torus of 3 x 3 has 4 rings and 4.5 GB/s (2:
2.25), the hypercube of 16 GPUs 4 and 64/15 GB/s, and an MI250 box 6 and 320 GB/s (16: 284.4).
Not reached: all lanes where their number is odd (6 or 8 GPUs all linked: 4 of 5, 6 of 7 rings; the
hypercube of 8: 2 of 3), and the second pair of rings of a torus of 16 x 16, of which the search
finds none.

RCCL does not search on MI250. It has a list of rings for the machine (its model of 16 GPUs and 8
NICs): 16 chains over xGMI from a NIC to another and the same 16 backwards, such that each GPU, so
each NIC, is entered twice and left twice. What they are made by is what the search here keeps to:
chains over direct links alone, from a GPU beside a NIC to a GPU beside another, all NICs alike;
``both_ways`` adds the same backwards. The chains themselves are others. That changes no rate: the
matrix of links in RCCL's model is that of our MI250 but for the order of the GPUs, and its rings
laid there have the loads of ours on the busiest NIC (264.3 GB/s on two boxes) and on the busiest
xGMI link (275.3, if NICs were free).

What is left out: NCCL's choice of the number of channels by bandwidth, and its copies of channels
(equal rings change no load). RCCL's lists fit whole boxes only; for GPUs 0 to 7 of each box it has
none, so it is slower there (ForestColl section 6.2) than the rings that are found here. A ring
passes through every GPU, so where no cycle of direct links is found and switches do not help (a
mesh of 3 x 3), there is none. NCCL sends a shard that comes by a neighbour's NIC on to the GPU
itself; here the gate is a member of the ring, so nothing goes over NVLink twice.

The papers publish no theoretical numbers for rings. On two DGX A100 these carry 15/16 of the data
into each box where 8/16 would do ("nearly twice", ForestColl figure 2; the optimal schedule there
takes 15/26, as NICs are not its bottleneck) and reach 213.3 GB/s of 346.7; NCCL was measured there
at 187 GB/s for 1 GB (ForestColl section 6.2), 12 % less. On MI250 the NICs are the only limit:
256 GB/s N/(N-1).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

import numpy as np
import numpy.typing as npt

from baselines.building.phases import collect
from baselines.interface.method import Method
from baselines.interface.supported import GATHERING
from baselines.networks.boxes import gpus_by_box
from baselines.networks.gates import find_gates, ring_counts
from baselines.networks.ring_gates import GateLayout
from baselines.networks.ring_layout import Layout, Ring, lay_all
from baselines.networks.switch_paths import Router, build_forest, check_size
from baselines.networks.switched import switched
from forestcoll.errors import InvalidParameterError, UnsupportedError
from forestcoll.schedule.allreduce import Allreduce
from forestcoll.schedule.cost.measures import cost
from forestcoll.schedule.forest import Forest
from forestcoll.topology.model import Topology

__all__ = ["METHODS", "generate", "make_rings"]


def generate(
    topology: Topology,
    collective: str = "allgather",
    *,
    rings: int | None = None,
    both_ways: bool = False,
) -> Forest | Allreduce[Forest]:
    """Lay the rings and return their paths as trees.

    Parameters
    ----------
    topology : Topology
    collective : str
        "allgather", "reduce-scatter" or "allreduce".
    rings : int, optional
        Number of rings R, each with 1/R of the data; if not given, one per GPU of the largest
        box; in a single box or where there are no boxes, what takes least time (see above). Equal
        rings become one of higher multiplicity.
    both_ways : bool
        Whether there is a ring backwards for each of them, 2 R in all.

    Raises
    ------
    InvalidParameterError
        If R is not positive.
    UnsupportedError
        If switches or direct links lead from no GPU to the next; both ways,
        if some link is not as wide backwards.
    """
    return collect(partial(_gather, rings=rings, both_ways=both_ways), topology, collective)


def _gather(topology: Topology, rings: int | None, both_ways: bool) -> Forest:
    laid = _lay(topology, rings)
    if both_ways:
        laid = replace(laid, rings=laid.rings + _backwards(topology, laid.rings))
    return _along(topology, laid)


def _along(topology: Topology, laid: _Laid) -> Forest:
    """Return the paths around the rings from every root."""
    size, rank_of = topology.num_compute, topology.rank_of
    count: dict[Ring, int] = {}
    for ring in laid.rings:
        start = ring.index(topology.compute[0])
        ring = tuple(rank_of[gpu] for gpu in ring[start:] + ring[:start])
        count[ring] = count.get(ring, 0) + 1

    parent = np.empty((len(count), size, size), dtype=np.int32)
    trees: dict[tuple[int, int], int] = {}
    for ring, copies, rows in zip(count, count.values(), parent, strict=True):
        rows[:] = _parents(ring, size)
        tail, crossed = np.unique(rows * np.int64(size) + np.arange(size), return_counts=True)
        for link, shards in zip(tail.tolist(), crossed.tolist(), strict=True):
            if link >= 0:
                ends = divmod(link, size)
                trees[ends] = trees.get(ends, 0) + copies * shards
    return build_forest(
        topology,
        "ring",
        root=np.tile(np.arange(size, dtype=np.int32), len(count)),
        multiplicity=np.repeat(np.array(list(count.values()), dtype=np.int64), size),
        parent=parent.reshape(-1, size),
        paths=Router(laid.network).carry(trees),
    )


def _parents(ring: Ring, size: int) -> npt.NDArray[np.int32]:
    """From each root (row) around a ring of ranks: whom each rank gets the shard from, first."""
    rows = np.full((size, size), -1, dtype=np.int32)
    order = np.array(ring)
    if len(ring) == size:
        rows[:, order] = np.roll(order, 1)
    else:
        for root in range(size):
            start = ring.index(root)
            walk = np.concatenate([order[start:], order[: start + 1]])
            reached, first = np.unique(walk, return_index=True)
            rows[root, reached] = walk[first - 1]
    np.fill_diagonal(rows, -1)
    return rows


def _backwards(topology: Topology, rings: list[Ring]) -> list[Ring]:
    """Turn rings round."""
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
class _Laid:
    """Rings, and the network whose shortest ways their hops take."""

    network: Topology
    rings: list[Ring]


def make_rings(topology: Topology, rings: int | None = None) -> list[Ring]:
    """Return the rings, in order; parameters and errors as for :func:`generate`."""
    return _lay(topology, rings).rings


def _lay(topology: Topology, rings: int | None) -> _Laid:
    """Lay rings in all ways there are, and return those that take least time."""
    check_size(topology)
    if rings is not None and rings < 1:
        raise InvalidParameterError(f"rings is {rings}; it takes at least one")
    boxes = gpus_by_box(topology)
    laid: list[_Laid] = []
    refused: list[UnsupportedError] = []
    for network in switched(topology, needless=len(boxes) == 1):
        try:
            laid += [_Laid(network, found) for found in _candidates(network, boxes, rings)]
        except UnsupportedError as error:
            refused.append(error)
    if not laid:
        raise refused[0]
    return laid[0] if len(laid) == 1 else min(laid, key=lambda way: _time(topology, way))


def _time(topology: Topology, laid: _Laid) -> Fraction:
    return cost(_along(topology, laid)).time_s_per_gb


def _candidates(network: Topology, boxes: list[list[int]], rings: int | None) -> list[list[Ring]]:
    """The rings to choose from: one per GPU of the largest box; of a single group, many ways."""
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
    """One ring per GPU of the largest box; where boxes differ, also as many as the NICs allow."""
    counts = [max(map(len, boxes)) if rings is None else rings]
    try:
        laid = [lay_all(Layout(network, boxes), counts[0])]
    except UnsupportedError:  # that layout takes every GPU to have a NIC, and boxes to be like
        laid = []
    gates = find_gates(Router(network), boxes)
    alike = all(found.is_whole and found.is_like(gates[0]) for found in gates)
    if laid and alike:
        return laid
    if rings is None and not alike:
        counts = list(dict.fromkeys([*counts, *ring_counts(gates)]))
    return laid + [lay_all(GateLayout(network, boxes), count) for count in counts]


METHODS = (
    Method(
        name="ring",
        summary="rings through all boxes, one per NIC",
        source="NCCL and RCCL ring",
        generate=generate,
        collectives=GATHERING,
        notes="direct links (xGMI): rings are searched for, not RCCL's hand-made ones",
    ),
)
