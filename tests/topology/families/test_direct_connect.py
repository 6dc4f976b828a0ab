"""Networks of two sides and the diamond, counted by hand or against networkx."""

from fractions import Fraction

import networkx as nx
import pytest

from baselines.building.binary_trees import double_binary_tree as both_trees
from forestcoll.topology import load_topology, validate
from forestcoll.topology.families.direct_connect import (
    above_in_binary_tree,
    complete_bipartite,
    diamond,
)
from tests.topology.families.graphs import diameter


def test_complete_bipartite_is_the_graph_of_that_name():
    """K_{3,3}: 18 links; a GPU has 3 of 12.5 GB/s."""
    topology = complete_bipartite(3, "12.5")
    assert nx.is_isomorphic(
        topology.to_networkx().to_undirected(), nx.complete_bipartite_graph(3, 3)
    )
    assert len(topology.links) == 18
    assert set(topology.egress_gb_s) == {Fraction(75, 2)}


def test_diamond_is_regular_of_diameter_three():
    topology = diamond()
    assert set(topology.egress_gb_s) == set(topology.ingress_gb_s) == {Fraction(2)}
    assert (len(topology.links), diameter(topology)) == (16, 3)


@pytest.mark.parametrize(
    "spec",
    [
        "complete_bipartite:degree=4",
        "diamond",
    ],
)
def test_every_network_allows_an_allgather(spec):
    validate(load_topology(spec))


def test_two_trees_of_four_gpus_by_hand() -> None:
    """0 <- 2 <- {1, 3}, and mirrored 3 <- 1 <- {2, 0}: the link 1 - 2 is in both trees."""
    network = load_topology("double_binary_tree:nodes=4,bandwidth=5")
    found = {
        (link.tail, link.head): link.bandwidth_gb_s
        for link in network.links
        if link.tail < link.head
    }
    assert found == {(0, 2): 5, (1, 2): 10, (2, 3): 5, (1, 3): 5, (0, 1): 5}


def test_two_trees_of_five_gpus_by_hand() -> None:
    """0 <- 4 <- 2 <- {1, 3}; shifted by one: 1 <- 0 <- 3 <- {2, 4}."""
    assert above_in_binary_tree(5) == [-1, 2, 4, 2, 0]
    network = load_topology("double_binary_tree:nodes=5")
    found = {(link.tail, link.head) for link in network.links if link.tail < link.head}
    assert found == {(0, 4), (2, 4), (1, 2), (2, 3), (0, 1), (0, 3), (3, 4)}


@pytest.mark.parametrize("nodes", [2, 3, 8, 11, 12, 64, 1024])
def test_links_of_two_trees_are_those_of_the_schedule(nodes: int) -> None:
    """Each tree has N - 1 links; no GPU has more than four ports."""
    network = load_topology(f"double_binary_tree:nodes={nodes}")
    wanted: dict[tuple[int, int], int] = {}
    for tree in both_trees(nodes):
        for low, high in enumerate(tree.above):
            for pair in ((low, high), (high, low)) if high >= 0 else ():
                wanted[pair] = wanted.get(pair, 0) + 1
    assert {(link.tail, link.head): link.bandwidth_gb_s for link in network.links} == wanted
    ports = [Fraction(0)] * nodes
    for link in network.links:
        ports[link.tail] += link.bandwidth_gb_s
    assert max(ports) <= 4
    assert sum(ports) == 4 * (nodes - 1)
