"""Circulant graphs: GPU i is linked to i + a for the same offsets a at every i; rings are simplest.

Source: Efficient Direct-Connect Topologies for Collective Communications (NSDI 2025), appendix F,
definition 18 and theorem 22 (circulant), and table 9 (rings of parallel links; the directed
circulant, which the paper names without saying what its links are).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.families.family import family
from forestcoll.topology.families.values import Count, Either, Flag, Offsets
from forestcoll.topology.families.wiring import Degree, LinkBandwidth, directed
from forestcoll.topology.numbers import exact

__all__ = ["bi_ring", "circulant", "directed_circulant", "uni_ring"]

_LEAST_DIAMETER = "least-diameter"


@family
def circulant(
    nodes: Annotated[int, Count("GPUs", minimum=2)],
    offsets: Annotated[
        tuple[int, ...] | str,
        Either(_LEAST_DIAMETER, Offsets("how far on and back each GPU's links go")),
    ] = _LEAST_DIAMETER,
    bandwidth: LinkBandwidth = 1,
    bidirectional: Annotated[bool, Flag("links to i + a and i - a, or only to i + a")] = True,
) -> TopologyBuilder:
    """Circulant graph: GPU i linked to i + a and i - a, modulo the nodes, for each offset a.

    Where no offsets are given, they are the two that make the diameter as small as any two can
    (theorem 22); that is known for more than 6 GPUs.

    An offset may be given twice, for twice the bandwidth. Half the nodes as an offset leads to the
    same GPU on and back, and is one link of each GPU.
    """
    chosen = _least_diameter(nodes) if isinstance(offsets, str) else offsets
    _check_offsets(nodes, chosen)
    steps = [a for b in chosen for a in (_both(b, nodes) if bidirectional else (b,))]
    arcs = ((i, (i + a) % nodes) for i in range(nodes) for a in steps)
    return directed(nodes, arcs, bandwidth)


def _both(offset: int, nodes: int) -> tuple[int, ...]:
    return (offset,) if 2 * offset % nodes == 0 else (offset, -offset)


def _least_diameter(nodes: int) -> tuple[int, int]:
    """Return m and m + 1 for the least m of 2 m (m + 1) + 1 >= nodes, which m hops reach at most.

    That m is (-1 + sqrt(2 nodes - 1)) / 2, rounded up.
    """
    if nodes <= 6:
        raise InvalidTopologyError(
            f"circulant: the offsets of least diameter are known for more than 6 nodes, not "
            f"{nodes}; give offsets, such as offsets=1+2"
        )
    hops = (math.isqrt(2 * nodes - 2) + 1) // 2
    return hops, hops + 1


def _check_offsets(nodes: int, offsets: Sequence[int]) -> None:
    if wrong := [a for a in offsets if a % nodes == 0]:
        raise InvalidTopologyError(
            f"circulant: an offset of {wrong[0]} leads from each of {nodes} GPUs to itself; leave "
            f"it out"
        )
    if (parts := math.gcd(nodes, *offsets)) > 1:
        raise InvalidTopologyError(
            f"circulant: {parts} divides the {nodes} nodes and every offset, which leaves {parts} "
            f"parts without links between them; add an offset, such as 1"
        )


@family
def directed_circulant(degree: Degree, bandwidth: LinkBandwidth = 1) -> TopologyBuilder:
    """Directed circulant: two GPUs more than the degree, from i to i + 1 up to i + degree.

    So every GPU lacks no link but that to the one before it. Reconstructed: the paper says no more
    than name, degree, size, and that two hops and the least time are enough, as they are here.
    """
    nodes = degree + 2
    arcs = ((i, (i + a) % nodes) for i in range(nodes) for a in range(1, degree + 1))
    return directed(nodes, arcs, bandwidth)


@family
def uni_ring(
    degree: Degree,
    nodes: Annotated[int, Count("GPUs in the ring", minimum=2)],
    bandwidth: LinkBandwidth = 1,
) -> TopologyBuilder:
    """One-way ring of parallel links: as many as the degree from each GPU to the next.

    Together they are one link of ``degree`` times the bandwidth.
    """
    arcs = ((i, (i + 1) % nodes) for i in range(nodes))
    return directed(nodes, arcs, degree * exact(bandwidth, "bandwidth"))


@family
def bi_ring(
    degree: Degree,
    nodes: Annotated[int, Count("GPUs in the ring", minimum=3)],
    bandwidth: LinkBandwidth = 1,
) -> TopologyBuilder:
    """Ring of parallel links: half the degree from each GPU to the next, and to the one before.

    Together they are one link each way, of ``degree / 2`` times the bandwidth.
    """
    if degree % 2:
        raise InvalidTopologyError(
            f"bi_ring: degree is {degree}; it must be even, as half of the links go each way"
        )
    arcs = ((i, (i + a) % nodes) for i in range(nodes) for a in (1, -1))
    return directed(nodes, arcs, degree // 2 * exact(bandwidth, "bandwidth"))
