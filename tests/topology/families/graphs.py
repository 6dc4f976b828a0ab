"""What tests ask of a network of GPUs as a graph."""

from __future__ import annotations

from fractions import Fraction

import networkx as nx

from forestcoll.topology import Topology


def pairs(topology: Topology) -> set[tuple[int, int]]:
    """Return the links as (from, to)."""
    return {(link.tail, link.head) for link in topology.links}


def digraph(topology: Topology) -> nx.DiGraph[int]:
    """Return the links as a graph of numbers."""
    return nx.DiGraph(pairs(topology))


def diameter(topology: Topology) -> int:
    """Return the most hops from one GPU to another."""
    return int(nx.diameter(digraph(topology)))


def degrees(topology: Topology) -> set[Fraction]:
    """Return all bandwidths in and out of a GPU that occur; of links of 1 GB/s, the degrees."""
    return {*topology.egress_gb_s, *topology.ingress_gb_s}
