"""Bytes that must cross the border of a GPU, a linked pair or a box, and bytes that do.

A set of GPUs must receive the data of all others, so the links into it bound the rate of every
allgather (in a reduce-scatter, the links out of it). A schedule may send more over them than
necessary: ForestColl figure 2 shows what rings send twice.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction

from forestcoll.topology import Topology

__all__ = ["Sets", "border_bound", "box_traffic", "boxes", "gpus", "linked_pairs"]

Sets = Iterator[frozenset[int]]
"""Sets of node positions."""


def gpus(topology: Topology) -> Sets:
    """Yield each GPU by itself."""
    return (frozenset({gpu}) for gpu in topology.compute)


def linked_pairs(topology: Topology) -> Sets:
    """Yield each two GPUs of a box with a direct link, such as those of an MI250 module."""
    nodes = topology.nodes
    for link in topology.links:
        tail, head = nodes[link.tail], nodes[link.head]
        if not (tail.is_switch or head.is_switch) and tail.box == head.box is not None:
            yield frozenset({link.tail, link.head})


def boxes(topology: Topology) -> Sets:
    """Yield each box with its switches."""
    inside: dict[int, set[int]] = {}
    for position, node in enumerate(topology.nodes):
        if node.box is not None:
            inside.setdefault(node.box, set()).add(position)
    return map(frozenset, inside.values())


def border_bound(
    topology: Topology, sets: Sets, weights: Sequence[int] | None = None, *, reduction: bool = False
) -> Fraction | None:
    """Return the least rate, in GB/s of data, that the borders of some sets allow.

    Parameters
    ----------
    sets : iterator of frozenset of int
        Sets with all GPUs, or with all of the data, bound nothing.
    weights : sequence of int, optional
        Relative shard size of each rank; equal if not given.
    reduction : bool
        Whether sums leave the sets, instead of data that enter them.

    Returns
    -------
    Fraction or None
        None if none of them bounds anything.
    """
    parts = list(weights or [1] * topology.num_compute)
    total = sum(parts)
    rates = [
        total * _bandwidth(topology, nodes, reduction=reduction) / outside
        for nodes in dict.fromkeys(sets)
        if _has_gpus(topology, nodes) and (outside := total - _inside(topology, nodes, parts))
    ]
    return min(rates, default=None)


def box_traffic(topology: Topology, loads: Sequence[int], whole: int) -> Fraction | None:
    """Return the traffic of an allgather into boxes, as a multiple of the least possible.

    Parameters
    ----------
    loads : sequence of int
        Load of each link: ``loads[i] / whole`` of the data.

    Returns
    -------
    Fraction or None
        None without two boxes that have GPUs.
    """
    parts = [1] * topology.num_compute
    machines = [nodes for nodes in boxes(topology) if _has_gpus(topology, nodes)]
    needed = sum(len(parts) - _inside(topology, nodes, parts) for nodes in machines)
    sent = sum(
        load
        for link, load in zip(topology.links, loads, strict=True)
        if (box := topology.nodes[link.head].box) is not None
        and topology.nodes[link.tail].box != box
    )
    return Fraction(sent * len(parts), whole * needed) if needed else None


def _has_gpus(topology: Topology, nodes: Collection[int]) -> bool:
    return any(not topology.nodes[node].is_switch for node in nodes)


def _inside(topology: Topology, nodes: Collection[int], parts: Sequence[int]) -> int:
    """Return the parts of the data at GPUs in a set."""
    return sum(parts[topology.rank_of[v]] for v in nodes if not topology.nodes[v].is_switch)


def _bandwidth(topology: Topology, nodes: Collection[int], *, reduction: bool) -> Fraction:
    """Return the bandwidth of the links into a set; of those out of it in a reduction."""
    totals = topology.egress_gb_s if reduction else topology.ingress_gb_s
    pairs = (topology.link_between.get(pair) for pair in itertools.permutations(nodes, 2))
    inside = sum((link.bandwidth_gb_s for link in pairs if link), start=Fraction(0))
    return sum((totals[node] for node in nodes), start=Fraction(0)) - inside
