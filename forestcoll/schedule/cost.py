"""What a schedule costs in theory: the one cost model for all methods.

Problem: T(M) = M / (W k) * max over links e of load(e) / b(e), W the sum of the weights.
Input:   a forest; its claimed congestion is not used.
Output:  the exact time per gigabyte, the algorithmic bandwidth, the load of every link.
Cost:    one pass over the hops of the physical paths.
Source:  ForestColl section 2 (pure throughput: latency and chunking are outside the model).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from forestcoll.errors import VerificationError
from forestcoll.schedule.forest import Forest, Routes

__all__ = ["Cost", "cost"]

_BYTES_PER_GB = 10**9


@dataclass(frozen=True, slots=True)
class Cost:
    """The theoretical time of a forest.

    Parameters
    ----------
    time_s_per_gb : Fraction
        Seconds for one gigabyte of data (in all, over all GPUs).
    busiest_link : tuple of str
        Tail and head of the (first) link that takes that long.
    loads : tuple of int
        Trees over each link of the topology, in its order.
    """

    time_s_per_gb: Fraction
    busiest_link: tuple[str, str]
    loads: tuple[int, ...] = field(repr=False)

    @property
    def algbw_gb_s(self) -> Fraction:
        """Algorithmic bandwidth in GB/s: data size (over all GPUs) by time."""
        return 1 / self.time_s_per_gb

    def time_s(self, size_bytes: int) -> Fraction:
        """Seconds for ``size_bytes`` of data in all, over all GPUs."""
        return self.time_s_per_gb * size_bytes / _BYTES_PER_GB


def cost(forest: Forest) -> Cost:
    """Compute the theoretical time of a forest from the loads of its physical paths.

    Parameters
    ----------
    forest : Forest
        Assumed to do what it claims; :func:`forestcoll.schedule.verify` proves that. The time of
        an allreduce is that of its phases, one after the other.

    Raises
    ------
    VerificationError
        If the paths use no link at all, or one that the topology does not have.
    """
    topology = forest.topology
    trees_over = _trees_over(forest.routes, len(topology.nodes))
    unknown = trees_over.keys() - topology.link_between.keys()
    if unknown or not trees_over:
        fault = "use a link that is not in the topology" if unknown else "are empty"
        raise VerificationError(f"the paths of this forest {fault}; verify it before costing it")
    loads = tuple(trees_over.get((link.tail, link.head), 0) for link in topology.links)
    slowness = [
        load / link.bandwidth_gb_s for load, link in zip(loads, topology.links, strict=True)
    ]
    congestion = max(slowness)
    busiest = topology.links[slowness.index(congestion)]
    return Cost(
        time_s_per_gb=congestion / (sum(forest.weights) * forest.k),
        busiest_link=(topology.nodes[busiest.tail].name, topology.nodes[busiest.head].name),
        loads=loads,
    )


def _trees_over(routes: Routes, nodes: int) -> Mapping[tuple[int, int], int]:
    """Add up the multiplicities of the paths over every hop (tail, head)."""
    lengths = np.diff(routes.first_hop)
    path = np.repeat(np.arange(len(lengths)), lengths)
    inside = path[:-1] == path[1:]
    hop = routes.hop.astype(np.int64)
    links, which = np.unique((hop[:-1] * nodes + hop[1:])[inside], return_inverse=True)
    amounts = routes.multiplicity.astype(object)[path[:-1][inside]]
    loads = np.zeros(len(links), dtype=object)  # Python ints: nothing to overflow
    np.add.at(loads, which, amounts)
    return {divmod(link, nodes): load for link, load in zip(links.tolist(), loads, strict=True)}
