"""Larger direct-connect networks from smaller ones: line graphs, products, degree expansions.

The operations need networks of GPUs only; :mod:`forestcoll.topology.expanded` names them in
specifications. Each documents how its GPUs correspond to those of the smaller networks, so that
schedules carry over.

Source: Efficient Direct-Connect Topologies for Collective Communications (NSDI 2025), section 5,
definitions 3, 12 and 13, and appendix A.6.
"""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction
from functools import reduce

from forestcoll.errors import InvalidTopologyError, UnsupportedError
from forestcoll.topology.model import Link, Node, NodeKind, Topology
from forestcoll.topology.numbers import Exact, exact

__all__ = [
    "MOST_GPUS", "MOST_LINKS", "both_ways", "cartesian_power", "cartesian_product", "common_unit",
    "degree_expansion", "line_graph",
]  # fmt: skip

MOST_GPUS, MOST_LINKS = 1_000_000, 5_000_000
"""Size limits of a result; a small mistake in a parameter easily exceeds them."""


def line_graph(topology: Topology, times: int = 1, *, unit_gb_s: Exact | None = None) -> Topology:
    """Make the line graph: every link becomes a GPU, linked to the links that leave its head.

    GPU i of the result is link i of ``topology.links``, which go by tail and then head, where all
    have one unit of bandwidth; else the parallel links come one after the other, in that order.

    A link of m units of bandwidth stands for m parallel links and becomes m GPUs, so that a
    network of N GPUs and degree d becomes one of d N GPUs and degree d. All links of the result
    have the unit as their bandwidth, and the largest of all latencies.

    Parameters
    ----------
    topology : Topology
        A network of GPUs only.
    times : int
        The number of repetitions.
    unit_gb_s : int, Fraction or str, optional
        Bandwidth of one link; by default the largest of which every link is a whole multiple.

    Raises
    ------
    UnsupportedError
        If there are switches or shared capacities.
    InvalidTopologyError
        If the number of times is not a whole number from 1 up, the unit is not positive, a link is
        no whole multiple of it, or there is no link at all, or none left to make GPUs of.

    Examples
    --------
    >>> from forestcoll.topology import load_topology
    >>> line_graph(load_topology("complete_bipartite:degree=4")).num_compute
    32
    >>> base = load_topology("diamond")
    >>> base.links[5].tail, base.links[5].head
    (2, 7)
    >>> line_graph(base).nodes[5].name
    'gpu2>gpu7'
    """
    if not _counts(times):
        raise InvalidTopologyError(f"a line graph is taken 1 time or more, not {times!r}")
    _check_gpus(topology)
    _check_links(topology)
    unit = common_unit(topology) if unit_gb_s is None else exact(unit_gb_s, "unit_gb_s")
    if unit <= 0:
        raise InvalidTopologyError(
            f"unit_gb_s is {unit}; it must be positive, such that every link is a whole multiple"
        )
    latency = max(link.latency_us for link in topology.links)
    _check_result(*_walks(topology, unit, times), topology.name)
    base = topology.name
    for _ in range(times):
        _check_links(topology)
        topology = _line_graph(topology, unit, latency)
    power = "" if times == 1 else f"^{times}"
    return Topology(f"L{power}({base})", topology.nodes, topology.links)


def cartesian_product(*factors: Topology) -> Topology:
    """Make the Cartesian product: GPUs are tuples, linked if they differ in one coordinate.

    There they are linked as in that coordinate's network. A torus is the product of rings.

    GPU i of the first and j of a second network of n GPUs are GPU i n + j of the result, so that
    the last network counts fastest; the name has the names of all.

    Raises
    ------
    UnsupportedError
        If there are switches or shared capacities, or no networks at all.

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
    gpus = math.prod(len(factor.nodes) for factor in factors)
    links = sum(gpus // len(factor.nodes) * len(factor.links) for factor in factors)
    _check_result(gpus, links, factors[0].name)
    made = reduce(_product, factors)
    name = " [] ".join(map(_bracketed, factors))
    return Topology(name, made.nodes, made.links)


def cartesian_power(topology: Topology, exponent: int) -> Topology:
    """Make the Cartesian product of ``exponent`` copies of a network.

    GPU i of the result is i written with so many digits, to the base of the number of GPUs.

    Raises
    ------
    UnsupportedError
        If there are switches or shared capacities.
    InvalidTopologyError
        If the exponent is not a whole number from 1 up.
    """
    if not _counts(exponent):
        raise InvalidTopologyError(
            f"a Cartesian power has a whole exponent from 1 up, not {exponent!r}"
        )
    made = cartesian_product(*[topology] * exponent)
    return Topology(f"{_bracketed(topology)}^[]{exponent}", made.nodes, made.links)


def degree_expansion(topology: Topology, times: int) -> Topology:
    """Make ``times`` copies of every GPU, each linked to all copies of its neighbours.

    A network of N GPUs and degree d becomes one of ``times`` N GPUs and degree ``times`` d, whose
    links have the bandwidth of those that they are copies of. Copies of one GPU are not linked.

    Copy i of GPU v is GPU ``times * v + i`` of the result.

    Raises
    ------
    UnsupportedError
        If there are switches or shared capacities.
    InvalidTopologyError
        If the number of times is not a whole number from 1 up.

    Examples
    --------
    >>> from forestcoll.topology import load_topology
    >>> expanded = degree_expansion(load_topology("complete:nodes=3"), 2)
    >>> [expanded.nodes[link.head].name for link in expanded.links if link.tail == 0]
    ['gpu1#0', 'gpu1#1', 'gpu2#0', 'gpu2#1']
    """
    if not _counts(times):
        raise InvalidTopologyError(f"a network is expanded 1 time or more, not {times!r}")
    _check_gpus(topology)
    _check_result(topology.num_compute * times, len(topology.links) * times**2, topology.name)
    copies = [(v, node, i) for v, node in enumerate(topology.nodes) for i in range(times)]
    nodes = tuple(
        Node(f"{node.name}#{i}", NodeKind.COMPUTE, index=times * v + i) for v, node, i in copies
    )
    links = tuple(
        Link(times * e.tail + i, times * e.head + j, e.bandwidth_gb_s, e.latency_us)
        for e in topology.links
        for i in range(times)
        for j in range(times)
    )
    return Topology(f"{_bracketed(topology)}*{times}", nodes, links)


def both_ways(topology: Topology) -> Topology:
    """Add the reverse of every link, with the same bandwidth.

    A network of degree d becomes one of degree 2 d, in which every GPU has its place and name.
    Links that already had a reverse get the sum of both bandwidths.

    If the network is isomorphic to its reverse, schedules of both, each for half of the data, make
    a schedule of the result (appendix A.6).

    Raises
    ------
    UnsupportedError
        If there are switches or shared capacities.

    Examples
    --------
    >>> from forestcoll.topology import load_topology
    >>> one_way = load_topology("ring:nodes=5,bidirectional=false")
    >>> both_ways(one_way).links == load_topology("ring:nodes=5").links
    True
    """
    _check_gpus(topology)
    links = topology.links + topology.reversed().links
    return Topology(f"both_ways({topology.name})", topology.nodes, links)


def _check_result(gpus: int, links: int, of: str) -> None:
    """Refuse a result that would be too large, before it is made."""
    if gpus > MOST_GPUS or links > MOST_LINKS:
        raise InvalidTopologyError(
            f"a network made of {of} would have {gpus} GPUs and {links} links; at most {MOST_GPUS} "
            f"and {MOST_LINKS} are allowed"
        )


def _bracketed(topology: Topology) -> str:
    return f"({topology.name})" if " " in topology.name else topology.name


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
            f"unsupported: {topology.name} has a switch or relay, {name}; line graphs, products "
            f"and expansions are of networks of GPUs only"
        )
    if topology.shared:
        raise UnsupportedError(
            f"unsupported: {topology.name} has a shared capacity, {topology.shared[0].name!r}; "
            f"line graphs, products and expansions are of networks without any"
        )


def common_unit(topology: Topology) -> Fraction:
    """Return the largest bandwidth of which every link of a network is a whole multiple."""
    widths = [link.bandwidth_gb_s for link in topology.links]
    return Fraction(
        math.gcd(*(w.numerator for w in widths)), math.lcm(*(w.denominator for w in widths))
    )


def _walks(topology: Topology, unit: Fraction, length: int) -> tuple[int, int]:
    """Count the walks of ``length`` links and of one more: GPUs and links of the line graph."""
    units = [(link.tail, link.head, int(link.bandwidth_gb_s / unit)) for link in topology.links]
    from_here, counts = [1] * len(topology.nodes), []
    for _ in range(length + 1):
        longer = [0] * len(from_here)
        for tail, head, count in units:
            longer[tail] += count * from_here[head]
        from_here = longer
        counts.append(sum(from_here))
    return counts[-2], counts[-1]


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
    """Number the nodes from the second line graph on, as their names would double in length."""
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
