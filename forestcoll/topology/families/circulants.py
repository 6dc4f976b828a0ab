"""Circulants: GPU i linked to the same distances on from it, whatever i is.

Source: Efficient Direct-Connect Topologies for Collective Communications (NSDI 2025), appendix F,
definition 18 and theorem 22 (circulant), and table 9.
"""

from __future__ import annotations

from typing import Annotated

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.families.family import family
from forestcoll.topology.families.values import Count, Offsets
from forestcoll.topology.families.wiring import LinkBandwidth, directed

__all__ = ["circulant"]


@family
def circulant(
    nodes: Annotated[int, Count("GPUs", minimum=2)],
    offsets: Annotated[tuple[int, ...], Offsets("how far on and back each GPU's links go")],
    bandwidth: LinkBandwidth = 1,
) -> TopologyBuilder:
    """Circulant graph: GPU i linked to i + a and i - a, modulo the nodes, for each offset a.

    An offset may be given twice, for twice the bandwidth. Half the nodes as an offset leads to the
    same GPU on and back: two links, which is one of twice the bandwidth.
    """
    if wrong := [a for a in offsets if a % nodes == 0]:
        raise InvalidTopologyError(
            f"circulant: an offset of {wrong[0]} leads from each of {nodes} GPUs to itself"
        )
    arcs = ((i, (i + a) % nodes) for i in range(nodes) for b in offsets for a in (b, -b))
    return directed(nodes, arcs, bandwidth)
