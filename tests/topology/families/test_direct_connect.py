"""Networks of two sides and the diamond, counted by hand or against networkx."""

from __future__ import annotations

from fractions import Fraction

import networkx as nx
import pytest

from forestcoll.topology import load_topology, validate
from forestcoll.topology.families.direct_connect import complete_bipartite, diamond
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
