"""The model: edits and descriptions as methods, and the way to networkx and back."""

from fractions import Fraction

import networkx as nx
import pytest

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology import Topology, load_topology
from forestcoll.topology.changes import edits
from forestcoll.topology.graph import NetworkGraph


@pytest.mark.parametrize("spec", ["dgx_h100:boxes=2,nics=nodes", "mi250:boxes=2", "ring:nodes=3"])
def test_networkx_round_trip(spec):
    """Nodes keep their order and attributes, links their exact numbers."""
    topology = load_topology(spec)
    assert Topology.from_networkx(topology.to_networkx()) == topology


def test_an_undirected_networkx_edge_is_a_link_each_way():
    graph = nx.Graph(name="pair")
    graph.add_edge("a", "b", bandwidth_gb_s="12.5")
    topology = Topology.from_networkx(graph)
    assert [(e.tail, e.head, e.bandwidth_gb_s) for e in topology.links] == [
        (0, 1, Fraction(25, 2)),
        (1, 0, Fraction(25, 2)),
    ]


def test_an_edge_without_bandwidth_is_refused():
    graph = nx.DiGraph(name="pair")
    graph.add_edge("a", "b")
    with pytest.raises(InvalidTopologyError, match="edge a -> b has no bandwidth_gb_s"):
        Topology.from_networkx(graph)


def test_methods_are_the_edits_and_return_topologies():
    """An edit, a reversed and a relabelled network have the methods, too."""
    ring = load_topology("ring:nodes=4")
    made = [
        (ring.without("gpu0"), edits.without(ring, ["gpu0"])),
        (ring.scaled("*", 2), edits.scaled(ring, "*", 2)),
        (ring.with_links({"gpu0 - gpu2": 1}), edits.with_links(ring, {"gpu0 - gpu2": 1})),
        (ring.with_shared("w", "gpu0", 1), edits.with_shared(ring, "w", "gpu0", 1)),
        (ring.reversed(), ring),
        (ring.relabelled(range(4)), ring),
    ]
    for by_method, expected in made:
        assert by_method == expected
        assert type(by_method) is Topology


def test_an_edit_of_a_graph_is_a_graph():
    """What is below the model does not know it."""
    ring = load_topology("ring:nodes=4")
    graph = NetworkGraph(ring.name, ring.nodes, ring.links)
    assert type(edits.without(graph, ["gpu0"])) is NetworkGraph
    assert graph != ring


def test_a_topology_is_shown_in_a_line_and_in_a_table():
    ring = load_topology("ring:nodes=4")
    assert repr(ring) == "<Topology ring:nodes=4: 4 GPUs, 0 switches, 8 links>"
    assert ring.in_a_table()["GPUs"] == 4
    assert "8 x 1 GB/s" in ring._repr_html_()
