"""Direct-connect networks of two sides, and one pattern of its own.

Source: Efficient Direct-Connect Topologies for Collective Communications (NSDI 2025), table 9 and
figure 19 (diamond), of whose links the figure alone tells; see there.
"""

from __future__ import annotations

from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.families.family import family
from forestcoll.topology.families.wiring import Degree, LinkBandwidth, directed, undirected

__all__ = ["complete_bipartite", "diamond"]


@family
def complete_bipartite(degree: Degree, bandwidth: LinkBandwidth = 1) -> TopologyBuilder:
    """Two sides of as many GPUs as the degree; every GPU linked to all of the other side."""
    pairs = ((a, degree + b) for a in range(degree) for b in range(degree))
    return undirected(2 * degree, pairs, bandwidth)


@family
def diamond(bandwidth: LinkBandwidth = 1) -> TopologyBuilder:
    """The diamond, 8 GPUs of degree 2 in a pattern of diameter 3.

    The paper shows it in a figure whose links the text does not list. This is the one simple
    digraph of 8 nodes, degree 2 and diameter 3, up to turning all links round, whose all-to-all
    throughput is that of its table 7 (0.15 of a link per pair).
    """
    heads = ((3, 7), (0, 4), (5, 7), (1, 2), (5, 6), (0, 6), (1, 2), (3, 4))
    return directed(8, ((x, y) for x, ends in enumerate(heads) for y in ends), bandwidth)
