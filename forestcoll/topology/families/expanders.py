"""Expander graphs: sparse networks in which every part has many links to the rest.

Random regular graphs nearly always are, with a second eigenvalue close to the least there can be.

Source: Friedman, A Proof of Alon's Second Eigenvalue Conjecture (2003); Steger and Wormald,
Generating Random Regular Graphs Quickly (1999), as in networkx. The expanders of Efficient
Direct-Connect Topologies for Collective Communications (NSDI 2025) are named there, not defined.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Annotated

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.families.family import family
from forestcoll.topology.families.values import Count
from forestcoll.topology.families.wiring import LinkBandwidth, check_links, undirected

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["random_regular"]


@family
def random_regular(
    nodes: Annotated[int, Count("GPUs, more than the degree", minimum=4)],
    degree: Annotated[int, Count("links out of each GPU", minimum=3, maximum=1024)],
    seed: Annotated[int, Count("which of the graphs", minimum=0, maximum=999_999_999)] = 0,
    bandwidth: LinkBandwidth = 1,
) -> TopologyBuilder:
    """Random regular graph, an expander: connected, links both ways, no pair linked twice.

    The same seed gives the same graph, the first connected one that it draws.
    """
    import networkx as nx

    _check(nodes, degree)
    chance = random.Random(seed)
    graph = _draw(nodes, degree, chance)
    while not nx.is_connected(graph):
        graph = _draw(nodes, degree, chance)
    return undirected(nodes, graph.edges, bandwidth)


def _check(nodes: int, degree: int) -> None:
    if degree >= nodes:
        raise InvalidTopologyError(
            f"random_regular: degree is {degree}; it must be less than the nodes, {nodes}"
        )
    check_links(nodes, degree, "random_regular")
    if nodes * degree % 2:
        raise InvalidTopologyError(
            f"random_regular: {nodes} nodes of degree {degree} have half a link left over; make "
            f"one of the two even"
        )


def _draw(nodes: int, degree: int, chance: random.Random) -> nx.Graph[int]:
    """Draw a graph, connected or not; a dense one by the links that it lacks, which is quicker."""
    import networkx as nx

    dense = 2 * degree >= nodes
    drawn: nx.Graph[int] = nx.random_regular_graph(
        nodes - 1 - degree if dense else degree, nodes, chance
    )
    return nx.complement(drawn) if dense else drawn
