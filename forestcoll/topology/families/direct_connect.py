"""Direct-connect networks: complete bipartite, diamond and double binary tree.

Source: Efficient Direct-Connect Topologies for Collective Communications (NSDI 2025), table 9 and
figure 19 (diamond; only the figure shows its links, see :func:`diamond`). The double binary tree is
its baseline "DBT", whose links it does not print: Sanders, Speck and Traff, "Two-tree algorithms
for full bandwidth broadcast, reduction and scan" (2009), in the numbering of NCCL 2.4 and later.
"""

from __future__ import annotations

from typing import Annotated

from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.families.family import family
from forestcoll.topology.families.values import Count
from forestcoll.topology.families.wiring import Degree, LinkBandwidth, directed, undirected

__all__ = ["above_in_binary_tree", "complete_bipartite", "diamond", "double_binary_tree"]


@family
def complete_bipartite(degree: Degree, bandwidth: LinkBandwidth = 1) -> TopologyBuilder:
    """Two sides of as many GPUs as the degree; every GPU linked to all of the other side."""
    pairs = ((a, degree + b) for a in range(degree) for b in range(degree))
    return undirected(2 * degree, pairs, bandwidth)


@family
def diamond(bandwidth: LinkBandwidth = 1) -> TopologyBuilder:
    """The diamond, 8 GPUs of degree 2 in a pattern of diameter 3.

    The paper shows it in a figure whose links the text does not list. This is the one simple
    digraph of 8 nodes, degree 2 and diameter 3, up to reversal of all links, whose all-to-all
    throughput is that of its table 7 (0.15 of a link per pair).
    """
    heads = ((3, 7), (0, 4), (5, 7), (1, 2), (5, 6), (0, 6), (1, 2), (3, 4))
    return directed(8, ((x, y) for x, ends in enumerate(heads) for y in ends), bandwidth)


def above_in_binary_tree(size: int) -> list[int]:
    """Return the parent of each number in NCCL's binary tree, -1 for the root 0.

    Let 2^i be the highest power of two that divides a number. Its parent is its neighbour at
    distance 2^i whose highest such power is 2^(i+1), or the lower neighbour if that is too large.
    So odd numbers are leaves, and the root has a single child.

    Examples
    --------
    >>> above_in_binary_tree(5)
    [-1, 2, 4, 2, 0]
    """
    above = [-1]
    for number in range(1, size):
        step = number & -number
        parent = number - step if number & (2 * step) else number + step
        above.append(parent if parent < size else number - step)
    return above


@family
def double_binary_tree(
    nodes: Annotated[int, Count("GPUs", minimum=2)], bandwidth: LinkBandwidth = 1
) -> TopologyBuilder:
    """Double binary tree: each GPU linked both ways to those above it in NCCL's two trees.

    The second tree is the first one mirrored or, of an odd number of GPUs, shifted by one. A link
    of both trees has twice the bandwidth.
    """
    above = above_in_binary_tree(nodes)
    second = [*range(1, nodes), 0] if nodes % 2 else range(nodes - 1, -1, -1)
    pairs = [(low, high) for low, high in enumerate(above) if high >= 0]
    return undirected(nodes, [*pairs, *((second[a], second[b]) for a, b in pairs)], bandwidth)
