"""Symmetric nodes for the native code: one node is solved for all of its orbit.

Problem: on a graph with symmetric nodes, balance the links of only one node an orbit.
Output:  for each node its representative, and a symmetry that maps the representative to it.
Cost:    N x N node numbers; the search is that of :mod:`forestcoll.topology.symmetry.automorphism`.
Source:  Zhao et al. (NSDI 2025), appendix F: "one representative" of vertex-transitive graphs. A
         symmetry keeps distances, so it takes the balanced loads of one node to those of another.

The search for symmetries ignores latencies. So if latencies count, every node represents itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from baselines.direct_connect.bfb.broadcast_network import BroadcastNetwork

__all__ = ["Alike"]


@dataclass(frozen=True)
class Alike:
    """Orbits of nodes.

    Parameters
    ----------
    representative : int32 array, one entry a node
    image : int32 array, N x N flat, or empty
        Row u takes the solution of u's representative to u. Empty if every node is its own.
    """

    representative: npt.NDArray[np.int32] = field(repr=False)
    image: npt.NDArray[np.int32] = field(repr=False)

    @classmethod
    def none(cls, nodes: int) -> Alike:
        """Every node by itself."""
        return cls(np.arange(nodes, dtype=np.int32), np.zeros(0, dtype=np.int32))

    @classmethod
    def found(cls, network: BroadcastNetwork, seconds: float = math.inf) -> Alike:
        """Search for symmetries within a time limit."""
        topology = network.topology
        nodes = topology.num_compute
        if network.delay.any():
            return cls.none(nodes)
        from forestcoll.topology.symmetry.automorphism import (
            find_orbits,
        )  # loads what few need
        from forestcoll.topology.symmetry.stabilizer import bringing

        orbits = find_orbits(topology, seconds, of_links=False)
        first = np.full(int(orbits.node.max()) + 1, -1, dtype=np.int32)
        image = np.empty((nodes, nodes), dtype=np.int32)
        for node in range(nodes):
            if first[orbits.node[node]] >= 0:
                continue
            first[orbits.node[node]] = node
            bringing(orbits.generators, node, nodes, image)
        return cls(first[orbits.node], image.ravel())
