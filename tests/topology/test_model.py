"""The model: names, and the way to networkx and back."""

from fractions import Fraction

import networkx as nx
import pytest

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology import Node, NodeKind, Topology, load_topology
from forestcoll.topology.families.machines import mi250


@pytest.mark.parametrize("name", ["", " a", "a\nb", "a\x00"])
def test_a_name_that_would_break_a_line_is_refused(name):
    with pytest.raises(InvalidTopologyError, match=r"node 0 (is named|has an empty name)"):
        Topology("t", (Node(name, NodeKind.COMPUTE),), ())


def test_a_compute_node_cannot_multicast():
    with pytest.raises(InvalidTopologyError, match="only a switch"):
        Topology("t", (Node("a", NodeKind.COMPUTE, multicast=True),), ())


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


def test_relabelling_and_scaling_keep_the_network():
    """Reversing the order twice, or doubling and halving, gives the topology back."""
    topology = mi250(2)
    order = range(len(topology.nodes) - 1, -1, -1)
    assert topology.relabelled(order).relabelled(order) == topology
    assert topology.scaled("*", 2).scaled("*", "1/2") == topology


@pytest.mark.parametrize("spec", ["mi250:boxes=2", "dgx_a100:boxes=2"])
def test_capacities_turn_round_as_the_network_does(spec):
    """A one-way link is left out, so that the two directions differ; the order is the network's."""
    topology = load_topology(spec).without("b0.gpu0 -> b0.*", "b1.gpu2 -> ib")
    turned, due = topology.integer_capacities.reversed(), topology.reversed().integer_capacities
    for name in ("tail", "head", "capacity"):
        assert getattr(turned, name).tolist() == getattr(due, name).tolist()
    assert turned.denominator == due.denominator
    assert turned.tail.tolist() != topology.integer_capacities.tail.tolist()


def test_equal_networks_have_one_hash():
    """A network and its copy by another way, links in another order, are one key."""
    topology = mi250(2)
    again = Topology(topology.name, topology.nodes, topology.links[::-1])
    assert again == topology
    assert len({topology, again}) == 1
    assert len({topology, topology.scaled("*", 2)}) == 2
