"""Eccentricities: in GPU hops and in links."""

import networkx as nx
from hypothesis import given, settings

from forestcoll import Topology, load_topology
from forestcoll.bounded_depth.hop_distances import eccentricities
from tests.strategies import topologies


def by_networkx(topology: Topology, root: int) -> int:
    """Links into GPUs count 1, links into switches nothing."""
    graph = nx.DiGraph()
    for link in topology.links:
        graph.add_edge(link.tail, link.head, hops=0 if topology.nodes[link.head].is_switch else 1)
    lengths = nx.single_source_dijkstra_path_length(graph, topology.compute[root], weight="hops")
    return max(lengths[v] for v in topology.compute)


def test_through_a_switch_it_is_one_hop_and_two_links() -> None:
    box = load_topology("dgx_a100:boxes=1")
    assert eccentricities(box, [0, 3]) == [1, 1]
    assert eccentricities(box, [0], through_gpus=True) == [2]


def test_round_a_ring_it_is_half_way() -> None:
    assert eccentricities(load_topology("ring:nodes=7"), range(7)) == [3] * 7


@settings(deadline=None)
@given(topologies())
def test_they_are_shortest_paths_over_switches(topology: Topology) -> None:
    ranks = range(topology.num_compute)
    assert eccentricities(topology, ranks) == [by_networkx(topology, root) for root in ranks]
