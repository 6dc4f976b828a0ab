"""Pipelined throughput model: all pipeline chunks in flight, all phases sharing the links.

Problem: T(M) = M max over links e of (the sum over the phases of load(e) / (W k)) / b(e), W the sum
         of the weights of a phase; the same for shared capacities, which all their links load.
Input:   schedules of trees; or loads of links as parts of the data.
Output:  the exact time per gigabyte, the first link that takes this long, the loads.
Cost:    one pass over the hops of the physical paths.
Source:  ForestColl section 2 (pure throughput: latency and the number of pipeline chunks are
         outside the model); section 5.7 and its appendix on allreduce, where the capacities of both
         phases add up to the bandwidth.

The data is cut into so many pipeline chunks that the first and the last do not count. While one is
gathered, the next is still being summed up.
:mod:`forestcoll.schedule.cost_model.measures` offers this model and two others to users;
``verify`` computes its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from forestcoll.schedule.exact_sums import exact
from forestcoll.schedule.factored import FactoredForest
from forestcoll.schedule.forest import Forest, Routes
from forestcoll.schedule.multicast import MulticastForest
from forestcoll.topology.model import Topology

__all__ = ["AnyForest", "Flow", "flow_of_loads", "link_loads", "pipelined", "slowest_of_loads"]

AnyForest = Forest | FactoredForest | MulticastForest
"""A schedule of one phase."""


@dataclass(frozen=True, slots=True)
class Flow:
    """Link loads of a pipelined schedule, and its time.

    Parameters
    ----------
    time_s_per_gb : Fraction
        Seconds for one gigabyte of data; 0 if nothing moves.
    busiest_link : tuple of str, optional
        Tail and head of the (first) link that is busy for longest, or the name of a shared
        capacity; None if nothing moves.
    loads : tuple of int
        The load of each link of the topology, in its order: ``loads[i] / whole`` of the data.
    """

    time_s_per_gb: Fraction
    busiest_link: tuple[str, ...] | None
    loads: tuple[int, ...] = field(repr=False)
    whole: int = field(repr=False)


def pipelined(phases: Sequence[AnyForest]) -> Flow:
    """Compute the pipelined time of all phases at once; a link's loads in each are added.

    Raises VerificationError if a path uses a link that the topology does not have.
    """
    topology = phases[0].topology
    whole = math.lcm(*(sum(phase.weights) * phase.k for phase in phases))
    loads = [0] * len(topology.links)
    for phase in phases:
        times = whole // (sum(phase.weights) * phase.k)
        own = phase.loads() if isinstance(phase, MulticastForest) else link_loads(phase)
        loads = [load + times * more for load, more in zip(loads, own, strict=True)]
    return flow_of_loads(topology, loads, whole)


def link_loads(routed: Forest | FactoredForest) -> list[int]:
    """Count the trees over each link of the topology, in its order."""
    return loads_of_routes(routed.topology, routed.routes)


def loads_of_routes(topology: Topology, routes: Routes) -> list[int]:
    """Add up the multiplicities of the paths over each link of the topology.

    Raises VerificationError if a path uses a link that the topology does not have.
    """
    links = routes.links_on(topology)
    amounts = exact(routes.multiplicity, len(links))
    loads = np.zeros(len(topology.links), dtype=amounts.dtype)
    np.add.at(loads, links, np.repeat(amounts, np.diff(routes.first_hop) - 1))
    return list(loads.tolist())


def flow_of_loads(topology: Topology, loads: Sequence[int], whole: int) -> Flow:
    """Return the pipelined time of links with loads of ``loads[i] / whole`` of the data."""
    congestion, busiest = slowest_of_loads(topology, loads)
    return Flow(congestion / whole, busiest, tuple(loads), whole)


def slowest_of_loads(
    topology: Topology, loads: Sequence[int | Fraction]
) -> tuple[Fraction, tuple[str, ...] | None]:
    """Return the largest load / bandwidth and the first link or shared capacity with it.

    A link is named by its tail and head, a shared capacity by its name; None if nothing moves. The
    load of a shared capacity is that of all its links together.
    """
    congestion, busiest = Fraction(0), None
    most: dict[int, int | Fraction] = {}  # one for each bandwidth: few fractions are compared
    widths = topology.whole_bandwidths[1]
    for load, width, link in zip(loads, widths, topology.links, strict=True):
        if load <= most.get(width, 0):
            continue
        most[width] = load
        if load / link.bandwidth_gb_s > congestion:
            congestion, busiest = load / link.bandwidth_gb_s, link
    of_groups = list(_group_slowness(topology, loads))
    if max(of_groups, default=Fraction(0)) > congestion:
        congestion = max(of_groups)
        return congestion, (topology.shared[of_groups.index(congestion)].name,)
    if busiest is None:
        return Fraction(0), None
    return congestion, (topology.nodes[busiest.tail].name, topology.nodes[busiest.head].name)


def _group_slowness(topology: Topology, loads: Sequence[int | Fraction]) -> Iterator[Fraction]:
    for members, limit in topology.shared_places:
        yield sum((loads[i] for i in members), Fraction(0)) / limit
