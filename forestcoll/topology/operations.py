"""Larger direct-connect networks from smaller ones: line graphs and Cartesian products.

Both are operations on networks of GPUs only. In a specification on the command line there are
none; build the network in Python and write it to a file with ``write_topology``.

Source: Efficient Direct-Connect Topologies for Collective Communications (NSDI 2025), section 5,
definitions 3 and 12.
"""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction
from functools import reduce

from forestcoll.errors import InvalidTopologyError, UnsupportedError
from forestcoll.topology.model import Link, Node, NodeKind, Topology
from forestcoll.topology.numbers import Exact, exact

__all__ = ["cartesian_power", "cartesian_product", "line_graph"]


def line_graph(topology: Topology, times: int = 1, *, unit_gb_s: Exact | None = None) -> Topology:
    """Make every link a GPU, linked to all those that leave where it arrives.

    A link of m units of bandwidth stands for m parallel links and becomes m GPUs, so that a
    network of N GPUs and degree d becomes one of d N GPUs and degree d. All links of the result
    have the unit as their bandwidth, and the largest of all latencies.

    Parameters
    ----------
    topology : Topology
        Of GPUs only.
    times : int
        How often to do it.
    unit_gb_s : int, Fraction or str, optional
        Bandwidth of one link; by default the largest of which every link is a whole multiple.

    Raises
    ------
    UnsupportedError
        If there are switches.
    InvalidTopologyError
        If the number of times is no whole number from 1 up, the unit is not positive, a link is no
        whole multiple of it, or there is no link at all, or none left to make GPUs of.

    Examples
    --------
    >>> from forestcoll.topology import load_topology
    >>> line_graph(load_topology("complete_bipartite:degree=4")).num_compute
    32
    """
    if not _counts(times):
        raise InvalidTopologyError(f"a line graph is taken 1 time or more, not {times!r}")
    _check_gpus(topology)
    _check_links(topology)
    unit = _common_unit(topology) if unit_gb_s is None else exact(unit_gb_s, "unit_gb_s")
    if unit <= 0:
        raise InvalidTopologyError(
            f"unit_gb_s is {unit}; it must be positive, such that every link is a whole multiple"
        )
    latency = max(link.latency_us for link in topology.links)
    base = topology.name
    for _ in range(times):
        _check_links(topology)
        topology = _line_graph(topology, unit, latency)
    power = "" if times == 1 else f"^{times}"
    return Topology(f"L{power}({base})", topology.nodes, topology.links)


def cartesian_product(*factors: Topology) -> Topology:
    """Take a GPU for every choice of one of each network, linked where they differ in one place.

    There they are linked as in that network. A torus is the product of rings.

    Raises
    ------
    UnsupportedError
        If there are switches, or no networks at all.

    Examples
    --------
    >>> from forestcoll.topology import load_topology
    >>> ring = load_topology("ring:nodes=4")
    >>> cartesian_product(ring, ring).links == load_topology("torus:dims=4x4").links
    True
    """
    if not factors:
        raise UnsupportedError("a Cartesian product needs at least one network")
    for factor in factors:
        _check_gpus(factor)
    made = reduce(_product, factors)
    name = " [] ".join(f"({f.name})" if " " in f.name else f.name for f in factors)
    return Topology(name, made.nodes, made.links)


def cartesian_power(topology: Topology, exponent: int) -> Topology:
    """Take the product of so many copies of a network.

    Raises
    ------
    UnsupportedError
        If there are switches.
    InvalidTopologyError
        If the exponent is no whole number from 1 up.
    """
    if not _counts(exponent):
        raise InvalidTopologyError(
            f"a Cartesian power has a whole exponent from 1 up, not {exponent!r}"
        )
    made = cartesian_product(*[topology] * exponent)
    name = f"({topology.name})" if " " in topology.name else topology.name
    return Topology(f"{name}^[]{exponent}", made.nodes, made.links)


def _counts(number: object) -> bool:
    return isinstance(number, int) and not isinstance(number, bool) and number >= 1


def _check_links(topology: Topology) -> None:
    if not topology.links:
        raise InvalidTopologyError(
            f"{topology.name} has no link (left), so its line graph has no GPU; take it fewer times"
        )


def _check_gpus(topology: Topology) -> None:
    if topology.switches:
        name = topology.nodes[topology.switches[0]].name
        raise UnsupportedError(
            f"unsupported: {topology.name} has a switch or relay, {name}; line graphs and products "
            f"are of networks of GPUs only"
        )


def _common_unit(topology: Topology) -> Fraction:
    widths = [link.bandwidth_gb_s for link in topology.links]
    return Fraction(
        math.gcd(*(w.numerator for w in widths)), math.lcm(*(w.denominator for w in widths))
    )


def _line_graph(topology: Topology, unit: Fraction, latency: Fraction) -> Topology:
    """Positions of the result: the links in their order, parallel ones one after the other."""
    nodes: list[Node] = []
    ends: list[tuple[int, int]] = []
    leaving: dict[int, list[int]] = defaultdict(list)
    for link in topology.links:
        name = f"{topology.nodes[link.tail].name}>{topology.nodes[link.head].name}"
        parallel = link.bandwidth_gb_s / unit
        if parallel.denominator != 1:
            raise InvalidTopologyError(
                f"{topology.name}: link {name} has {link.bandwidth_gb_s} GB/s, which is no whole "
                f"multiple of the unit, {unit} GB/s"
            )
        for copy in range(int(parallel)):
            leaving[link.tail].append(len(nodes))
            ends.append((link.tail, link.head))
            label = f"{name}#{copy}" if parallel > 1 else name
            nodes.append(Node(_shorter(label, len(nodes)), NodeKind.COMPUTE, index=len(nodes)))
    links = [
        Link(first, second, unit, latency)
        for first, (_, head) in enumerate(ends)
        for second in leaving[head]
    ]
    return Topology(topology.name, tuple(nodes), tuple(links))


def _shorter(label: str, number: int) -> str:
    """Number the nodes from the second line graph on, whose names would double in length."""
    return label if label.count(">") == 1 else f"gpu{number}"


def _product(first: Topology, second: Topology) -> Topology:
    """Position i * |second| + j stands for i of the first network and j of the second."""
    size = len(second.nodes)
    nodes = tuple(
        Node(f"{a.name},{b.name}", NodeKind.COMPUTE, index=i * size + j)
        for i, a in enumerate(first.nodes)
        for j, b in enumerate(second.nodes)
    )
    links = [
        Link(i * size + e.tail, i * size + e.head, e.bandwidth_gb_s, e.latency_us)
        for i in range(len(first.nodes))
        for e in second.links
    ]
    links += [
        Link(e.tail * size + j, e.head * size + j, e.bandwidth_gb_s, e.latency_us)
        for e in first.links
        for j in range(size)
    ]
    return Topology("product", nodes, tuple(links))
