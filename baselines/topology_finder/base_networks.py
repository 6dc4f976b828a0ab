"""Base networks of a number of nodes and a degree, with what their schedules take.

Problem: which networks of table 9 have N nodes of degree d, and their T_L and T_B.
Input:   N and d; a table of times that were computed before.
Output:  candidates.
Cost:    N^2 d and many flows for each breadth-first broadcast that no table has.
Source:  Zhao et al. (NSDI 2025), tables 8 and 9, appendix F.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from baselines.direct_connect.bfb.alike import Alike
from baselines.direct_connect.bfb.breadth_first import broadcast_times
from baselines.direct_connect.bfb.broadcast_network import BroadcastNetwork
from baselines.direct_connect.bfb.optimal_search import SEARCHED
from baselines.topology_finder.candidate import Candidate
from baselines.topology_finder.distances import Distances
from baselines.topology_finder.one_way_circulants import stored_one_way
from forestcoll.topology.model import Topology
from forestcoll.topology.spec import load_topology

__all__ = ["Base", "Times", "bases", "evaluated", "measured"]


@dataclass(frozen=True, slots=True)
class Times:
    """T_L in hops and T_B in M / B, of the allgather and of the reduce-scatter."""

    hops: int
    time: Fraction
    reverse_hops: int
    reverse_time: Fraction


@dataclass(frozen=True, slots=True)
class Base:
    """A base network that has the right size, before its times are known.

    Parameters
    ----------
    name, spec : str
    nodes, degree : int
    bidirectional, reverse_symmetric, simple, self_loops : bool
    cycle : int
        As in :class:`~baselines.topology_finder.candidate.Candidate`.
    circulant : bool
        Whether node i plays the part of node 0 shifted by i.
    times : Times, optional
        If a closed form or a table of offsets gives them.
    printed : bool
        Whether it is in table 9 of the paper.
    """

    name: str
    spec: str
    nodes: int
    degree: int
    bidirectional: bool = True
    reverse_symmetric: bool = True
    simple: bool = True
    self_loops: bool = False
    cycle: int = 2
    circulant: bool = False
    times: Times | None = None
    printed: bool = True


def bases(nodes: int, degree: int) -> list[Base]:
    """Return the base networks of so many nodes and of this degree, in a fixed order."""
    found = [*_dense(nodes, degree), *_rings(nodes, degree), *_circulants(nodes, degree)]
    found += [*_words(nodes, degree), *_single(nodes, degree)]
    return [*found, *_one_way_circulants(nodes, degree)]


def _both(nodes: int, hops: int) -> Times:
    """Times of a network that is bandwidth-optimal, with this T_L, in both directions."""
    least = Fraction(nodes - 1, nodes)
    return Times(hops, least, hops, least)


def _dense(nodes: int, degree: int) -> Iterator[Base]:
    if nodes == degree + 1:
        yield Base(f"K_{nodes}", f"complete:nodes={nodes}", nodes, degree, times=_both(nodes, 1))
    if nodes == 2 * degree and degree > 1:
        spec = f"complete_bipartite:degree={degree}"
        yield Base(f"K_{{{degree},{degree}}}", spec, nodes, degree)
    if nodes == degree + 2 > 3:
        name, spec = f"DirectedCirculant({degree})", f"directed_circulant:degree={degree}"
        yield Base(name, spec, nodes, degree, bidirectional=False, cycle=0, circulant=True)


def _rings(nodes: int, degree: int) -> Iterator[Base]:
    if nodes < 3:
        return
    yield Base(
        f"UniRing({degree},{nodes})",
        f"uni_ring:degree={degree},nodes={nodes}",
        nodes,
        degree,
        bidirectional=False,
        simple=degree == 1,
        cycle=nodes,
        times=_both(nodes, nodes - 1),
    )
    if degree % 2 == 0:
        yield Base(
            f"BiRing({degree},{nodes})",
            f"bi_ring:degree={degree},nodes={nodes}",
            nodes,
            degree,
            simple=degree == 2,
            times=_both(nodes, nodes // 2),
        )


def _circulants(nodes: int, degree: int) -> Iterator[Base]:
    """Circulants of degree 4 and least diameter, with parallel links for higher degrees."""
    if degree % 4 or nodes < 7:
        return
    hops = (math.isqrt(2 * nodes - 2) + 1) // 2  # theorem 22
    if 2 * (hops + 1) >= nodes:
        return  # an offset of half the nodes would be one link of each, not two
    offsets = (hops, hops + 1) * (degree // 4)
    yield Base(
        f"C({nodes},{{{','.join(map(str, offsets))}}})",
        f"circulant:nodes={nodes},offsets={'+'.join(map(str, offsets))}",
        nodes,
        degree,
        simple=degree == 4,
        circulant=True,
    )


def _one_way_circulants(nodes: int, degree: int) -> Iterator[Base]:
    """Circulants with links one way, which table 9 of the paper does not have."""
    for one in stored_one_way(nodes, degree):
        yield Base(
            f"UniC({nodes},{{{','.join(map(str, one.offsets))}}})",
            f"circulant:nodes={nodes},offsets={'+'.join(map(str, one.offsets))},"
            f"bidirectional=false",
            nodes,
            degree,
            bidirectional=all(nodes - offset in one.offsets for offset in one.offsets),
            cycle=one.cycle,
            circulant=True,
            times=Times(one.hops, one.time, one.hops, one.time),
            printed=False,
        )


def _words(nodes: int, degree: int) -> Iterator[Base]:
    """Generalized Kautz and de Bruijn graphs."""
    if degree < 2:
        return
    if nodes > degree + 1:
        yield Base(
            f"Pi_{{{degree},{nodes}}}",
            f"generalized_kautz:degree={degree},nodes={nodes}",
            nodes,
            degree,
            bidirectional=False,
            reverse_symmetric=_is_kautz(nodes, degree),
            self_loops=nodes % (degree + 1) != 0,
            cycle=0,
        )
    length = round(math.log(nodes, degree))
    if length > 1 and degree**length == nodes:
        yield Base(
            f"DBJ({degree},{length})",
            f"de_bruijn:degree={degree},length={length}",
            nodes,
            degree,
            bidirectional=False,
            self_loops=True,
            cycle=0,
        )


def _is_kautz(nodes: int, degree: int) -> bool:
    """Whether the generalized Kautz graph is a Kautz graph, which its reverse is like."""
    while nodes % degree == 0:
        nodes //= degree
    return nodes == degree + 1


def _single(nodes: int, degree: int) -> Iterator[Base]:
    """Networks of one size."""
    for name, spec, size, width, symmetric in _SEARCHED:
        if (nodes, degree) == (size, width):
            steps = SEARCHED[spec][1]
            yield Base(
                name,
                spec,
                nodes,
                degree,
                bidirectional=False,
                reverse_symmetric=symmetric,
                cycle=0,
                times=_both(nodes, steps),
            )
    if degree == 4 and nodes in _DISTANCE_REGULAR:
        graph = _DISTANCE_REGULAR[nodes]
        yield Base(f"DistReg(4,{nodes})", f"distance_regular:graph={graph}", nodes, degree)
    if degree == 3 and nodes == 8:
        yield Base("TwistedHypercube(3)", "twisted_hypercube:dimension=3", nodes, degree)


_SEARCHED = (
    ("Diamond", "diamond", 8, 2, False),
    ("DBJMod(2,3)", "modified_de_bruijn:degree=2,length=3", 8, 2, True),
    ("DBJMod(2,4)", "modified_de_bruijn:degree=2,length=4", 16, 2, False),
    ("DBJMod(3,2)", "modified_de_bruijn:degree=3,length=2", 9, 3, False),
    ("DBJMod(4,2)", "modified_de_bruijn:degree=4,length=2", 16, 4, False),
)
"""Networks whose schedules were searched for: bandwidth-optimal, not breadth first."""

_DISTANCE_REGULAR = {
    6: "octahedron",
    9: "paley-9",
    10: "k55-minus-matching",
    14: "heawood-distance-3",
    15: "petersen-line-graph",
    16: "4-cube",
    21: "heawood-line-graph",
    26: "pg-2-3",
    32: "ag-2-4-minus-class",
    35: "odd-4",
    45: "tutte-8-cage-line-graph",
    70: "doubled-odd-4",
    80: "gq-3-3",
    189: "tutte-12-cage-line-graph",
    728: "gh-3-3",
}
"""Table 8 by number of nodes."""


def measured(base: Base) -> Times:
    """Compute the times of a breadth-first broadcast, in both directions.

    Raises
    ------
    DisconnectedError
        If some node cannot be reached.
    """
    topology = load_topology(base.spec)
    hops, time = _broadcast(topology, base)
    if base.bidirectional:
        return Times(hops, time, hops, time)
    return Times(hops, time, *_broadcast(topology.reversed(), base))


def _broadcast(topology: Topology, base: Base) -> tuple[int, Fraction]:
    network = BroadcastNetwork.of(topology)
    size = base.nodes
    alike = Alike.none(size)
    if base.circulant:
        shift = np.add.outer(np.arange(size, dtype=np.int32), np.arange(size, dtype=np.int32))
        alike = Alike(np.zeros(size, dtype=np.int32), (shift % size).astype(np.int32).ravel())
    times = broadcast_times(network, alike)
    return len(times.longest), times.time_s_per_gb * base.degree


def evaluated(base: Base, times: Times, distances: Distances | None = None) -> Candidate:
    """Turn a base network, its times and its sums of distances into a candidate."""
    searched = any(base.spec == spec for _, spec, *_ in _SEARCHED)
    made = Candidate(
        name=base.name,
        spec=base.spec,
        nodes=base.nodes,
        degree=base.degree,
        hops=times.hops,
        time=times.time,
        reverse_hops=times.reverse_hops,
        reverse_time=times.reverse_time,
        bidirectional=base.bidirectional,
        reverse_symmetric=base.reverse_symmetric,
        breadth_first=not searched,
        cycle=base.cycle,
        self_loops=base.self_loops,
        parallel=not base.simple,
        distances=distances,
    )
    simple = base.simple and not base.self_loops
    return replace(made, factor=simple and made.breadth_first and made.optimal)
