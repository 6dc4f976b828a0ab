"""Narrowest cuts of a small network, by the number of GPUs inside (enumerates every cut).

Problem: for each number of GPUs, which node set has the least bandwidth out of it?
Input:   a topology of at most MOST_NODES nodes.
Output:  a set for each number of GPUs, exactly.
Cost:    2^nodes times the links, in arrays: a quarter of a second at most.
Source:  none. Links out of a set enter its complement, so both directions are covered.
"""

from __future__ import annotations

import numpy as np

from forestcoll.topology.model import Topology

__all__ = ["MOST_NODES", "narrowest_sets"]

MOST_NODES = 18


def narrowest_sets(topology: Topology) -> list[tuple[int, ...]]:
    """Return the positions of the sets; none if the network has too many nodes.

    Examples
    --------
    Every consecutive set of a ring cuts two cables; the first of equal sets is reported.

    >>> from forestcoll.topology import load_topology
    >>> narrowest_sets(load_topology("ring:nodes=4"))
    [(0,), (0, 1), (0, 1, 2)]
    """
    count = len(topology.nodes)
    if count > MOST_NODES:
        return []
    sets = np.arange(1 << count, dtype=np.int64)
    out, links = np.zeros(len(sets), dtype=np.int64), topology.integer_capacities
    for tail, head, wide in zip(links.tail, links.head, links.capacity, strict=True):
        out += wide * ((sets >> tail & 1) & ~(sets >> head) & 1)
    gpus = np.zeros(len(sets), dtype=np.int64)
    for node in topology.compute:
        gpus += sets >> node & 1
    found = []
    for size in range(1, topology.num_compute):
        these = np.flatnonzero(gpus == size)
        best = int(these[np.argmin(out[these])])
        found.append(tuple(node for node in range(count) if best >> node & 1))
    return found
