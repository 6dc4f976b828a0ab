"""Broadcasts by hand, on networks with switches that multicast."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from forestcoll.schedule import Forest, cost
from forestcoll.topology import Topology
from tests.schedule.made import hand

Edges = Sequence[tuple[int, int]]


def broadcast(net: Topology, edges: Edges, paths: Mapping[str, int], m: int = 1) -> Forest:
    """M equal trees from rank 0, with nothing claimed but the congestion they have."""
    forest = hand.forest(net, [(0, m, edges)], paths, k=m, congestion=1)
    weights = (1,) + (0,) * (net.num_compute - 1)
    forest = replace(forest, weights=weights)
    return replace(forest, congestion=cost(forest).time_s_per_gb * m)
